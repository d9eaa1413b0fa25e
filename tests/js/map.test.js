import assert from "node:assert/strict";
import test from "node:test";

import { layered } from "../../widgets/static/graph.js";
import {
  columnsOf,
  narrate,
  question,
  roundAt,
  roundsBeat,
  rowAt,
  rowsOf,
  stateAt,
  tintOf,
} from "../../widgets/static/map.js";
import { tongue } from "../../widgets/static/words.js";
import { cutMap } from "./fixtures.js";

const words = tongue("en");
const MAP = cutMap(1000);
const LAST = MAP.events.length;
const beat = (kind, nth = 0) =>
  MAP.events.map((e, k) => [e.kind, k]).filter(([k]) => k === kind)[nth][1];

test("a call, or several with equal inputs, and then the question", () => {
  const begin = (calls) => narrate({ ...MAP, calls }, 0, words);
  const call = MAP.calls[0];
  assert.match(begin([call]), /^`\w+` is called with `[^`]+`\. Something in it/);
  assert.match(begin([call, call]), /^`\w+` is called 2 times, with `[^`]+`\. Something in it/);
});

test("counts at the end are those of every round, though few have beats", () => {
  const { count, met } = stateAt(MAP, LAST);
  assert.deepEqual(count, { graphs: 3, regions: 1001, breaks: 1000 });
  assert.deepEqual(met, { 0: 1000 });
  assert.ok(LAST < 30);
});

test("nothing is known before the first beat, and each thing once it was met", () => {
  assert.deepEqual(stateAt(MAP, 0).known, []);
  assert.deepEqual(stateAt(MAP, beat("enter") + 1).known, ["A"]);
  assert.deepEqual(stateAt(MAP, beat("break") + 1).known, ["A", 0]);
  assert.deepEqual(stateAt(MAP, LAST).known, ["A", 0, "B", "C"]);
});

test("an effect shows only after the token has arrived", () => {
  const k = beat("break");
  assert.equal(stateAt(MAP, k + 0.5).count.breaks, 0);
  assert.equal(stateAt(MAP, k + 0.8).count.breaks, 1);
});

test("rounds are stepped through inside of their beat", () => {
  const k = beat("rounds");
  const before = stateAt(MAP, k).count;
  for (const round of [1, 2, 500, MAP.events[k].count]) {
    const st = stateAt(MAP, roundAt(MAP, k, round));
    assert.equal(st.round, round);
    assert.equal(st.count.breaks, before.breaks + round);
    assert.equal(st.count.regions, before.regions + round);
  }
  assert.equal(roundsBeat(MAP, k), -1);
  assert.equal(roundsBeat(MAP, k + 0.5), k);
  assert.equal(roundsBeat(MAP, k + 1), k);
  assert.equal(roundsBeat(MAP, k + 1.1), -1);
});

test("a round tells what differs in it", () => {
  const k = beat("rounds");
  assert.match(narrate(MAP, roundAt(MAP, k, 5), words), /^Round 6 of 999: .*`i = 6`/);
});

test("counters only ever grow, and back is the same as forward", () => {
  let last = { graphs: 0, regions: 0, breaks: 0 };
  for (let p = 0; p <= LAST; p += 0.125) {
    const { count } = stateAt(MAP, p);
    for (const name of Object.keys(count)) assert.ok(count[name] >= last[name], `${name} at ${p}`);
    last = count;
  }
  const once = stateAt(MAP, 7.3);
  stateAt(MAP, LAST);
  assert.deepEqual(stateAt(MAP, 7.3), once);
});

test("the trace is left alone", () => {
  const before = structuredClone(MAP);
  for (let p = 0; p <= LAST; p += 0.5) stateAt(MAP, p);
  assert.deepEqual(MAP, before);
});

test("what was handed over last is kept for its break", () => {
  const k = beat("break");
  assert.equal(stateAt(MAP, k + 1).handed[0].result, undefined);
  assert.equal(stateAt(MAP, k + 2).handed[0].result, "None");
});

test("regions that reach over the same lines stand beside each other", () => {
  assert.deepEqual(columnsOf(MAP, 0), { A: 0, B: 1, C: 2 });
});

test("a short function is shown whole, a callee under a heading of its own", () => {
  const rows = rowsOf(MAP);
  assert.deepEqual(
    rows.map((row) => [row.kind, row.line]),
    [...[1, 2, 3, 4, 5, 6].map((line) => ["line", line]), ["head", 20], ["line", 20], ["line", 21]],
  );
  assert.equal(rowAt(rows, 1, 21), 8);
});

test("a long function is folded around what matters, and unfolded on request", () => {
  const long = structuredClone(MAP);
  long.listings[0].lines.push(...Array.from({ length: 60 }, (_, n) => `    # ${n}`));
  const rows = rowsOf(long);
  const fold = rows.find((row) => row.kind === "fold");
  assert.ok(rows.length < 20 && fold.hidden.length > 50);
  assert.equal(rowAt(rows, 0, fold.hidden.at(-1)), rows.indexOf(fold));
  assert.equal(rowsOf(long, [0]).filter((row) => row.kind === "fold").length, 0);
});

test("the prediction offers the truth among beliefs, and none where nothing breaks", () => {
  const asked = question(MAP, words);
  assert.equal(asked.answer, "3");
  assert.ok(asked.options.includes("3") && asked.options.length === 4);
  assert.match(asked.beliefs["1000"], /not captured again/);
  assert.equal(question({ ...MAP, breaks: [], events: MAP.events.slice(0, 3) }, words), null);
});

test("the first sentence asks, the last one counts", () => {
  assert.match(narrate(MAP, 0, words), /How many graphs will be compiled\?$/);
  assert.match(narrate(MAP, LAST, words), /^3 graphs in 3 regions; 1 break, met 1000 times\./);
});

test("every beat has a sentence, in both languages", () => {
  for (const language of ["en", "zh"])
    for (let p = 0; p <= LAST; p += 0.5)
      assert.doesNotMatch(narrate(MAP, p, tongue(language)), /undefined|\{|NaN/);
});

test("a graph's rows follow its edges, and no two nodes share a place", () => {
  const at = layered(MAP.regions[0].nodes);
  for (const node of MAP.regions[0].nodes)
    for (const arg of node.args) assert.ok(at[arg].row < at[node.name].row);
  const places = Object.values(at).map(({ row, col }) => `${row}:${col}`);
  assert.equal(new Set(places).size, places.length);
});

test("regions of one picture have colours of their own, until there are no more", () => {
  const trace = { regions: [..."ABCDEFGHI"].map((id) => ({ id })) };
  const tints = trace.regions.map(({ id }) => tintOf(trace, id));
  assert.equal(new Set(tints.slice(0, 8)).size, 8);
  assert.equal(tints[8], tints[0]);
});
