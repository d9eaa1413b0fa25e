// The race without its picture: run the loop bodies for any n, say what is true at a beat, pose the
// question.
// In: the plan of labcore/fusion/race.py, whose header has the schema: buffers, and lanes of passes
// of statements {op, reg, dtype, args?, buf?, value?, once?}, op one of "load", "store", "const",
// or a primitive. A "fixed" plan has been run already: its lanes have steps and memory.
// Out: plain data. Invariant: everything here is pure; one loop statement means the same in a
// count, a value and a line.

import { clamp } from "./dom.js";
import { evaluate, round } from "./ops.js";
import { beatOf } from "./player.js";

/** Memory before the first pass: inputs hold the example values (repeated to n), the rest is
 *  empty. */
function memory(trace, n) {
  const filled = (buffer) =>
    Array.from({ length: buffer.one ? 1 : n }, (_, i) =>
      round(buffer.dtype, Number(buffer.values[i % buffer.values.length])),
    );
  return Object.fromEntries(
    trace.buffers.map((b) => [b.name, b.role === "input" ? filled(b) : []]),
  );
}

/** Numbers that JSON lacks are texts. */
const memoryOf = (trace, { memory }) =>
  Object.fromEntries(
    trace.buffers.map(({ name }) => [name, (memory[name] ?? []).map(Number)]),
  );

/** How many cells of a buffer are drawn. */
export const sizeOf = (buffer, n) => buffer.size ?? (buffer.one ? 1 : n);

/** Run a lane over n elements: one step per array access, with the registers computed since the
 *  last one. What does not depend on i ("once") runs before the loop, as in the kernel; its steps
 *  have i = -1. */
export function run(trace, lane, n) {
  if (lane.steps) return { steps: lane.steps, memory: memoryOf(trace, lane) };
  const mem = memory(trace, n);
  const steps = [];
  lane.passes.forEach((pass, k) => {
    const numbered = pass.body.map((line, at) => ({ ...line, at }));
    const known = {};
    let fresh = turn(
      numbered.filter((line) => line.once),
      { pass: k, i: -1, known, mem, steps, fresh: [] },
    );
    const body = numbered.filter((line) => !line.once);
    for (let i = 0; i < n; i++)
      fresh = turn(body, { pass: k, i, known: { ...known }, mem, steps, fresh });
  });
  return { steps, memory: mem };
}

/** Run statements once; fills `known` and `steps`, and returns what was computed after the last
 *  access. */
function turn(body, { pass, i, known, mem, steps, fresh }) {
  const base = { ...known };
  for (const line of body) {
    const { op, reg, buf, at } = line;
    if (op !== "load" && op !== "store") {
      known[reg] = compute(line, known);
      fresh.push({ reg, at });
      continue;
    }
    const kind = op === "load" ? "read" : "write";
    const cell = Math.max(0, line.once ? 0 : i);
    if (kind === "read") known[reg] = mem[buf][cell];
    else mem[buf][cell] = known[reg];
    steps.push({
      pass,
      i,
      cell,
      at,
      kind,
      buf,
      reg,
      value: known[reg],
      fresh,
      base,
      regs: { ...known },
    });
    fresh = [];
  }
  return fresh;
}

function compute(line, regs) {
  if (line.op === "const") return round(line.dtype, Number(line.value));
  return evaluate(
    line.op,
    line.args.map((a) => regs[a]),
    line.dtype,
  );
}

/** What is true at p: accesses so far, marks and values of cells, the access in flight. Pure. */
export function stateAt(steps, p) {
  const count = clamp(beatOf(p), 0, steps.length);
  const marks = {};
  const cells = {};
  for (const step of steps.slice(0, count)) {
    const key = `${step.buf}:${step.cell}`;
    (marks[key] ??= []).push(step.kind);
    // What a call of a library made is seen when it is read.
    cells[key] = step.kind === "write" ? step.value : (cells[key] ?? step.value);
  }
  const done = count === steps.length;
  const f = done ? 0 : Math.max(0, p - count);
  return {
    count,
    marks,
    cells,
    now: steps[count] ?? null,
    last: steps[count - 1] ?? null,
    f,
    done,
  };
}

/** What a cell shows: an input's element, what an access brought, and at the end what is left there:
 *  part of an array that is written in place lay there before. */
export function valueIn({ cells, done }, memory, { name, role }, i) {
  const brought = role === "input" ? memory[name][i] : cells[`${name}:${i}`];
  return brought ?? (done ? memory[name]?.[i] : undefined);
}

/** Inside a beat: a read flies first; a write computes what it needs (until COMPUTED), then
 *  flies. */
export const COMPUTED = 0.38;

/** The registers that hold a value: those of the current element's body, as far as it has run. */
export function registers({ now, last, f }) {
  const sameBody = last && now && last.pass === now.pass && String(last.i) === String(now.i);
  const regs = sameBody ? { ...last.regs } : { ...now?.base };
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

/** Which accesses of the longer lane the other does not make: those are what fusion saved. */
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
export const touched = ({ passes, steps }) =>
  new Set((steps ?? passes.flatMap((pass) => pass.body)).map(({ buf }) => buf).filter(Boolean));

/** How many accesses a lane makes: `each` a turn, and `once` before its loops. */
export function counted(lane) {
  if (lane.steps) return { each: 0, once: lane.steps.length };
  const all = lane.passes.flatMap((pass) => pass.body.filter((line) => line.buf));
  const once = all.filter((line) => line.once).length;
  return { each: all.length - once, once };
}

/** "7N", or "6N + 2" where something is read before the loop. */
export function formula(lane) {
  if (lane.steps) return "";
  const { each, once } = counted(lane);
  return once ? `${each}N + ${once}` : `${each}N`;
}

/** The answers on offer: nothing saved, the truth, reads only, one access an element; each wrong
 *  one is a belief. */
export function question(trace, n, words) {
  const total = (lane) => counted(lane).each * n + counted(lane).once;
  const [separate, fused] = trace.lanes.map(total);
  const outputs = trace.buffers.filter((b) => b.role === "output");
  const writes = outputs.reduce((sum, buffer) => sum + sizeOf(buffer, n), 0);
  const wrong = [
    [separate, words("belief_separate")],
    [fused - writes, words("belief_reads")],
    [n, words("belief_one")],
  ];
  const beliefs = {};
  for (const [count, why] of wrong) if (count !== fused) beliefs[count] ??= why;
  const options = [...new Set([...wrong.map(([count]) => count), fused])].filter(
    (count) => count > 0,
  );
  return { options: options.sort((a, b) => b - a).map(String), answer: String(fused), beliefs };
}
