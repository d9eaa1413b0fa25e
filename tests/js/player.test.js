import assert from "node:assert/strict";
import test from "node:test";

import { START, advance, beatOf, keyAction, moving, settle } from "../../widgets/static/player.js";
import { WORDS, tongue } from "../../widgets/static/words.js";

const ENV = { total: 28, beatMs: 100, reduced: false };
const press = (state, ...keys) =>
  keys.reduce((s, key) => advance(s, { type: keyAction({ key }) }, ENV), state);
const wait = (state, ms, env = ENV) => advance(state, { type: "tick", ms }, env);

test("keys mean actions, unless the host's modifier is held", () => {
  assert.equal(keyAction({ key: " " }), "toggle");
  assert.equal(keyAction({ key: "k" }), "toggle");
  assert.equal(keyAction({ key: "ArrowRight" }), "step");
  assert.equal(keyAction({ key: "ArrowLeft" }), "back");
  assert.equal(keyAction({ key: "s" }), null);
  assert.equal(keyAction({ key: "k", ctrlKey: true }), null);
});

test("a step glides to the next whole beat and stops there", () => {
  let state = press(START, "ArrowRight");
  assert.deepEqual([state.p, state.goal], [0, 1]);
  state = wait(state, 40);
  assert.ok(state.p > 0.3 && state.p < 0.5 && moving(state));
  state = wait(state, 100);
  assert.deepEqual([state.p, state.goal, moving(state)], [1, null, false]);
});

test("two steps in a row go two beats; back undoes one", () => {
  const two = wait(press(START, "ArrowRight", "ArrowRight"), 300);
  assert.equal(two.p, 2);
  assert.equal(wait(press(two, "ArrowLeft"), 300).p, 1);
  assert.equal(press({ ...START, p: 2.4 }, "ArrowLeft").goal, 2);
});

test("home and end", () => {
  assert.equal(press(START, "End").p, 28);
  assert.equal(press({ ...START, p: 9 }, "Home").p, 0);
  assert.equal(wait(press({ ...START, p: 28 }, "ArrowRight"), 500).p, 28);
});

test("play runs to the end, stops, and starts again from the beginning", () => {
  let state = press(START, " ");
  for (let k = 0; k < 30; k++) state = wait(state, 100);
  assert.deepEqual([state.p, state.playing], [28, false]);
  state = press(state, " ");
  assert.deepEqual([state.p, state.playing], [0, true]);
});

test("pausing keeps the place; seeking stops", () => {
  const paused = press(wait(press(START, " "), 250), " ");
  assert.deepEqual([paused.p, paused.playing], [2.5, false]);
  assert.deepEqual(advance(press(paused, " "), { type: "seek", p: 99 }, ENV).p, 28);
});

test("speed changes how far a tick goes", () => {
  assert.equal(press(START, "+").speed, 2);
  assert.equal(press(START, "-").speed, 0.5);
  assert.equal(press(START, "+", "+", "+").speed, 4);
  assert.equal(wait(press(START, "+", " "), 100).p, 2);
  assert.equal(advance({ ...START, speed: 4 }, { type: "faster", wrap: true }, ENV).speed, 0.5);
});

test("reduced motion cuts from beat to beat", () => {
  const env = { ...ENV, reduced: true };
  let state = advance(START, { type: "step" }, env);
  assert.deepEqual([state.p, state.goal], [1, null]);
  state = advance(state, { type: "toggle" }, env);
  for (let k = 0; k < 4; k++) state = wait(state, 50, env);
  assert.equal(state.p, 3);
  assert.equal(beatOf(state.p), state.p);
});

test("states are new, never changed in place", () => {
  const frozen = Object.freeze({ ...START });
  for (const key of [" ", "ArrowRight", "End", "+"]) press(frozen, key);
});

test("a prediction is settled with the truth, and a wrong one with its belief", () => {
  const question = { answer: "12", beliefs: { 28: "Then nothing was saved." } };
  assert.equal(settle(tongue("en"), question, "12"), "You said 12: right.");
  assert.equal(
    settle(tongue("en"), question, "28"),
    "You said 28; it is 12. Then nothing was saved.",
  );
  assert.equal(settle(tongue("en"), question, "4"), "You said 4; it is 12.");
});

test("every word exists in both languages and fills the same holes", () => {
  const holes = (t) => [...new Set(t.match(/\{\w+\}/g) ?? [])].sort();
  for (const [key, [en, zh]] of Object.entries(WORDS)) {
    assert.ok(en && zh, key);
    assert.deepEqual(holes(zh), holes(en), key);
  }
  assert.throws(() => tongue("en")("no such key"), /no word/);
});

test("steps asked for faster than they play are caught up with", () => {
  const env = { total: 20, beatMs: 1000, reduced: false };
  let state = START;
  for (let n = 0; n < 8; n++) state = advance(state, { type: "step" }, env);
  let ticks = 0;
  while (state.goal !== null && ticks++ < 1000)
    state = advance(state, { type: "tick", ms: 50 }, env);
  assert.equal(state.p, 8);
  assert.ok(ticks < 80, `${ticks} ticks of 50 ms for 8 beats`);
});
