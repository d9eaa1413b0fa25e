import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  BEATS,
  PLANS,
  modelled,
  narrate,
  progress,
  question,
  rowsOf,
  settled,
  sizesOf,
  timeAt,
} from "../../widgets/static/launches.js";
import { stepOf, waits } from "../../widgets/static/launches_picture.js";
import { tongue } from "../../widgets/static/words.js";

const FIXTURE = JSON.parse(readFileSync(new URL("./launches.json", import.meta.url), "utf8"));
const CHAIN = FIXTURE.chain.trace;
const words = tongue("en");
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} ${b}`);
const model = (choice) => rowsOf(CHAIN, { source: "model", ...choice });
const rowOf = (shown, id) => shown.rows.find((row) => row.id === id);

/** The chain as if it had been measured: eager mode's launches take 3 us, its kernels 1. */
function measured(refused) {
  const launched = { host: [[0, 3e-6], [3e-6, 6e-6]], device: [[3e-6, 4e-6], [6e-6, 7e-6]],
    names: ["add", "mul"] };
  const one = { host: [[0, 2e-6]], device: [[2e-6, 4e-6]], names: ["add_mul"] };
  const plans = { eager: launched, eager_replayed: one, compiled: one, compiled_replayed: one };
  if (refused) plans.eager_replayed = { refused };
  const sizes = [{ elements: 1024, plans }, { elements: 65536, plans }];
  return { ...CHAIN, card: "a card", measured: [sizes, sizes] };
}

test("the view's model is that of labcore/measure/lanes.py", () => {
  for (const { trace, lanes } of Object.values(FIXTURE))
    trace.variants.forEach((variant, v) => {
      for (const { grown, rows } of lanes[v])
        for (const [plan, host, device, end] of rows) {
          const kernels = plan.startsWith("eager") ? variant.eager : variant.compiled;
          const found = modelled(plan, kernels, trace.figures, grown);
          assert.equal(found.host.length, host.length);
          found.host.flat().forEach((at, k) => near(at, host.flat()[k]));
          found.device.flat().forEach((at, k) => near(at, device.flat()[k]));
          near(Math.max(...found.host.flat(), ...found.device.flat()), end);
        }
    });
});

test("fusing removes kernels, replaying removes launches", () => {
  const shown = model({ variant: 1 });
  const counts = shown.rows.map(({ host, device }) => [host.length, device.length]);
  assert.deepEqual(counts, [[12, 12], [1, 12], [1, 1], [1, 1]]);
  assert.deepEqual(shown.rows.map(({ id }) => id), PLANS);
});

test("small tensors: the card waits between launches; large ones: it never does", () => {
  const small = rowOf(model({ variant: 1 }), "eager");
  assert.equal(waits(small).length, 12);
  assert.ok(small.busy < 0.2);
  const large = model({ variant: 1, size: 99 });
  assert.equal(waits(rowOf(large, "eager")).length, 1);
  assert.ok(rowOf(large, "eager").busy > 0.99);
  assert.ok(rowOf(large, "eager_replayed").end > 0.99 * rowOf(large, "eager").end);
  assert.ok(rowOf(large, "compiled").end < 0.1 * rowOf(large, "eager").end);
});

test("an operator of several kernels has one price and more launches", () => {
  const { trace } = FIXTURE.columns;
  const { host } = rowOf(rowsOf(trace, {}), "eager");
  const long = host.map(([from, to]) => to - from);
  const first = trace.variants[0].eager.map((kernel) => kernel.first);
  assert.ok(first.includes(false));
  long.forEach((each, k) =>
    near(each, first[k] ? trace.figures.operator : trace.figures.launch));
});

test("nothing computes before it is launched, or two at a time", () => {
  for (const size of [0, 3, 6]) {
    const { host, device } = rowOf(model({ variant: 1, size }), "eager");
    device.forEach(([from], k) => {
      assert.ok(from >= host[k][1] - 1e-12);
      if (k) assert.ok(from >= device[k - 1][1] - 1e-12);
    });
  }
});

test("progress: launched, ended, what runs", () => {
  const row = rowsOf(measured(), {}).rows[0];
  assert.deepEqual(progress(row, 0), { launched: 0, ended: 0, on: -1, state: "waits" });
  assert.deepEqual(progress(row, 3.5e-6), { launched: 1, ended: 0, on: 0, state: "busy" });
  assert.deepEqual(progress(row, 5e-6), { launched: 1, ended: 1, on: -1, state: "waits" });
  assert.equal(progress(row, 7e-6).state, "done");
});

test("time goes evenly from beat to beat", () => {
  const shown = model({});
  near(timeAt(shown, 0), 0);
  near(timeAt(shown, BEATS / 2), shown.most / 2);
  near(timeAt(shown, BEATS), shown.most);
});

test("sizes: those that were measured, or the recorded one and what it grows to", () => {
  assert.deepEqual(sizesOf(measured(), { variant: 0, source: "measured" }), [1024, 65536]);
  const grown = sizesOf(CHAIN, { variant: 0, source: "model" });
  assert.deepEqual([grown[0], grown[1], grown.at(-1)], [4096, 16384, 2 ** 28]);
});

test("a choice that is not there is the nearest one", () => {
  assert.deepEqual(settled(CHAIN, { variant: 9, size: 99, source: "measured" }),
    { variant: 1, source: "model", size: 8 });
  assert.deepEqual(settled(measured(), { size: 9 }), { variant: 0, source: "measured", size: 1 });
});

test("what was not replayed says why, and nobody counts it", () => {
  const shown = rowsOf(measured("argsort runs on the host"), {});
  assert.equal(shown.rows[1].refused, "argsort runs on the host");
  assert.doesNotMatch(narrate(shown, BEATS, words), /replaying alone/);
  for (let p = 0; p <= BEATS; p += 1)
    assert.doesNotMatch(narrate(shown, p, words), /undefined|NaN/);
});

test("the last sentence has the sums, and who waits for whom", () => {
  const small = narrate(model({ variant: 1 }), BEATS, words);
  assert.match(small, /^Eager mode takes 121 us, of which the card computes 12 us;/);
  assert.match(small, /compiling alone is 10\.6× as fast, replaying alone 8\.07×, both 12\.1×\./);
  assert.match(small, /The card waits for the CPU/);
  assert.match(narrate(model({ variant: 1, size: 8 }), BEATS, words), /The CPU waits for the card/);
});

test("on the way only those are told that are not done", () => {
  const shown = model({ variant: 1 });
  assert.match(narrate(shown, 1, words), /compiled, replayed is about to launch, the card waits/);
  assert.match(
    narrate(shown, 12, words),
    /^60\.5 us: eager has made 6 of 12 launches, the card runs `mul`; 3 are done\.$/,
  );
});

test("the question has the truth among its answers, at every size", () => {
  const answers = new Set();
  for (const size of sizesOf(CHAIN, { variant: 1, source: "model" }).keys()) {
    const { options, answer, beliefs } = question(model({ variant: 1, size }), words);
    assert.ok(options.includes(answer) && !(answer in beliefs));
    answers.add(answer);
  }
  assert.ok(answers.size >= 2);
});

test("both languages say everything", () => {
  for (const language of ["en", "zh"]) {
    const speak = tongue(language);
    for (const choice of [{}, { variant: 1, size: 4 }, { size: 8 }])
      for (let p = 0; p <= BEATS; p += 0.5)
        assert.doesNotMatch(narrate(model(choice), p, speak), /undefined|NaN|\{/);
  }
});

test("ticks are 1, 2 or 5 of a power of ten", () => {
  assert.deepEqual([1.21e-4, 6e-3, 1e-5].map((most) => Number(stepOf(most, 6).toPrecision(3))),
    [5e-5, 1e-3, 2e-6]);
});
