// The race without its picture: run the loop bodies for any n, say what is true at a beat, pose the question.
// In: trace {function, buffers: [{name, role, dtype, values?, one?}], lanes: [{id, passes: [{name, body}]}]};
// a statement of a body is {op, reg, dtype, args?, buf?, value?}, op one of "load", "store", "const", or a primitive.
// Out: plain data. Invariant: everything here is pure; one loop statement means the same in a count, a value and a line.

import { clamp } from "./dom.js";
import { evaluate, round } from "./ops.js";
import { beatOf } from "./player.js";

/** Memory before the first pass: inputs hold the example values (repeated to n), the rest is empty. */
function memory(trace, n) {
  const filled = (buffer) =>
    Array.from({ length: buffer.one ? 1 : n }, (_, i) =>
      round(buffer.dtype, Number(buffer.values[i % buffer.values.length])),
    );
  return Object.fromEntries(trace.buffers.map((b) => [b.name, b.role === "input" ? filled(b) : []]));
}

/** Run a lane over n elements: one step per array access, with the registers computed since the last one. */
export function run(trace, lane, n) {
  const mem = memory(trace, n);
  const single = new Set(trace.buffers.filter((b) => b.one).map((b) => b.name));
  const steps = [];
  lane.passes.forEach((pass, k) => {
    for (let i = 0; i < n; i++) {
      const regs = {};
      let fresh = [];
      pass.body.forEach((line, at) => {
        if (line.op === "load" || line.op === "store") {
          const cell = single.has(line.buf) ? 0 : i;
          const kind = line.op === "load" ? "read" : "write";
          if (kind === "read") regs[line.reg] = mem[line.buf][cell];
          else mem[line.buf][cell] = regs[line.reg];
          const value = regs[line.reg];
          steps.push({ pass: k, i, cell, at, kind, buf: line.buf, reg: line.reg, value, fresh, regs: { ...regs } });
          fresh = [];
        } else {
          regs[line.reg] = compute(line, regs);
          fresh.push({ reg: line.reg, at });
        }
      });
    }
  });
  return { steps, memory: mem };
}

function compute(line, regs) {
  if (line.op === "const") return round(line.dtype, Number(line.value));
  return evaluate(line.op, line.args.map((a) => regs[a]), line.dtype);
}

/** What is true at p: accesses so far, marks and values of cells, the access in flight. Pure. */
export function stateAt(steps, p) {
  const count = clamp(beatOf(p), 0, steps.length);
  const marks = {};
  const cells = {};
  for (const step of steps.slice(0, count)) {
    const key = `${step.buf}:${step.cell}`;
    (marks[key] ??= []).push(step.kind);
    if (step.kind === "write") cells[key] = step.value;
  }
  const done = count === steps.length;
  const f = done ? 0 : Math.max(0, p - count);
  return { count, marks, cells, now: steps[count] ?? null, last: steps[count - 1] ?? null, f, done };
}

/** Inside a beat: a read flies first; a write computes what it needs (until COMPUTED), then flies. */
export const COMPUTED = 0.38;

/** The registers that hold a value: those of the current element's body, as far as it has run. */
export function registers({ now, last, f }) {
  const sameBody = last && now && last.pass === now.pass && last.i === now.i;
  const regs = sameBody ? { ...last.regs } : {};
  if (now && f > 0) {
    const span = now.kind === "read" ? 0.3 : COMPUTED;
    now.fresh.forEach((r, j) => {
      if (f > (span * (j + 1)) / now.fresh.length) regs[r.reg] = now.regs[r.reg];
    });
  }
  if (now?.kind === "read" && f > 0.8) regs[now.reg] = now.value;
  return regs;
}

/** The statement that runs at a state: index into the pass's body, or null when nothing moves. */
export function runningAt({ now, f }) {
  if (!now || f <= 0) return null;
  const { fresh } = now;
  const span = now.kind === "read" ? 0.3 : COMPUTED;
  if (fresh.length && f < span) return fresh[Math.floor((f / span) * fresh.length)].at;
  return now.at;
}

/** Which of the longer lane's accesses the other lane does not make: those are what fusion saved. */
export function savedSteps(steps, other) {
  const left = {};
  const key = (step) => `${step.kind}:${step.buf}:${step.cell}`;
  for (const step of other) left[key(step)] = (left[key(step)] ?? 0) + 1;
  return steps.map((step) => (left[key(step)] ?? 0) <= 0 || (left[key(step)]--, false));
}

/** Do both lanes leave the same outputs? Compared bit for bit, as numbers (NaN equals NaN). */
export function sameOutputs(trace, a, b) {
  const outputs = trace.buffers.filter((buffer) => buffer.role === "output");
  return outputs.every(({ name }) => a[name].every((value, i) => Object.is(value, b[name][i])));
}

/** The names a lane reads or writes. */
export const touched = (lane) =>
  new Set(lane.passes.flatMap((pass) => pass.body.filter((line) => line.buf).map((line) => line.buf)));

/** The answers on offer: nothing saved, the truth, reads only, one access an element; each wrong one is a belief. */
export function question(trace, n, words) {
  const per = (lane) => lane.passes.reduce((sum, p) => sum + p.body.filter((line) => line.buf).length, 0);
  const [separate, fused] = trace.lanes.map(per);
  const writes = trace.buffers.filter((b) => b.role === "output").length;
  const wrong = [
    [separate, words("belief_separate")],
    [fused - writes, words("belief_reads")],
    [1, words("belief_one")],
  ];
  const beliefs = {};
  for (const [k, why] of wrong) if (k !== fused && k > 0) beliefs[k * n] ??= why;
  const options = [...new Set([...wrong.map(([k]) => k), fused])].filter((k) => k > 0).sort((a, b) => b - a);
  return { options: options.map((k) => String(k * n)), answer: String(fused * n), beliefs };
}
