import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  alternatives,
  budgetOf,
  chosen,
  clip,
  keyOf,
  layout,
  leftOf,
  marksOf,
  narrate,
  onPill,
  pathOf,
  percent,
  question,
  rightOf,
  size,
  within,
} from "../../widgets/static/save.js";
import { tongue } from "../../widgets/static/words.js";

const { wave: WAVE, layer: LAYER } = JSON.parse(
  readFileSync(new URL("./save.json", import.meta.url), "utf8"),
);
const words = tongue("en");
const DEFAULT = { partitioner: "default", budget: 1, forced: {} };
const MIN_CUT = { ...DEFAULT, partitioner: "min_cut" };
const names = (nodes) => nodes.map((node) => node.name);
const at = (trace, choice, answers = {}) => chosen(trace, answers, choice).cut;

test("the default saves what is read, the min-cut fewer bytes", () => {
  assert.deepEqual([at(WAVE, DEFAULT).bytes, at(WAVE, MIN_CUT).bytes], [64, 48]);
  assert.deepEqual(at(WAVE, MIN_CUT).again, ["mul"]);
  assert.equal(at(WAVE, { ...MIN_CUT, budget: 0 }).bytes, 32);
});

test("a budget takes the largest cut that keeps to it, as the partitioner does", () => {
  const { cuts } = WAVE.answers[""];
  assert.equal(within(cuts, 0.99), cuts[1]);
  for (const trace of [WAVE, LAYER])
    for (const cut of trace.answers[""].cuts)
      assert.equal(within(trace.answers[""].cuts, budgetOf(trace.answers[""].cuts, cut)), cut);
  assert.equal(budgetOf([cuts[0]], cuts[0]), 1);
});

test("a budget in percents allows no less than it did", () => {
  assert.deepEqual([0, 1 / 3, 0.34, 0.58, 0.999, 1].map(percent), [0, 34, 34, 58, 100, 100]);
});

test("a forced value has an answer of its own", () => {
  assert.equal(keyOf({ sin: "save", mul: "again" }), "mul:again,sin:save");
  const cut = at(WAVE, { ...MIN_CUT, forced: { tanh: "again" } });
  assert.deepEqual([cut.bytes, cut.again.length], [32, 4]);
});

test("what was not worked out waits for the kernel, and is taken from its answers", () => {
  const choice = { ...MIN_CUT, forced: { tanh: "again", mul: "save" } };
  assert.equal(chosen(WAVE, {}, choice).waiting, true);
  assert.match(narrate(WAVE, {}, choice, words), /the kernel is asked/);
  const answers = { "mul:save,tanh:again": { cuts: [WAVE.default] } };
  assert.equal(at(WAVE, choice, answers), WAVE.default);
});

test("what the partitioner refuses is told", () => {
  const choice = { ...MIN_CUT, forced: { primals_1: "again" } };
  const sentence = narrate(WAVE, {}, choice, words);
  assert.match(sentence, /refuses: 'x' cannot be computed again: there is nothing/);
});

test("each way of treating a value says what it comes to", () => {
  const found = alternatives(WAVE, {}, MIN_CUT, "tanh");
  assert.deepEqual([found.free.bytes, found.save.bytes, found.again.bytes], [48, 48, 32]);
  assert.equal(alternatives(WAVE, {}, MIN_CUT, "primals_1").again, null);
});

test("forward runs down, inputs before their first reader; backward runs up", () => {
  const left = names(leftOf(LAYER.nodes));
  assert.ok(left.indexOf("primals_2") < left.indexOf("matmul"));
  assert.ok(left.indexOf("primals_3") > left.indexOf("sin"));
  assert.ok(left.indexOf("le") > left.indexOf("relu"));
  assert.equal(rightOf(LAYER.nodes)[0].side, "tangent");
});

test("a place for every value, inside the picture", () => {
  for (const width of [300, 340, 640, 1000]) {
    const plan = layout(LAYER, width);
    for (const node of [...plan.left, ...plan.right]) {
      const y = plan.y.get(node.name);
      assert.ok(y >= plan.tall / 2 && y <= plan.height - plan.tall / 2);
    }
    assert.ok(plan.pill >= 56 && plan.x.right + plan.pill < plan.width);
    if (width >= 340) assert.ok(plan.width <= width, `${plan.width} in ${width}`);
  }
});

test("a pill says as much as it has room for: all, the text, the name, or some of the text", () => {
  const mul = { name: "mul", text: "add * 0.7071067811865476", side: "forward" };
  assert.equal(onPill(mul, 220), "mul = add * 0.7071067811865476");
  assert.equal(onPill(mul, 170), "add * 0.7071067811865476");
  assert.equal(onPill(mul, 60), "mul");
  assert.equal(onPill({ ...mul, name: "transpose_2" }, 44), "add *…");
  assert.equal(onPill({ name: "primals_1", text: "x", side: "input" }, 44), "x");
});

test("no edge leaves the picture", () => {
  for (const width of [340, 640]) {
    const plan = layout(LAYER, width);
    const { edges } = marksOf(LAYER, at(LAYER, MIN_CUT));
    for (const path of edges.map((edge) => pathOf(plan, edge)))
      if (path.includes("C"))
        for (const [n, number] of path.match(/-?[\d.]+/g).entries())
          assert.ok(n % 2 || (number >= 0 && number <= plan.width), path);
  }
});

test("marks: saved values are cells, what is computed again stands on both sides", () => {
  const { pills, cells, edges } = marksOf(WAVE, at(WAVE, MIN_CUT));
  assert.deepEqual(names(cells), ["primals_1", "primals_2", "tanh"]);
  const mul = pills.filter((each) => each.node.name === "mul");
  assert.deepEqual(mul.map((each) => each.place), ["left", "again"]);
  assert.ok(mul.every((each) => each.kind === "again"));
  const cos = pills.find((each) => each.node.name === "cos");
  assert.deepEqual([cos.place, cos.kind], ["again", "late"]);
  const places = new Set([
    ...pills.map((each) => `${each.place},${each.node.name}`),
    ...cells.map((node) => `cell,${node.name}`),
  ]);
  for (const { from, to } of edges)
    assert.ok(places.has(from.join()) && places.has(to.join()), `${from} -> ${to}`);
});

test("what only the backward reads moves to the forward when it is saved", () => {
  const { pills } = marksOf(LAYER, at(LAYER, MIN_CUT));
  const mask = pills.find((each) => each.node.name === "le");
  assert.equal(mask.place, at(LAYER, MIN_CUT).saved.includes("le") ? "left" : "again");
});

test("a path for every edge", () => {
  const plan = layout(LAYER, 700);
  for (const edge of marksOf(LAYER, at(LAYER, MIN_CUT)).edges)
    assert.match(pathOf(plan, edge), /^M[\d.]+ [\d.]+[CV][-\d. ]+$/);
});

test("sizes are short", () => {
  const sizes = [0, 16, 9999, 10240, 1.5 * 1024 ** 2, 123456789, 1024 ** 4];
  assert.deepEqual(sizes.map(size), ["0 B", "16 B", "9999 B", "10 KB", "1.5 MB", "118 MB", "1 TB"]);
  assert.equal(clip("tanh(add)", 1000), "tanh(add)");
  assert.equal(clip("transpose(weights)", 80), "transpose(…");
});

test("the question has the right answer among others, and gives nothing away", () => {
  const { options, answer } = question(WAVE);
  assert.deepEqual([options, answer], [["0 B", "32 B", "48 B", "64 B"], "48 B"]);
});

test("one sentence says what crosses and what it costs", () => {
  assert.equal(
    narrate(WAVE, {}, DEFAULT, words),
    "The default partition saves what the backward reads: 64 B. Nothing is computed twice.",
  );
  assert.equal(
    narrate(WAVE, {}, MIN_CUT, words),
    "At a budget of 100 %, 48 B cross the cut, 16 B fewer than by default. " +
      "`mul` is computed again: 4 operations.",
  );
  const tight = narrate(WAVE, {}, { ...MIN_CUT, budget: 0 }, words);
  assert.match(tight, /`mul`, `sin`, `add` and 1 more are computed again: 16 operations\.$/);
  const forced = narrate(WAVE, {}, { ...MIN_CUT, forced: { tanh: "again" } }, words);
  assert.match(forced, /own choice that is −16 B and \+12 operations\.$/);
  const same = narrate(WAVE, {}, { ...MIN_CUT, forced: { tanh: "save" } }, words);
  assert.match(same, /costs nothing/);
  assert.match(narrate(WAVE, {}, MIN_CUT, tongue("zh")), /^预算 100 % 时/);
});
