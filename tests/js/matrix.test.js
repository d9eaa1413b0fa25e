import assert from "node:assert/strict";
import test from "node:test";

import {
  askedBy,
  beatsOf,
  cellAt,
  focusAt,
  isCrowded,
  narrate,
  plainColumns,
  question,
  rowsAt,
  stateAt,
} from "../../widgets/static/matrix.js";
import { tongue } from "../../widgets/static/words.js";
import { matrix } from "./fixtures.js";

const words = tongue("en");
const FOUR = matrix(4, 4, 8, 4);
const states = (trace, st, variant, all = false) =>
  trace.rows[variant].map((_, index) => cellAt(trace, st, variant, index, all));

test("a beat is a call, a row that is asked, or an end", () => {
  const told = beatsOf(FOUR).map(({ kind, call, variant }) => `${call} ${kind} ${variant ?? ""}`);
  assert.deepEqual(
    told.map((t) => t.trim()),
    [
      "0 call",
      "0 end",
      "1 call",
      "1 row 0/0",
      "1 end",
      "2 call",
      "2 row 0/0",
      "2 end",
      "3 call",
      "3 row 0/1",
      "3 row 0/0",
      "3 end",
    ],
  );
});

test("rows are asked in the order of the last use", () => {
  const trace = matrix(4, 8, 16, 8, 32);
  const order = (call) => beatsOf(trace).find((beat) => beat.call === call).order;
  assert.deepEqual(order(3), ["0/2", "0/1", "0/0"]);
  assert.deepEqual(order(4), ["0/1", "0/2", "0/0"]);
});

test("the first guard that fails is red, what stands behind it is not asked", () => {
  const st = stateAt(FOUR, askedBy(FOUR, 2));
  assert.deepEqual(states(FOUR, st, "0/0"), ["ok", "fail", "skip"]);
  assert.deepEqual(focusAt(st), { variant: "0/0", index: 1 });
});

test("a row's answers come one after the other", () => {
  const k = beatsOf(FOUR).findIndex((beat) => beat.call === 2 && beat.kind === "row");
  const shown = [0, 0.3, 0.5, 0.85, 1].map((f) => stateAt(FOUR, k + f).rows["0/0"]?.shown ?? null);
  assert.deepEqual(shown, [null, 0, 1, 2, 2]);
  assert.deepEqual(states(FOUR, stateAt(FOUR, k + 0.5), "0/0"), ["ok", "wait", "wait"]);
});

test("behind the hit nothing is asked; on demand it is told what it would say", () => {
  const trace = matrix(4, 8, 8);
  const st = stateAt(trace, beatsOf(trace).length);
  assert.deepEqual(states(trace, st, "0/1"), ["ok", "ok", "ok"]);
  assert.deepEqual(states(trace, st, "0/0"), ["skip", "skip", "skip"]);
  assert.deepEqual(states(trace, st, "0/0", true), ["would-ok", "would-fail", "skip"]);
  assert.deepEqual(states(trace, st, "0/1", true), ["ok", "ok", "ok"]);
});

test("what a call makes is a new row when it has ended, and not before", () => {
  const asked = askedBy(FOUR, 2);
  assert.deepEqual(rowsAt(stateAt(FOUR, asked)), ["0/0"]);
  const st = stateAt(FOUR, asked + 1);
  assert.deepEqual(rowsAt(st), ["0/0", "0/1"]);
  assert.deepEqual(states(FOUR, st, "0/1"), ["new", "new", "new"]);
});

test("columns in which nothing fails, and all expect the same, need no words", () => {
  assert.deepEqual(plainColumns(FOUR), new Set([0, 2]));
  assert.deepEqual(plainColumns(matrix(4, 4)), new Set([0, 1, 2]));
  const wouldFail = { ...FOUR, whole: [{}, {}, {}, { "0/0": { held: 2, reason: "grad mode" } }] };
  assert.deepEqual(plainColumns(wouldFail), new Set([0]));
});

test("words need room: in a narrow column, and with many guards, there is none", () => {
  assert.equal(isCrowded(FOUR, 900), false);
  assert.equal(isCrowded(FOUR, 340), true);
  assert.equal(isCrowded({ columns: Array(9) }, 1200), true);
});

test("the counters count answers, and only grow", () => {
  let last = { asked: 0, failed: 0, hits: 0, compiled: 0 };
  for (let p = 0; p <= beatsOf(FOUR).length; p += 0.125) {
    const { count } = stateAt(FOUR, p);
    for (const name of Object.keys(count)) assert.ok(count[name] >= last[name], `${name} at ${p}`);
    last = count;
  }
  assert.deepEqual(last, { asked: 10, failed: 2, hits: 2, compiled: 2 });
});

test("the question has the truth, and only guards of the variant that failed", () => {
  const { options, answer, beliefs } = question(FOUR, words);
  assert.ok(options.includes(answer) && answer === "x.shape == (4,)");
  assert.match(beliefs[options[0]], /it held/);
  assert.match(beliefs[options.at(-1)], /was not asked/);
  assert.equal(question(matrix(4, 4), words), null);
});

test("the end counts what was asked and names the first that failed", () => {
  assert.equal(
    narrate(FOUR, beatsOf(FOUR).length, words),
    "10 guards were asked, 2 failed. The first was `x.shape == (4,)`.",
  );
});

test("every beat has a sentence, in both languages", () => {
  for (const language of ["en", "zh"])
    for (let p = 0; p <= beatsOf(FOUR).length; p += 0.25)
      assert.doesNotMatch(narrate(FOUR, p, tongue(language)), /undefined|\{|NaN/);
});

test("the same p gives the same state", () => {
  const once = structuredClone(stateAt(FOUR, 6.4));
  for (const p of [99, 0, 3.2]) stateAt(FOUR, p);
  assert.deepEqual(stateAt(FOUR, 6.4), once);
});
