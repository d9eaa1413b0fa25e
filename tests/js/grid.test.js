import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  chosen,
  fewest,
  narrate,
  question,
  stateAt,
  sumsOf,
  turnsOf,
} from "../../widgets/static/grid.js";
import { tongue } from "../../widgets/static/words.js";

const TRACES = JSON.parse(readFileSync(new URL("./grid.json", import.meta.url), "utf8"));
const words = tongue("en");
const kernel = (name) => TRACES[name].kernels[0];

test("the sums at the end are those of the watched block, which is the only one", () => {
  const { sectors, fewest: least, requests } = sumsOf(kernel("block")).at(-1);
  assert.deepEqual([requests, sectors, least], [6, 24, 24]);
  const traffic = kernel("block").traffic.reduce((sum, row) => sum + row.sectors, 0);
  assert.equal(traffic, sectors);
});

test("a request counts only after the value has arrived", () => {
  const k = kernel("block");
  assert.equal(stateAt(k, 0.5).requests, 0);
  assert.equal(stateAt(k, 0.5).event, k.events[0]);
  assert.deepEqual([stateAt(k, 0.7).requests, stateAt(k, 1).sectors], [1, 4]);
  assert.equal(stateAt(k, 99).end, true);
});

test("threads that lie apart have a sector each", () => {
  const read = kernel("apart").events.find((e) => e.array === "y");
  assert.deepEqual([read.parts.length, fewest(read)], [32, 4]);
  const at = kernel("apart").events.indexOf(read);
  assert.match(narrate(kernel("apart"), at + 1, words), /128 bytes in 32 sectors, where 4 would/);
});

test("a square that is turned costs no sector and no turn", () => {
  const { sectors, fewest: least, lost } = sumsOf(kernel("turned")).at(-1);
  assert.deepEqual([sectors, lost], [least, 0]);
  assert.ok(kernel("turned").events.some((e) => e.space === "shared" && e.kind === "read"));
});

test("banks: turns of a request, and what a conflict says", () => {
  const slots = kernel("rows").events.find((e) => e.space === "shared");
  assert.equal(turnsOf(slots), 1);
  const parts = slots.parts.map((_, n) => (n === 3 ? 4 : 0));
  const made = { ...kernel("rows"), events: [{ ...slots, parts }] };
  assert.match(narrate(made, 0.5, words), /the warp waits for 4 turns/);
  assert.equal(sumsOf(made).at(-1).lost, 3);
});

test("one address for all is one sector", () => {
  const [first] = kernel("block").events;
  const e = { ...first, parts: [4], of: Array(32).fill(0), gaps: [] };
  assert.match(narrate({ ...kernel("block"), events: [e] }, 0.5, words), /the same 4 bytes/);
});

test("the question has the truth among its answers, and a belief for the wrong ones", () => {
  const { options, answer, beliefs } = question(kernel("block"), words);
  assert.deepEqual([options, answer], [["1", "4", "8", "32"], "4"]);
  assert.deepEqual(Object.keys(beliefs), ["1", "32"]);
  const shared = kernel("rows").events.filter((e) => e.space === "shared");
  assert.equal(question({ ...kernel("rows"), events: shared }, words), null);
});

test("the last sentence has the sums, in both languages", () => {
  for (const language of ["en", "zh"]) {
    const speak = tongue(language);
    for (const name of Object.keys(TRACES)) {
      const k = chosen(TRACES[name], 5);
      for (let p = 0; p <= k.events.length; p++)
        assert.doesNotMatch(narrate(k, p, speak), /undefined|NaN|\{/);
    }
  }
  const all = kernel("apart");
  const said = narrate(all, all.events.length, words);
  const { sectors, fewest: least } = sumsOf(all).at(-1);
  assert.ok(said.includes(`In all ${sectors} sectors, where ${least} would do.`), said);
});
