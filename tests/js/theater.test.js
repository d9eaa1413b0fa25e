import assert from "node:assert/strict";
import test from "node:test";

import { narrate, stateAt } from "../../widgets/static/theater.js";
import { folded } from "../../widgets/static/theater_fold.js";
import { outcomes, scored } from "../../widgets/static/theater_guesses.js";
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
      { inputs: "float32[4]", label: "x[4]" },
      { inputs: "int", label: "3" },
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

test("what came of each call is what may be guessed of it", () => {
  assert.deepEqual(outcomes(STATIC), [["compile"], ["hit"], ["compile"], ["hit"]]);
});

test("a call that leaves its variant at a break came to two things, and either guess is right", () => {
  const stop = { what: "call of print", why: "It writes." };
  const variants = STATIC.variants.map((v) => (v.id === "0/0" ? { ...v, stop } : v));
  const trace = { ...STATIC, variants };
  assert.deepEqual(outcomes(trace), [["break", "compile"], ["break", "hit"], ["compile"], ["break", "hit"]]);
  const guesses = ["break", "hit", "hit", "python"];
  assert.deepEqual(scored(trace, guesses, end(trace)), { right: 2, of: 4 });
  const over = trace.events.length - 1;
  assert.match(
    narrate(trace, over + 0.9, words, guesses),
    /You said Python; it is break and hit\. Capture had to stop/,
  );
});

const LONG = ["mode", "type", "dtype", ...Array.from({ length: 20 }, (_, n) => `w${n} fits`)];

/** The calls of STATIC, each variant with 20 guards more in front of its own. */
function long() {
  const trace = structuredClone(STATIC);
  for (const variant of trace.variants)
    variant.guards = [...LONG.map((text) => ({ kind: "", text })), ...variant.guards];
  trace.events = trace.events.flatMap((e) => {
    if (e.kind !== "guard") return [e];
    const late = { ...e, guard: e.guard + LONG.length };
    const first = LONG.map((text, guard) => ({ ...e, ok: true, guard, text }));
    return e.guard === 0 ? [...first, late] : [late];
  });
  return trace;
}

test("of a long list those guards stay that fail; the others are one row, asked in one beat", () => {
  const trace = long();
  const short = folded(trace);
  assert.equal(folded(STATIC), STATIC);
  const [variant] = short.variants;
  assert.deepEqual(
    variant.guards.map(({ text, all }) => all?.length ?? text),
    ["mode", "type", 22, "x.shape == (4,)", "grad mode is on"],
  );
  assert.ok(short.events.length < trace.events.length / 2);
  assert.deepEqual(end(short).count, end(trace).count);
  assert.deepEqual(end(short).tickets, end(trace).tickets);
  const asked = short.events.findIndex((e) => e.count);
  assert.match(narrate(short, asked + 1, words), /`0\/0` asks 22 guards/);
  const failed = short.events.find((e) => e.kind === "guard" && !e.ok);
  assert.equal(short.variants[0].guards[failed.guard].text, failed.text);
});

test("one call is said as one", () => {
  const trace = theater(4);
  assert.match(narrate(trace, 0, words), /^`block` will be called once: `x\[4\]`\./);
  assert.match(narrate(trace, trace.events.length, words), /^1 call, 0 hits, 1 miss, 0 recompiles/);
  assert.match(narrate(trace, 0, tongue("zh")), /^`block` 将被调用一次：/);
});

test("the end tells of calls that raised", () => {
  const events = STATIC.events.map((e) =>
    e.kind === "return" && e.call > 1 ? { ...e, result: "raised", error: "ValueError: no" } : e,
  );
  assert.match(narrate({ ...STATIC, events }, events.length, words), /2 calls raised an error/);
});

/** The third call of STATIC past the limit: nothing is compiled, Python runs it. */
function past() {
  const kept = STATIC.events.filter((e) => e.call < 2 || (e.call === 2 && e.kind !== "stage"));
  const events = kept
    .filter((e) => e.call < 2 || e.kind !== "variant")
    .map((e) => {
      if (e.call < 2) return e;
      if (e.kind === "miss") return { ...e, again: false, instead: "python" };
      if (e.kind === "execute") return { ...e, variant: "", front: false };
      return e.kind === "return" ? { ...e, variant: "", result: "eager" } : e;
    });
  return { ...STATIC, calls: STATIC.calls.slice(0, 3), events };
}

test("past the limit Python runs the call, and the end says how many", () => {
  const trace = past();
  assert.deepEqual(outcomes(trace), [["compile"], ["hit"], ["python"]]);
  assert.match(narrate(trace, trace.events.length, words), /Past the limit, 1 call ran in Python/);
  assert.equal(end(trace).count.recompiles, 0);
});

test("a guess is judged when its call has ended, and not before", () => {
  const guesses = ["compile", "compile", "compile", null];
  assert.deepEqual(scored(STATIC, guesses, stateAt(STATIC, 0)), { right: 0, of: 0 });
  const returned = STATIC.events.findIndex((e) => e.kind === "return");
  assert.deepEqual(scored(STATIC, guesses, stateAt(STATIC, returned + 0.5)), { right: 0, of: 0 });
  assert.deepEqual(scored(STATIC, guesses, stateAt(STATIC, returned + 1)), { right: 1, of: 1 });
  assert.deepEqual(scored(STATIC, guesses, end(STATIC)), { right: 2, of: 3 });
});

test("a wrong guess is answered by what it believes", () => {
  const over = (call) => STATIC.events.findIndex((e) => e.kind === "return" && e.call === call) + 1;
  const said = (call, guess, trace = STATIC) =>
    narrate(trace, over(call), words, [null, null, null, null].with(call, guess));
  assert.match(said(1, "hit"), /You said hit: right\.$/);
  assert.match(said(1, "compile"), /You said recompile; it is hit\. A call whose guards all hold/);
  assert.match(said(2, "hit"), /You said hit; it is recompile\. A variant is right only while/);
  assert.match(said(2, "break"), /it is recompile\. Capture reached the return/);
  assert.match(said(2, "python"), /Python runs a call only where/);
  assert.doesNotMatch(narrate(STATIC, over(1), words), /You said/);
});

test("the first sentence gives nothing away, the last says how many guesses were right", () => {
  assert.doesNotMatch(narrate(STATIC, 0, words), /[23] (hits|misses|variants)/);
  const last = narrate(STATIC, STATIC.events.length, words, ["compile", "hit", "hit", null]);
  assert.match(last, /^You were right about 2 of 3\. 4 calls, 2 hits/);
});

test("as many cards are in view as fit; with one, the one that is asked", () => {
  const trace = theater(4, 8, 16, 4);
  const asked = trace.events.findLastIndex((e) => e.kind === "guard") + 1;
  const seen = (visible) =>
    Object.entries(stateAt(trace, asked, visible).slots)
      .filter(([, slot]) => slot.seen === 1)
      .map(([id]) => id);
  assert.deepEqual(seen(1), ["0/0"]);
  assert.deepEqual(seen(3).sort(), ["0/0", "0/1", "0/2"]);
});

test("the last sentence counts, and names the guard behind the recompile", () => {
  assert.equal(
    narrate(STATIC, STATIC.events.length, words),
    "4 calls, 2 hits, 2 misses, 1 recompile, 2 variants. The first guard to fail was `x.shape == (4,)`.",
  );
});

test("every beat has a sentence, in both languages", () => {
  for (const language of ["en", "zh"])
    for (let p = 0; p <= STATIC.events.length; p += 0.5)
      assert.doesNotMatch(narrate(STATIC, p, tongue(language)), /undefined|\{|NaN/);
});
