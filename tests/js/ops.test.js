import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { EVALUATE, erf, evaluate, round, show, spell } from "../../widgets/static/ops.js";

const CASES = JSON.parse(readFileSync(new URL("./ops.json", import.meta.url), "utf8"));

/** Equal, or within a unit in the last place for functions a library computes. */
function agrees(got, want, { dtype, heavy }) {
  if (Object.is(got, want) || (got === 0 && want === 0)) return true;
  const unit = dtype === "float32" ? 2 ** -23 : 2 ** -49;
  return heavy && Math.abs(got - want) <= unit * Math.abs(want);
}

for (const row of CASES)
  test(`${row.op} as ${row.dtype} computes what Python computes`, () => {
    for (const call of row.calls) {
      const numbers = call.split(" ").map(Number);
      const want = numbers.pop();
      const got = evaluate(row.op, numbers, row.dtype);
      assert.ok(agrees(got, want, row), `${row.op}(${numbers}): ${got}, Python says ${want}`);
    }
  });

test("every primitive the fixture knows is here, and nothing else", () => {
  const known = new Set(CASES.map((row) => row.op));
  assert.deepEqual(
    Object.keys(EVALUATE).filter((op) => !known.has(op)),
    ["to_dtype"],
  );
});

test("an unknown primitive is an error, not a guess", () => {
  assert.throws(() => evaluate("frobnicate", [1], "float32"), /no such primitive: frobnicate/);
});

test("a store rounds to its dtype", () => {
  assert.equal(round("float32", 0.1), 0.10000000149011612);
  assert.equal(round("float64", 0.1), 0.1);
  assert.equal(round("int64", -2.9), -2);
  assert.equal(round("bool", 3), 1);
  assert.equal(evaluate("to_dtype", [2.7], "int32"), 2);
});

test("erf is good to the last places of a float64", () => {
  const known = { 0.5: 0.5204998778130465, 1: 0.8427007929497149, 2.5: 0.999593047982555, 7: 1 };
  for (const [x, want] of Object.entries(known)) {
    assert.ok(Math.abs(erf(Number(x)) - want) < 2e-15);
    assert.equal(erf(-x), -erf(Number(x)));
  }
});

test("numbers are shortened to their room, never silently wrong", () => {
  assert.equal(show(-2, 3), "−2");
  assert.equal(show(0.8414709848, 3), ".84");
  assert.equal(show(0.8414709848, 7), "0.8415");
  assert.equal(show(1234567, 7), "1234567");
  assert.equal(show(1234567, 5), "1.2e6");
  assert.equal(show(-1234.5, 3), "·");
  assert.equal(show(Infinity, 3), "inf");
  assert.equal(show(NaN, 3), "nan");
  assert.equal(show(1, 3, "bool"), "T");
});

test("a primitive reads as Python", () => {
  const words = (op, ...args) =>
    spell(
      op,
      args.map((a) => [a]),
      "float64",
    ).parts.join("");
  assert.equal(words("add", "a", "b"), "a + b");
  assert.equal(words("where", "c", "a", "b"), "a if c else b");
  assert.equal(words("maximum", "a", "b"), "maximum(a, b)");
  assert.equal(words("to_dtype", "a"), "float64(a)");
  assert.equal(words("neg", "a"), "-a");
});
