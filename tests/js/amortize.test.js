import assert from "node:assert/strict";
import test from "node:test";

import {
  blocks,
  breakEven,
  chart,
  FIELDS,
  formula,
  MODES,
  narrate,
  nearest,
  places,
  plain,
  question,
  results,
  shown,
  time,
  valuesOf,
} from "../../widgets/static/amortize.js";
import { tongue } from "../../widgets/static/words.js";

/** As `widgets/_amortize.py` has them. */
const ARTICLE = {
  launches: { kernels: 10, compute: 80e-6, fused_kernels: 2, fused_compute: 70e-6, launch: 5e-6 },
  break_even: { compiling: 12, eager: 0.1, compiled: 0.07, steps: 100 },
  variants: {
    variants: 3,
    each: 4,
    static_step: 0.07,
    dynamic: 6,
    dynamic_step: 0.072,
    steps: 1000,
  },
  breaks: { breaks: 4, crossing: 20e-6, iterations: 1e6 },
};
const TRACE = { version: 1, function: "", figures: { article: ARTICLE } };
const words = tongue("en");
const at = (mode, moved = {}) => ({ ...ARTICLE[mode], ...moved });

test("130 us become 80: 1.625, and never more than 5", () => {
  const found = results("launches", ARTICLE.launches);
  assert.deepEqual([found.before, found.after], [130e-6, 80e-6]);
  assert.ok(Math.abs(found.speedup - 1.625) < 1e-12);
  assert.equal(found.limit, 5);
  const dear = results("launches", at("launches", { launch: 20e-6 }));
  assert.equal(dear.speedup.toFixed(3), "2.545");
});

test("12 s are back after 400 steps, and 100 steps leave 9 s", () => {
  assert.deepEqual(results("break_even", ARTICLE.break_even), { at: 400, ahead: -9 });
  assert.equal(breakEven(12, 0.07, 0.1), Infinity);
  assert.equal(breakEven(0, 0.1, 0.07), 0);
});

test("three variants cost 12 s, one for all 6, and 3,000 steps part them", () => {
  const found = results("variants", ARTICLE.variants);
  assert.deepEqual([found.total, found.at], [12, 3000]);
  assert.equal(found.ahead, -4);
});

test("four breaks: 80 us an iteration, 80 s in a million", () => {
  const found = results("breaks", ARTICLE.breaks);
  assert.deepEqual(found, { iteration: 80e-6, run: 80, regions: 5 });
});

test("every textbook figure is a place of its slider", () => {
  for (const mode of MODES) {
    assert.deepEqual(Object.keys(FIELDS[mode]).sort(), Object.keys(ARTICLE[mode]).sort());
    for (const [field, list] of Object.entries(FIELDS[mode]))
      assert.ok(list.includes(ARTICLE[mode][field]), `${mode}.${field}`);
  }
});

test("places have two digits, counts are whole, and the nearest one is found", () => {
  assert.deepEqual(places(1, 12, true), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.deepEqual(places(0.9, 1.2), [0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1,
    1.1, 1.2]);
  assert.ok(places(1, 1e8, true).every(Number.isInteger));
  assert.equal(nearest([1, 2, 4], 3.4), 2);
});

test("times and counts as they are said", () => {
  const said = [12, 0.07, 80e-6, 3e-9, 0, 7200, 200000, -9].map(time);
  assert.deepEqual(said, ["12 s", "70 ms", "80 us", "3 ns", "0 s", "2 h", "2.31 days", "-9 s"]);
  assert.deepEqual([1e6, 3, Infinity].map(plain), ["1,000,000", "3", "∞"]);
  assert.equal(shown("iterations", 1e6), "1,000,000");
  assert.equal(shown("launch", 5e-6), "5 us");
});

test("formulas have the numbers in them", () => {
  assert.equal(
    formula("launches", ARTICLE.launches),
    "(80 us + 10 × 5 us) / (70 us + 2 × 5 us) = 130 us / 80 us = 1.625×",
  );
  assert.equal(formula("break_even", ARTICLE.break_even), "12 s / (100 ms − 70 ms) = 400");
  assert.equal(formula("variants", ARTICLE.variants), "(3 × 4 s − 6 s) / (72 ms − 70 ms) = 3,000");
  assert.equal(formula("breaks", ARTICLE.breaks), "4 × 20 us = 80 us; 1,000,000 × 80 us = 80 s");
});

test("the sentence follows the outcome", () => {
  const say = (mode, moved) => narrate(mode, at(mode, moved), words);
  assert.match(say("launches"), /130 us become 80 us: 1\.625×/);
  assert.match(say("launches", { fused_compute: 2e-4 }), /slower/);
  assert.match(say("break_even"), /9 s behind; compiling has paid after 400/);
  assert.match(say("break_even", { steps: 500 }), /paid after 400 steps; after 500 you are 3 s ahead/);
  assert.match(say("break_even", { compiled: 0.1 }), /never pays/);
  assert.match(say("variants"), /one for all is 4 s ahead after 1,000 steps; from 3,000/);
  assert.match(say("variants", { steps: 4000 }), /lead from step 3,000 on, by 2 s after 4,000/);
  assert.match(say("variants", { dynamic_step: 0.07 }), /no slower/);
  assert.match(say("breaks", { breaks: 1 }), /^1 break, 2 regions/);
  assert.match(say("breaks", { breaks: 0 }), /^No break, one region/);
  assert.match(say("breaks"), /4 breaks, 5 regions: 80 us an iteration, 80 s in 1,000,000/);
});

test("a question has its answer among the options, and a belief for each other one", () => {
  for (const language of ["en", "zh"])
    for (const mode of MODES) {
      const asked = question(mode, tongue(language));
      assert.ok(asked.options.includes(asked.answer));
      assert.equal(new Set(asked.options).size, 4);
      for (const key of Object.keys(asked.beliefs)) assert.notEqual(key, asked.answer);
    }
});

test("the answers are what the sums come to", () => {
  const dear = results("launches", at("launches", { launch: 20e-6 }));
  assert.equal(question("launches", words).answer, `${dear.speedup.toFixed(3)}×`);
  assert.equal(plain(results("variants", ARTICLE.variants).at), question("variants", words).answer);
  assert.equal(time(results("breaks", ARTICLE.breaks).run), question("breaks", words).answer);
  const owed = results("break_even", ARTICLE.break_even).ahead;
  assert.equal(`−${time(-owed)}`, question("break_even", words).answer);
});

test("moved sliders stand over the figures, and unknown sources are the textbook", () => {
  const moved = { launches: { launch: 1e-5 } };
  assert.equal(valuesOf(TRACE, "article", "launches", moved).launch, 1e-5);
  assert.equal(valuesOf(TRACE, "article", "breaks", moved).breaks, 4);
  assert.deepEqual(valuesOf(TRACE, "measured", "breaks"), ARTICLE.breaks);
});

test("the chart reaches beyond the crossing, and its lines meet there", () => {
  for (const mode of ["break_even", "variants"]) {
    const { steps, most, lines, at: meet } = chart(mode, ARTICLE[mode]);
    assert.ok(steps > meet);
    const [a, b] = lines.map((line) => line.start + line.step * meet);
    assert.ok(Math.abs(a - b) < 1e-9);
    assert.ok(lines.every((line) => line.start + line.step * steps <= most));
  }
});

test("two steps that take nearly the same are drawn beyond the faster one", () => {
  const { lines, beyond } = chart("variants", ARTICLE.variants);
  assert.equal(beyond, 0.07);
  assert.deepEqual(lines.map((line) => Number(line.step.toFixed(9))), [0.002, 0]);
  assert.equal(chart("break_even", ARTICLE.break_even).beyond, 0);
});

test("blocks of a bar fill it, launches and computing in turn", () => {
  const found = blocks(10, 80, 5);
  assert.deepEqual(found.slice(0, 2).map((block) => block.kind), ["launch", "compute"]);
  assert.equal(found.length, 20);
  const end = found.at(-1);
  assert.ok(Math.abs(end.from + end.size - 1) < 1e-12);
});

test("both languages have the same words", () => {
  for (const mode of MODES)
    for (const language of ["en", "zh"])
      assert.ok(narrate(mode, ARTICLE[mode], tongue(language)).length > 10);
});
