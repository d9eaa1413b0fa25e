import assert from "node:assert/strict";
import test from "node:test";

import { narrate, question, stateAt } from "../../widgets/static/theater.js";
import { tongue } from "../../widgets/static/words.js";
import { theater } from "./fixtures.js";

const words = tongue("en");
const end = (trace) => stateAt(trace, trace.events.length);
const STATIC = theater(4, 4, 8, 4);

test("4, 4, 8, 4 with static sizes: 2 hits, 2 misses, 1 recompile, 2 variants", () => {
  assert.deepEqual(end(STATIC).count, { hits: 2, misses: 2, recompiles: 1, variants: 2 });
  assert.deepEqual(end(STATIC).tickets, [
    { status: "compiled", variant: "0/0" },
    { status: "hit", variant: "0/0" },
    { status: "compiled", variant: "0/1" },
    { status: "hit", variant: "0/0" },
  ]);
});

test("the variant hit last is asked first", () => {
  assert.deepEqual(end(STATIC).order, ["0/0", "0/1"]);
  assert.deepEqual(end(theater(4, 8, 16)).order, ["0/2", "0/1", "0/0"]);
});

test("a failed guard ends the variant: what comes after is not asked", () => {
  const at = STATIC.events.findIndex((e) => e.kind === "guard" && !e.ok);
  const card = stateAt(STATIC, at + 1).cards["0/0"];
  assert.deepEqual(card.rows, ["ok", "fail", null]);
  assert.equal(card.fail.actual, "(8,)");
});

test("a guard's effect shows only after the token has arrived", () => {
  const at = STATIC.events.findIndex((e) => e.kind === "guard");
  assert.equal(stateAt(STATIC, at + 0.5).cards["0/0"].rows[0], null);
  assert.equal(stateAt(STATIC, at + 0.7).cards["0/0"].rows[0], "ok");
});

test("counters only ever grow", () => {
  const trace = theater(4, 8, 16, 4, 8);
  let last = { hits: 0, misses: 0, recompiles: 0, variants: 0 };
  for (let p = 0; p <= trace.events.length; p += 0.25) {
    const { count } = stateAt(trace, p);
    for (const name of Object.keys(count)) assert.ok(count[name] >= last[name]);
    last = count;
  }
  assert.deepEqual(last, { hits: 2, misses: 3, recompiles: 2, variants: 3 });
});

test("the same p gives the same state, and the trace is left alone", () => {
  const before = structuredClone(STATIC);
  const once = structuredClone(stateAt(STATIC, 12.3));
  for (const p of [99, 0, 20.8]) stateAt(STATIC, p);
  assert.deepEqual(stateAt(STATIC, 12.3), once);
  assert.deepEqual(STATIC, before);
});

test("with more than two variants the view goes along with the one that is asked", () => {
  const trace = theater(4, 8, 16, 32, 4);
  const seen = (p) =>
    Object.entries(stateAt(trace, p).slots)
      .filter(([, s]) => s.seen === 1)
      .map(([id]) => id);
  const asks = (id) =>
    trace.events.findLastIndex((e) => e.kind === "guard" && e.variant === id) + 1;
  assert.deepEqual(seen(asks("0/3")).sort(), ["0/2", "0/3"]);
  assert.deepEqual(seen(asks("0/1")).sort(), ["0/1", "0/2"]);
  assert.deepEqual(seen(asks("0/0")).sort(), ["0/0", "0/1"]);
  assert.deepEqual(seen(trace.events.length).sort(), ["0/0", "0/3"]);
});

test("a variant made before the recording is there from the start", () => {
  const trace = { ...theater(4, 4), earlier: ["0/0"] };
  trace.events = trace.events.filter((e) => e.call === 1);
  assert.deepEqual(stateAt(trace, 0).order, ["0/0"]);
  assert.deepEqual(end(trace).count, { hits: 1, misses: 0, recompiles: 0, variants: 1 });
});

test("a stop, Python's answer and an error are shown as what they are", () => {
  const trace = {
    function: "noisy",
    calls: [
      { inputs: "float32[4]", label: "x[4]", token: "4" },
      { inputs: "int", label: "3", token: "#2" },
    ],
    variants: [
      { id: "1/0", title: "float32[4]", result: "eager", guards: [{ text: "print" }], kernels: [] },
    ],
    earlier: [],
    events: [
      { kind: "call", call: 0 },
      { kind: "miss", call: 0, again: false },
      { kind: "break", call: 0, variant: "1/0", what: "call of print", why: "It writes.", line: 6 },
      { kind: "variant", call: 0, variant: "1/0", result: "eager" },
      { kind: "execute", call: 0, variant: "1/0", hit: false },
      { kind: "return", call: 0, variant: "1/0", result: "eager" },
      { kind: "call", call: 1 },
      { kind: "return", call: 1, variant: "", result: "raised", error: "TypeError: no" },
    ],
  };
  assert.equal(stateAt(trace, 3).stations.capture, "break");
  assert.match(
    narrate(trace, 3, words),
    /Capture stops at line 6, a graph break: call of print\. It writes\./,
  );
  assert.match(narrate(trace, 4, words), /has no compiled code/);
  assert.equal(narrate(trace, 5, words), "Python runs the function itself.");
  assert.equal(narrate(trace, 6, words), "Call 1 is answered by plain Python.");
  assert.deepEqual(
    end(trace).tickets.map((t) => t.status),
    ["eager", "raised"],
  );
  assert.equal(stateAt(trace, 8).out.error, "TypeError: no");
  const last = (t) => narrate(t, t.events.length, words);
  assert.doesNotMatch(last(trace), /regions of its own/);
  const goesOn = { ...trace, variants: [{ ...trace.variants[0], result: "graph" }] };
  assert.match(last(goesOn), /compiled in regions of its own, which are not on this stage/);
});

test("the question has the truth among up to four answers, and none gives it away", () => {
  assert.deepEqual(question(STATIC, words).options, ["1", "2", "3", "4"]);
  assert.equal(question(STATIC, words).answer, "2");
  const many = question(theater(...Array.from({ length: 9 }, (_, k) => k + 2)), words);
  assert.ok(many.options.includes("9") && many.options.length === 4);
  assert.doesNotMatch(narrate(STATIC, 0, words), /2 variants/);
});

test("the last sentence counts, and names the guard behind the recompile", () => {
  assert.equal(
    narrate(STATIC, STATIC.events.length, words),
    "4 calls, 2 hits, 2 misses, 1 recompile, 2 variants. A recompile began with `x.shape == (4,)`.",
  );
});

test("every beat has a sentence, in both languages", () => {
  for (const language of ["en", "zh"])
    for (let p = 0; p <= STATIC.events.length; p += 0.5)
      assert.doesNotMatch(narrate(STATIC, p, tongue(language)), /undefined|\{|NaN/);
});
