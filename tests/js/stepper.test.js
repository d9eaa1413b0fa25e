import assert from "node:assert/strict";
import test from "node:test";

import {
  flight,
  narrate,
  nextNode,
  question,
  stateAt,
  statesOf,
  tape,
} from "../../widgets/static/stepper.js";
import { tongue } from "../../widgets/static/words.js";
import { steps } from "./fixtures.js";

const words = tongue("en");
const STEPS = steps();
const LAST = STEPS.events.length;
const at = (text) => STEPS.events.findIndex((e) => e.text === text);

test("the end has every node, guard and instruction", () => {
  const st = stateAt(STEPS, LAST);
  assert.deepEqual([st.ops, st.nodes, st.guards, st.steps], [2, 4, 3, LAST - 1]);
});

test("a node and its guards show only after the value has arrived", () => {
  const k = at("BINARY_OP +");
  assert.equal(stateAt(STEPS, k + 0.5).ops, 0);
  assert.equal(stateAt(STEPS, k + 0.5).taken, 2);
  const after = stateAt(STEPS, k + 0.7);
  assert.deepEqual([after.ops, after.taken, after.given], [1, 0, 1]);
  assert.deepEqual(after.fresh, { nodes: 0, guards: 1 });
});

test("looking at a lazy variable makes it a tensor", () => {
  const k = at("BINARY_OP +");
  const variable = (p) => stateAt(STEPS, p).frames[0].variables.find(([name]) => name === "x");
  assert.equal(variable(k)[1], "lazy");
  assert.equal(variable(k + 1)[1], "tensor");
});

test("a call pushes a frame, its return pops it and leaves the value", () => {
  const names = (p) => stateAt(STEPS, p).frames.map((frame) => frame.function);
  const call = at("CALL 1");
  assert.deepEqual(names(call), ["outer"]);
  assert.deepEqual(names(call + 1), ["outer", "helper"]);
  const back = at("RETURN_VALUE");
  assert.deepEqual(names(back + 1), ["outer"]);
  assert.deepEqual(stateAt(STEPS, back + 1).frames[0].stack, [["tensor", "mul: float32[4]"]]);
});

test("what moves: from a variable to the stack, to the graph, to a frame, and back", () => {
  assert.deepEqual(flight(STEPS, at("LOAD_FAST x")), { from: "local:x", to: "stack" });
  assert.deepEqual(flight(STEPS, at("BINARY_OP +")), { from: "stack", to: "node:add" });
  assert.deepEqual(flight(STEPS, at("CALL 1")), { from: "stack", to: "frame" });
  assert.deepEqual(flight(STEPS, at("RETURN_VALUE")), { from: "stack", to: "caller" });
  assert.deepEqual(flight(STEPS, at("STORE_FAST z")), { from: "stack", to: "local:z" });
  assert.equal(flight(STEPS, at("CALL 0")), null); // it stops there
  assert.equal(flight(STEPS, LAST - 1), null);
});

test("the same p gives the same state, in any order, and the trace is left alone", () => {
  const before = structuredClone(STEPS);
  const once = structuredClone(stateAt(STEPS, 4.3));
  for (const p of [LAST, 0, 7.9, 2]) stateAt(STEPS, p);
  assert.deepEqual(stateAt(STEPS, 4.3), once);
  assert.deepEqual(STEPS, before);
});

test("states share what did not change", () => {
  const states = statesOf(STEPS);
  assert.equal(states.length, LAST + 1);
  assert.equal(states[2].frames[0].variables, states[1].frames[0].variables);
});

test("the place is the last instruction's, also at the end", () => {
  assert.deepEqual(stateAt(STEPS, LAST).place.line, 4);
  assert.equal(stateAt(STEPS, LAST).place.on, false);
  assert.equal(stateAt(STEPS, LAST).place.stops, true);
  assert.equal(stateAt(STEPS, 0).place.line, 1);
});

test("the tape has the instructions around", () => {
  const shown = tape(STEPS, at("BINARY_OP +"), 1);
  assert.deepEqual(
    shown.map((row) => row.text),
    ["LOAD_FAST y", "BINARY_OP +", "STORE_FAST z"],
  );
});

test("the next node is jumped to, and after the last one there is none", () => {
  const first = nextNode(STEPS, 0);
  assert.equal(stateAt(STEPS, first).ops, 1);
  const second = nextNode(STEPS, first);
  assert.equal(stateAt(STEPS, second).ops, 2);
  assert.equal(nextNode(STEPS, second), null);
});

test("sentences say what became of an instruction, and what looking cost", () => {
  const said = (text) => narrate(STEPS, at(text) + 1, words);
  assert.match(said("LOAD_FAST x"), /^`x` goes on the stack\. It is lazy/);
  assert.match(said("BINARY_OP +"), /the graph gets `x \+ y`\. Looking at `x` costs 2 guards\.$/);
  assert.match(said("CALL 1"), /^`helper` is a Python function/);
  assert.match(said("RETURN_VALUE"), /^`helper` returns/);
  assert.match(said("CALL 0"), /is CPython’s to run: call of print\(\)\./);
  assert.match(narrate(STEPS, LAST, words), /ends at line 4.*a graph of 2 operators/);
});

test("the question has the truth among its answers", () => {
  const asked = question(STEPS, words);
  assert.equal(asked.answer, "2");
  assert.ok(asked.options.includes("2") && asked.options.length <= 4);
  assert.equal(question({ ...STEPS, captured: false }, words), null);
});

test("every beat has a sentence, in both languages", () => {
  for (const language of ["en", "zh"])
    for (let p = 0; p <= LAST; p += 0.5)
      assert.doesNotMatch(narrate(STEPS, p, tongue(language)), /undefined|\{|NaN/);
});
