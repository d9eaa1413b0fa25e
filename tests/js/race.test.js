import assert from "node:assert/strict";
import test from "node:test";

import { narrate, prepare } from "../../widgets/static/access_race.js";
import { listing, wires } from "../../widgets/static/loops.js";
import {
  formula,
  question,
  registers,
  run,
  savedSteps,
  sizeOf,
  stateAt,
  valueIn,
} from "../../widgets/static/race.js";
import { tongue } from "../../widgets/static/words.js";
import { BLOCK, SCALE } from "./fixtures.js";

const words = tongue("en");
const steps = (trace, n) => trace.lanes.map((lane) => run(trace, lane, n).steps);
const text = (line) => line.map((piece) => piece.t ?? piece).join("");

test("at the end an array shows all that it was left with", () => {
  const memory = { y: [-1, 2] };
  const step = { buf: "y", cell: 0, kind: "write", value: -1 };
  const at = (role, p) =>
    [0, 1].map((i) => valueIn(stateAt([step], p), memory, { name: "y", role }, i));
  assert.deepEqual(at("output", 0), [undefined, undefined]);
  assert.deepEqual(at("output", 1), [-1, 2]);
  assert.deepEqual(at("intermediate", 1), [-1, 2]);
  assert.deepEqual(at("input", 0), [-1, 2]);
});

test("block makes 7N accesses in separate passes and 3N fused, for every N of the slider", () => {
  for (let n = 1; n <= 16; n++) {
    const [separate, fused] = steps(BLOCK, n);
    assert.equal(separate.length, 7 * n);
    assert.equal(fused.length, 3 * n);
  }
});

test("both lanes leave the same outputs, and they are the right ones", () => {
  for (let n = 1; n <= 16; n++) assert.equal(prepare(BLOCK, n).same, true);
  assert.deepEqual(run(BLOCK, BLOCK.lanes[0], 4).memory.y, [0, 0, 4, 6]);
  assert.deepEqual(run(BLOCK, BLOCK.lanes[1], 4).memory.y, [0, 0, 4, 6]);
});

test("a difference between the lanes is told, not hidden", () => {
  const broken = structuredClone(BLOCK);
  broken.lanes[1].passes[0].body[4].value = 3;
  const race = prepare(broken, 4);
  assert.equal(race.same, false);
  assert.match(narrate(broken, race, 28, words), /but the outputs differ/);
});

test("values are rounded to float32 where they are stored", () => {
  const { memory } = run(SCALE, SCALE.lanes[1], 1);
  assert.equal(memory.y[0], Math.fround(9 * Math.fround(0.1)));
});

test("an input of one element is read once, before the loop of each pass", () => {
  const [separate, fused] = steps(SCALE, 3);
  assert.deepEqual(
    separate.filter((s) => s.buf === "s").map((s) => [s.i, s.cell]),
    [[-1, 0]],
  );
  assert.equal(separate.length, 5 * 3 + 1);
  assert.equal(fused.length, 3 * 3 + 1);
  assert.deepEqual(SCALE.lanes.map(formula), ["5N + 1", "3N + 1"]);
  assert.deepEqual(BLOCK.lanes.map(formula), ["7N", "3N"]);
  const later = registers(stateAt(fused, 5));
  assert.deepEqual(Object.keys(later).sort(), ["tmp0", "tmp2"]);
});

test("counters only ever grow, by one a beat", () => {
  const [separate] = steps(BLOCK, 4);
  let last = -1;
  for (let p = 0; p <= 28; p += 0.25) {
    const { count } = stateAt(separate, p);
    assert.ok(count === last || count === last + 1);
    last = count;
  }
  assert.equal(last, 28);
});

test("the same p gives the same state, whatever came before", () => {
  const [separate] = steps(BLOCK, 4);
  const once = structuredClone(stateAt(separate, 13.4));
  for (const p of [28, 0, 27.9, 2.2]) stateAt(separate, p);
  assert.deepEqual(stateAt(separate, 13.4), once);
});

test("marks in the cells add up to the counter", () => {
  const [separate] = steps(BLOCK, 4);
  for (const p of [0, 5, 17.5, 28]) {
    const { marks, count } = stateAt(separate, p);
    assert.equal(Object.values(marks).flat().length, count);
  }
});

test("registers fill as the body runs, and are empty for the next element", () => {
  const [, fused] = steps(BLOCK, 4);
  assert.deepEqual(registers(stateAt(fused, 0)), { tmp4: 2 }); // a constant, there before the loop
  assert.deepEqual(registers(stateAt(fused, 2)), { tmp0: -2, tmp1: 1, tmp4: 2 });
  const computed = registers(stateAt(fused, 2.5));
  assert.deepEqual(
    [computed.tmp2, computed.tmp3, computed.tmp5].map((v) => v + 0),
    [-1, 0, 0],
  );
  assert.deepEqual(registers(stateAt(fused, 3)), { tmp4: 2 });
});

test("what fusion saved is the intermediates' traffic, or second reads of an input", () => {
  const [separate, fused] = steps(BLOCK, 4);
  const gone = separate.filter((_, j) => savedSteps(separate, fused)[j]);
  assert.equal(gone.length, 16);
  assert.deepEqual([...new Set(gone.map((s) => s.buf))], ["t1", "t2"]);
  const race = prepare(SCALE, 2);
  assert.deepEqual(race.inputs, ["x", "squares"]);
  assert.deepEqual(race.arrays, []);
});

test("the question offers the truth and three beliefs, each with its reply", () => {
  const { options, answer, beliefs } = question(BLOCK, 4, words);
  assert.deepEqual(options, ["28", "12", "8", "4"]);
  assert.equal(answer, "12");
  assert.deepEqual(Object.keys(beliefs).sort(), ["28", "4", "8"]);
  assert.equal(question(BLOCK, 8, words).answer, "24");
});

test("no answer stands in the opening sentence, and the last one has both counts", () => {
  const race = prepare(BLOCK, 4);
  assert.doesNotMatch(narrate(BLOCK, race, 0, words), /12/);
  assert.equal(
    narrate(BLOCK, race, 28, words),
    "28 accesses against 12, same output: 7N against 3N. The 16 that went away are the writes " +
      "and reads of `t1` and `t2`; fused, those values stay in registers.",
  );
});

test("every beat has a sentence, in both languages", () => {
  for (const trace of [BLOCK, SCALE])
    for (const language of ["en", "zh"]) {
      const race = prepare(trace, 4);
      const total = race.runs[0].steps.length;
      for (let p = 0; p <= total; p += 0.5)
        assert.doesNotMatch(narrate(trace, race, p, tongue(language)), /undefined|\{|NaN/);
    }
});

test("a separate pass reads as the user's line, the fused one statement by statement", () => {
  assert.deepEqual(listing(BLOCK, BLOCK.lanes[0]).lines.map(text), [
    "for i in range(N):",
    "  t1[i] = x[i] + bias[i]",
    "for i in range(N):",
    "  t2[i] = relu(t1[i])",
    "for i in range(N):",
    "  y[i] = t2[i] * 2",
  ]);
  const fused = listing(BLOCK, BLOCK.lanes[1]);
  assert.deepEqual(fused.lines.map(text), [
    "for i in range(N):",
    "  tmp0 = x[i]",
    "  tmp1 = bias[i]",
    "  tmp2 = tmp0 + tmp1",
    "  tmp3 = relu(tmp2)",
    "  tmp5 = tmp3 * 2",
    "  y[i] = tmp5",
  ]);
  assert.equal(fused.at[0].at(-1), 7);
});

test("what is read once stands before the loop", () => {
  assert.deepEqual(listing(SCALE, SCALE.lanes[1]).lines.map(text), [
    "tmp2 = s[0]",
    "for i in range(N):",
    "  tmp0 = x[i]",
    "  tmp1 = tmp0 * tmp0",
    "  squares[i] = tmp1",
    "  tmp3 = tmp1 * tmp2",
    "  y[i] = tmp3",
  ]);
});

test("registers stand in columns by depth, and no two share a place", () => {
  const graph = wires(BLOCK.lanes[1].passes[0].body);
  assert.deepEqual(graph.at, {
    tmp0: [0, 0],
    tmp1: [0, 1],
    tmp2: [1, 0],
    tmp3: [2, 0],
    tmp5: [3, 0],
  });
  assert.equal(graph.columns, 4);
  assert.equal(new Set(Object.values(graph.at).map(String)).size, 5);
});

const LAYER = {
  fixed: true,
  function: "layer",
  buffers: [
    { name: "x", role: "input", dtype: "float32", size: 2, values: [1, 2] },
    { name: "t1", role: "intermediate", dtype: "float32", size: 2 },
    { name: "y", role: "output", dtype: "float32", size: 1 },
  ],
  lanes: ["separate", "fused"].map((id) => ({
    id,
    memory: { x: [1, 2], t1: [2, 4], y: ["Infinity"] },
    passes: [
      { name: "matmul", body: [], extern: true },
      {
        name: "sum",
        body: [
          { op: "load", reg: "v0", buf: "t1", index: "i0", dtype: "float32", depth: 1, heads: ["for i0 in range(2):"] },
          { op: "const", reg: "v1", value: 3, dtype: "float32", depth: 1 },
          { op: "mul", reg: "v2", args: ["v0", "v1"], dtype: "float32", depth: 1 },
          { op: "fold", kind: "sum", reg: "y", buf: "y", index: "0", args: ["v2"], dtype: "float32", depth: 1 },
        ],
      },
    ],
    steps: [
      { pass: 1, i: [0, 0], where: "i0 = 0", cell: 0, at: 0, kind: "read", buf: "t1", reg: "v0", value: 2, fresh: [], base: {}, regs: { v0: 2 } },
      { pass: 1, i: [0, 1], where: "i0 = 1", cell: 0, at: 3, kind: "write", buf: "y", reg: "y", value: "Infinity", fresh: [{ reg: "v2", at: 2 }], base: {}, regs: { y: "Infinity" } },
    ],
  })),
};

test("a plan that has been run is taken as it is, whatever n is", () => {
  const { steps: all, memory } = run(LAYER, LAYER.lanes[0], 7);
  assert.equal(all.length, 2);
  assert.deepEqual(memory, { x: [1, 2], t1: [2, 4], y: [Infinity] });
  assert.deepEqual(LAYER.buffers.map((buffer) => sizeOf(buffer, 7)), [2, 2, 1]);
  assert.equal(formula(LAYER.lanes[0]), "");
  assert.equal(question(LAYER, 2, words).answer, "2");
  const race = prepare(LAYER, 2);
  assert.equal(race.same, true);
  assert.match(narrate(LAYER, race, 0, words), /^Same function, same inputs\. The separate passes make 2/);
  assert.match(narrate(LAYER, race, 2, words), /^2 accesses against 2, same output\. Nothing was/);
});

test("its statements stand in their loops, and calls are lines of their own", () => {
  const { lines, at } = listing(LAYER, LAYER.lanes[0]);
  assert.deepEqual(lines.map(text), [
    "matmul(…)",
    "for i0 in range(2):",
    "  v0 = t1[i0]",
    "  v2 = v0 * 3",
    "  y = sum(y, v2)",
  ]);
  assert.deepEqual(at, [[], [3, 3, 4, 5]]);
});
