import assert from "node:assert/strict";
import test from "node:test";

import { parseSizes, playOf } from "../../widgets/static/theater_settings.js";

test("sizes are read as they may be typed", () => {
  assert.deepEqual(parseSizes("4, 4, 8, 4"), [4, 4, 8, 4]);
  assert.deepEqual(parseSizes(" 0 1;2,,4096 "), [0, 1, 2, 4096]);
});

test("what is no size is refused", () => {
  for (const typed of ["", " , ", "-1", "4.5", "four", "4097", "1e3", Array(17).fill(4).join()])
    assert.equal(parseSizes(typed), null, typed);
});

test("the switch picks a play that is there; what was compiled elsewhere has one", () => {
  const model = (traits) => ({ get: (name) => traits[name] });
  const plays = { static: "s", automatic: "a", dynamic: "d" };
  for (const [dynamic, name, play] of [
    [false, "static", "s"],
    [null, "automatic", "a"],
    [true, "dynamic", "d"],
  ])
    assert.deepEqual(playOf(model({ dynamic, trace: { plays } })), { name, play });
  const own = model({ dynamic: false, trace: { plays: { own: "o" } } });
  assert.deepEqual(playOf(own), { name: "own", play: "o" });
});
