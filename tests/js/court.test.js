import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  ASKED,
  answerTo,
  bridge,
  cardOf,
  inHand,
  keyOf,
  loopsOf,
  memoryOf,
  narrate,
  picked,
  question,
  ruleName,
  rulesOf,
  spanning,
  stateAt,
  ticks,
  totalOf,
  verdictOf,
} from "../../widgets/static/court.js";
import { before, packed, placesOf, reuses, rowsAt, spanOf } from "../../widgets/static/court_memory.js";
import { tongue } from "../../widgets/static/words.js";

const { block: BLOCK, centred: CENTRED } = JSON.parse(
  readFileSync(new URL("./court.json", import.meta.url), "utf8"),
);
const words = tongue("en");
const places = { a: [0, 0], b: [0, 10], c: [0, 20], d: [40, 20] };
const at = (name) => ({ x: places[name][0], y: places[name][1] });

test("one beat is one pair, and the ledger falls with it", () => {
  const accesses = [0, 1, 2].map((p) => stateAt(BLOCK, p).counts.accesses);
  assert.deepEqual(accesses, [28, 20, 12]);
  assert.deepEqual([0, 1, 2].map((p) => stateAt(BLOCK, p).counts.loops), [3, 2, 1]);
  assert.equal(stateAt(BLOCK, 0).event, null);
  assert.equal(stateAt(BLOCK, 2).end, true);
});

test("within a beat rules are asked first, then two loops grow together", () => {
  const early = stateAt(BLOCK, 0.2);
  assert.ok(!early.decided && early.join === 0 && early.asked >= 1 && early.asked < 4);
  const late = stateAt(BLOCK, 0.8);
  assert.ok(late.decided && late.join > 0 && late.counts.accesses === 28);
  assert.equal(stateAt(BLOCK, 0.97).counts.accesses, 20);
  const refused = stateAt(CENTRED, 1.8);
  assert.equal(refused.event.ok, false);
  assert.equal(refused.join, 0);
});

test("only the rules up to the refusal are asked", () => {
  const [, refused] = CENTRED.events;
  const marks = ticks(rulesOf(CENTRED, "scheduler"), refused).map(({ mark }) => mark);
  assert.deepEqual(marks, ["ok", "ok", "ok", "ok", "fail", ...Array(7).fill("skip")]);
  const two = ticks(rulesOf(CENTRED, "scheduler"), refused, 2).map(({ mark }) => mark);
  assert.deepEqual(two.slice(0, 4), ["ok", "ok", "skip", "skip"]);
  const asked = [0.1, 0.3, ASKED - 0.01].map((f) => stateAt(CENTRED, 1 + f).asked);
  assert.ok(asked[0] < asked[1] && asked[2] === 5);
  assert.ok(ticks(["a", "b"], { ok: true }).every(({ mark }) => mark === "ok"));
  assert.ok(ticks(["a"], { ok: false, refused_by: "" }).every(({ mark }) => mark === "skip"));
});

test("every rule of the compiler has a question of its own", () => {
  for (const language of ["en", "zh"])
    for (const name of [...BLOCK.rules, ...rulesOf(BLOCK, "lowering")])
      assert.ok(tongue(language).has(`fc_rule_${name}`), name);
  assert.equal(ruleName("a_new_rule", words), "a new rule");
  assert.deepEqual(rulesOf(BLOCK, ""), []);
});

test("a loop is held together by the shortest lines, and grows from the nearest operators", () => {
  assert.deepEqual(spanning(["a", "c", "b"], at), [["a", "b"], ["b", "c"]]);
  assert.deepEqual(spanning(["a"], at), []);
  assert.deepEqual(bridge({ a: ["a", "b"], b: ["c", "d"] }, at), ["b", "c"]);
  assert.deepEqual(bridge({ a: ["a"], b: ["a"] }, at), null);
});

test("loops of several operators have a tint, and keep it while they grow", () => {
  const [loop] = loopsOf(BLOCK, stateAt(BLOCK, 1).groups);
  const [grown] = loopsOf(BLOCK, stateAt(BLOCK, 2).groups);
  assert.equal(loop.tint, grown.tint);
  assert.equal(loopsOf(BLOCK, BLOCK.start.groups).length, 0);
});

test("a value stays in a register where both ends are in one loop", () => {
  const { groups } = stateAt(BLOCK, 1);
  assert.ok(inHand(groups, "add", "relu") && !inHand(groups, "relu", "mul"));
});

test("verdicts on demand are found whichever is named first", () => {
  assert.equal(keyOf("relu", "add"), "add | relu");
  assert.equal(answerTo(CENTRED, {}, ["add", "sum"]).rule, "reduction not finished");
  assert.equal(answerTo({ answers: {} }, {}, ["a", "b"]), null);
  assert.deepEqual(answerTo({ answers: {} }, { "a | b": { ok: true } }, ["b", "a"]), { ok: true });
});

test("picking two, a third begins anew, one again is let go", () => {
  assert.deepEqual(picked([], "a"), ["a"]);
  assert.deepEqual(picked(["a"], "b"), ["a", "b"]);
  assert.deepEqual(picked(["a", "b"], "c"), ["c"]);
  assert.deepEqual(picked(["a", "b"], "a"), ["b"]);
});

test("the sentences", () => {
  assert.match(narrate(BLOCK, 0, words), /Each operator of `block` is a loop.*3 loops\. How many/);
  assert.match(narrate(CENTRED, 1.35, words), /^May `sum` and `add` share a loop\? Rule: they run/);
  assert.match(narrate(CENTRED, 1.8, words), /^`sum` and `add` stay apart: reduction not finished\./);
  assert.equal(
    narrate(BLOCK, 2, words),
    "3 loops became 1, and 28 array accesses became 12. 2 pairs were tried, 0 refused. " +
      "At most 16 bytes are in use at once, 32 before.",
  );
  assert.match(cardOf(CENTRED.events[1], words), /^Two loops\. It would flip if sum were reduced/);
  assert.equal(cardOf(BLOCK.events[0], words), "One loop. Saves 32 bytes.");
  assert.match(verdictOf(BLOCK.events[0], words), /share a loop: producer and consumer\. relu computes/);
  for (let p = 0; p <= CENTRED.events.length; p += 0.25)
    assert.match(narrate(CENTRED, p, tongue("zh")), /[\u4e00-\u9fff]/);
});

const PLAN = {
  steps: ["matmul", "relu", "exp", "add"],
  lives: [
    { buffer: "matmul", nbytes: 8, first: 0, last: 1, place: "matmul", how: "new" },
    { buffer: "relu", nbytes: 8, first: 1, last: 2, place: "matmul", how: "in place" },
    { buffer: "exp", nbytes: 8, first: 2, last: 3, place: "exp", how: "new" },
    { buffer: "add", nbytes: 8, first: 3, last: 4, place: "matmul", how: "used again" },
  ],
  peak: 16,
  total: 32,
};

test("memory that is used again: one row a place, one beat a reuse", () => {
  assert.deepEqual(reuses(PLAN).map((life) => life.buffer), ["relu", "add"]);
  assert.deepEqual(placesOf(PLAN), ["matmul", "exp"]);
  assert.equal(before(PLAN, PLAN.lives[3]).buffer, "relu");
  assert.deepEqual(rowsAt(PLAN, 0), [0, 1, 2, 3]);
  assert.deepEqual(rowsAt(PLAN, 1), [0, 0, 2, 3]);
  assert.deepEqual(rowsAt(PLAN, 1, 0.5), [0, 0, 2, 1.5]);
  assert.deepEqual(rowsAt(PLAN, 2), [0, 0, 2, 0]);
  assert.deepEqual(packed(PLAN), [0, 0, 1, 0]);
});

test("a buffer that is written over another one shares the step with it", () => {
  assert.deepEqual(PLAN.lives.map((life) => spanOf(PLAN, life)), [[0, 1.5], [1.5, 3], [2, 4], [3, 5]]);
});

test("what a plan holds, in a line", () => {
  assert.equal(memoryOf(PLAN, words), "4 buffers in 2 places, at most 16 bytes at once");
  const one = BLOCK.memory.after;
  assert.equal(memoryOf(one, words), "1 buffer in 1 place, at most 16 bytes at once");
});

test("reuses come after the pairs, each with a sentence", () => {
  const trace = { ...BLOCK, memory: { before: PLAN, after: PLAN } };
  assert.equal(totalOf(trace), 4);
  assert.match(narrate(trace, 3, words), /^`relu` is written over `matmul`, element by element/);
  assert.match(narrate(trace, 3.5, words), /^`add` gets the memory of `relu`, which nobody reads/);
  assert.match(narrate(trace, 4, words), /At most 16 bytes are in use at once, 16 before\.$/);
  assert.equal(stateAt(trace, 2).end, false);
  assert.equal(stateAt(trace, 2.5).memory.moved, 0);
  assert.ok(stateAt(trace, 2.5).memory.t > 0 && stateAt(trace, 4).end);
});

test("the question has the right answer among beliefs, and is left out where there is none", () => {
  const { options, answer } = question(BLOCK, words);
  assert.deepEqual([options, answer], [["0", "1", "2", "3"], "1"]);
  assert.equal(question(CENTRED, words).answer, "2");
  assert.equal(question({ start: { loops: 1 }, events: [] }, words), null);
});
