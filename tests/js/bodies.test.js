import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  MOVE,
  accessesOf,
  askOf,
  cellOf,
  chosen,
  lineOf,
  narrate,
  question,
  resultOf,
  stateAt,
  toldBy,
  totalOf,
} from "../../widgets/static/bodies.js";
import { tongue } from "../../widgets/static/words.js";

const { block: BLOCK, rows: ROWS } = JSON.parse(
  readFileSync(new URL("./bodies.json", import.meta.url), "utf8"),
);
const words = tongue("en");
const body = BLOCK.after[0];
const handler = (id, turn = 3) =>
  toldBy(
    body.handlers.find((each) => each.id === id),
    turn,
  );
const tell = (p, trace = BLOCK, turn = 3) => narrate(trace, trace.after[0], turn, p, words);

test("one beat is one question, and each handler is asked the whole body", () => {
  assert.equal(totalOf(body), 42);
  assert.deepEqual(stateAt(body, 0).done, [0, 0, 0, 0, 0, 0]);
  assert.equal(stateAt(body, 0).q, -1);
  const first = stateAt(body, 7);
  assert.deepEqual([first.h, first.q, first.done], [0, 6, [7, 0, 0, 0, 0, 0]]);
  const next = stateAt(body, 7.3);
  assert.deepEqual([next.h, next.q, next.asking], [1, 0, true]);
  assert.deepEqual(next.done, [7, 0, 0, 0, 0, 0]);
  assert.deepEqual(stateAt(body, 7 + MOVE).done, [7, 1, 0, 0, 0, 0]);
  const end = stateAt(body, 42);
  assert.deepEqual([end.h, end.q, end.end, end.done], [5, 6, true, [7, 7, 7, 7, 7, 7]]);
});

test("answers come in order, and back is forward reversed", () => {
  let before = -1;
  for (let p = 0; p <= 42; p += 0.25) {
    const sum = stateAt(body, p).done.reduce((a, b) => a + b);
    assert.ok(sum >= before && sum - before <= 1 + (before < 0));
    before = sum;
    assert.deepEqual(stateAt(body, p), stateAt(body, p));
  }
});

test("results are what was counted", () => {
  const results = ["show", "reads", "count", "interpret", "numba", "cuda"].map((id) => {
    const { value, noun } = resultOf(handler(id), 7, words);
    return `${value} ${noun}`.trim();
  });
  assert.deepEqual(results, ["7 lines", "3 places", "12 accesses", "6", "12 lines", "20 lines"]);
  assert.equal(resultOf(handler("count"), 2, words).value, 8);
  assert.equal(accessesOf(body), 12);
  assert.equal(accessesOf(ROWS.after[0]), 16);
  assert.deepEqual(BLOCK.before.map(accessesOf), [12, 8, 8]);
});

test("cells and lines are short", () => {
  const cells = (id) => handler(id).steps.map((step) => cellOf(handler(id), step, words));
  assert.deepEqual(cells("count"), ["+4 loads", "+4 loads", "·", "·", "·", "·", "+4 stores"]);
  assert.deepEqual(cells("reads").slice(0, 5), ["x[i0]", "bias[i0]", "operation", "operation", "·"]);
  assert.deepEqual(cells("interpret"), ["2", "1", "3", "3", "2", "6", "–"]);
  assert.equal(lineOf(handler("count").lines[0], words), "4 loads: x");
  assert.equal(lineOf(handler("interpret").lines[2], words), "2 + 1 = 3");
});

test("the interpreter tells one turn of the loop", () => {
  assert.equal(handler("interpret", 0).at, "i0 = 0");
  assert.equal(resultOf(handler("interpret", 0), 7, words).value, "0");
  assert.equal(resultOf(handler("interpret", 2), 7, words).value, "4");
  assert.equal(handler("interpret", 99).at, "i0 = 3");
});

test("each sentence says who is asked, what, and what it did", () => {
  assert.equal(
    tell(1),
    "`ShowNest` is asked to load `x` at `i0`. It writes `tmp0 = load x[i0]`, and answers with the " +
      "name `tmp0`.",
  );
  assert.match(tell(8), /^`Reads` is asked to load `x` at `i0`\. It keeps the place `x\[i0\]`/);
  assert.match(tell(12), /`Reads` is asked to give the constant `2` as `float32`\. It keeps nothing/);
  assert.match(tell(15), /`Count`.*It adds 4 loads: `x`\. The body ran once, the loop has 4 turns\.$/);
  assert.match(tell(17), /`Count` is asked to compute `add\(v0, v1\)`\. It adds nothing: that is no/);
  assert.match(tell(28), /`Interpreter` is asked to store `v5` in `mul` at `i0`, with `i0 = 3`\./);
  assert.match(tell(42), /^The same 7 questions each time: 7 lines of text, 3 places, 12 accesses/);
  assert.match(tell(4, ROWS), /`ShowNest` is asked to load `amax` at `i0`\. It has that in hand/);
  const chinese = tongue("zh");
  for (const trace of [BLOCK, ROWS])
    for (let p = 0; p <= totalOf(trace.after[0]); p++)
      assert.match(narrate(trace, trace.after[0], 0, p, chinese), /[\u4e00-\u9fff]/);
});

test("every kind of question can be told", () => {
  const told = (word, ...args) => askOf({ word, args }, words);
  assert.equal(told("reduce", '"sum"', "i0", '"sum"', "v5"), "take `v5` into the sum of `sum` at `i0`");
  assert.equal(told("to_dtype", "v0", "float64"), "turn `v0` into `float64`");
  assert.equal(told("index", "i0", "int64"), "give the index `i0` as `int64`");
  assert.equal(told("exp", "v1"), "compute `exp(v1)`");
});

test("the question has the right answer among beliefs, and gives nothing away", () => {
  const { options, answer, beliefs } = question(body, words);
  assert.deepEqual([options, answer], [["0", "1", "4", "12"], "1"]);
  assert.deepEqual(Object.keys(beliefs), ["0", "4", "12"]);
});

test("a step without a body leads to one that has one", () => {
  const trace = { after: [{ title: "matmul", extern: "BLAS" }, body] };
  assert.equal(chosen(trace, "after", 0), body);
  assert.equal(chosen(trace, "after", 9), body);
});
