import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  chosen,
  facts,
  instruction,
  levels,
  mainSection,
  nameOf,
  opening,
  order,
  question,
  roleOf,
  runs,
  stateAt,
  tell,
  way,
} from "../../widgets/static/lens.js";
import { WORDS, tongue } from "../../widgets/static/words.js";

const { traces, machines: STORED } = JSON.parse(
  readFileSync(new URL("./lens.json", import.meta.url), "utf8"),
);
const { block: BLOCK, layer: LAYER } = traces;
const words = tongue("en");
const KERNEL = chosen(BLOCK, 0);
const OPS = order(KERNEL, "run");
const id = (name) => OPS.find((op) => nameOf(op) === name).id;

/** A loop as LLVM makes it for registers of 256 bits, so that tests do not depend on a processor. */
const section = (more) => ({
  body: true,
  loop: true,
  turn: 64,
  lanes: 8,
  bits: 256,
  count: 43,
  each: { load: 2, store: 1, fma: 0, other: 3, constant: 0 },
  rows: [],
  ...more,
});
const row = (text, op, kin, more) => ({
  text, op, kin, times: 8, lanes: 8, access: "", line: 9, ...more,
});
const MACHINE = {
  same: true,
  known: true,
  instructions: 45,
  sections: [
    section({
      rows: [
        row("vmovups ymm1, ymmword ptr [rdx]", "move", [id("load x")], { access: "load" }),
        row("vaddps ymm1, ymm1, ymmword ptr [rcx]", "add", [id("add")], { access: "load" }),
        row("vmaxps ymm1, ymm0, ymm1", "maximum", [id("relu")]),
        row("vaddps ymm1, ymm1, ymm1", "add", [id("mul")]),
        row("jne .LBB0_1", "jump", [], { times: 1, lanes: 0, line: 6 }),
      ],
    }),
    section({
      body: false, loop: false, turn: 0, lanes: 0, bits: 0, count: 2,
      rows: [row("ret", "jump", [], { times: 1, lanes: 0, line: 0 })],
    }),
  ],
};
const WITH = chosen(BLOCK, 0, { 0: { run: MACHINE } });

test("one beat is one operation, in the order of the kernel", () => {
  const names = ["load x", "load bias", "add", "relu", "mul", "store mul"];
  assert.deepEqual(OPS.map(nameOf), names);
  assert.equal(stateAt(OPS, 0).op, null);
  assert.equal(nameOf(stateAt(OPS, 1).op), "load x");
  assert.equal(nameOf(stateAt(OPS, 6).op), "store mul");
  assert.equal(nameOf(stateAt(OPS, 9).op), "store mul");
});

test("the ribbon grows within a beat and rests", () => {
  assert.ok(Math.abs(stateAt(OPS, 2.3).grown - 0.5) < 1e-9);
  assert.equal(stateAt(OPS, 2.6).grown, 1);
  assert.equal(stateAt(OPS, 3).grown, 1);
  let before = -1;
  for (let p = 0; p <= 6; p += 0.05) {
    const st = stateAt(OPS, p);
    assert.ok(st.at >= before && st.grown >= 0 && st.grown <= 1);
    before = st.at;
    assert.deepEqual(st, stateAt(OPS, p));
  }
});

test("each operation lights a line on every level that is printed", () => {
  for (const form of ["run", "plain"])
    for (const op of order(KERNEL, form))
      for (const level of levels(KERNEL, form).filter(({ machine }) => !machine)) {
        const lit = level.rows.filter((each) => roleOf(each, [op.id], KERNEL));
        assert.ok(lit.length, `${nameOf(op)} on ${level.id}`);
      }
});

test("a line that is kin to several is lit as the one that computes", () => {
  const [line] = KERNEL.stages.source.filter(({ kin }) => kin.length);
  assert.equal(roleOf(line, line.kin, KERNEL), "live");
  assert.equal(roleOf(line, [id("load x")], KERNEL), "read");
  assert.equal(roleOf(line, [id("store mul")], KERNEL), "write");
  assert.equal(roleOf(line, [], KERNEL), null);
});

test("neighbours share an end of a ribbon", () => {
  assert.deepEqual(runs([1, 2, 3, 7, 9, 10]), [[1, 3], [7, 7], [9, 10]]);
  assert.deepEqual(runs([]), []);
});

test("instructions in words", () => {
  const [load, add, larger] = MACHINE.sections[0].rows;
  assert.equal(
    instruction(load, words),
    "`vmovups` moves, reading an array, 8 numbers at once, ×8",
  );
  assert.equal(
    instruction(add, words), "`vaddps` adds, reading an array, 8 numbers at once, ×8",
  );
  assert.equal(instruction(larger, words), "`vmaxps` takes the larger, 8 numbers at once, ×8");
  const one = { ...larger, lanes: 1, times: 1 };
  assert.equal(instruction(one, words), "`vmaxps` takes the larger, one number");
});

test("what a loop costs, for each number", () => {
  assert.equal(
    facts(MACHINE.sections[0], words),
    "loop: 64 numbers a turn, 8 an instruction, in registers of 256 bits. " +
      "For each number: 2 loads, 1 store, 3 operations.",
  );
  assert.equal(facts(MACHINE.sections[1], words), "no loop left");
  const single = section({ turn: 1, lanes: 1, bits: 0, each: { load: 1, store: 0.5, fma: 2 } });
  assert.equal(
    facts(single, words),
    "loop: one number a turn, one an instruction. For each number: 1 load, 0.5 stores, " +
      "2 fused multiply-adds.",
  );
});

test("the way of an operation ends in the machine, or says that it does not", () => {
  const told = (name) => way(WITH, "run", OPS.find((op) => nameOf(op) === name), words);
  assert.match(told("mul"), /^Your `\* 2` in line \d: `mul` becomes `tmp4 = tmp3 \* float32\(2\)`\./);
  assert.match(told("mul"), /In the machine: `vaddps` adds, 8 numbers at once, ×8\.$/);
  assert.match(told("load bias"), /`add` reads `tmp1 = bias\[i0\]`\. No instruction of its own/);
  assert.match(told("store mul"), /`mul` is stored: `mul\[i0\] = tmp4`\./);
});

test("what is pointed at is told", () => {
  const [mine, frame] = [MACHINE.sections[0].rows[3], MACHINE.sections[0].rows[4]];
  const at = (each) => tell(WITH, "run", { ids: each.kin, row: each }, words);
  assert.match(at(mine), /^`vaddps` adds, 8 numbers at once, ×8\. Your `\* 2` in line/);
  assert.match(at(frame), /^`jne` jumps\. It belongs to the loop or the function as a whole/);
  assert.match(at(MACHINE.sections[1].rows[0]), /LLVM made it of several lines/);
  const [line] = KERNEL.stages.source.filter(({ kin }) => kin.length);
  assert.match(at(line), /6 operations come from there\.$/);
  assert.equal(tell(WITH, "run", { ids: [], row: { text: "def f():", kin: [] } }, words), "");
});

test("several kernels: phases, the library's call, what another one computes", () => {
  const told = LAYER.kernels.map(({ phase, name }) => `${phase} ${name.split("_0")[0]}`);
  assert.equal(told[0], "forward matmul");
  assert.ok(told.some((name) => name.startsWith("backward numba_fused")));
  const call = LAYER.kernels[0];
  const [op] = order(call, "run");
  assert.match(way(call, "run", op, words), /^Your `x @ w` in line 2: one call of `matmul`/);
  assert.match(opening(LAYER, call, "run", words), /hands this step to a library/);
  assert.equal(question(call, "run", words), null);
  const other = call.stages.graph.find(({ elsewhere }) => elsewhere);
  assert.match(tell(call, "run", { ids: [], row: other }, words), /another kernel or a library/);
});

test("the prediction asks how wide an instruction is", () => {
  const asked = question(WITH, "run", words);
  assert.deepEqual(asked.options, ["1", "4", "8", "16"]);
  assert.equal(asked.answer, "8");
  assert.match(asked.beliefs[1], /vectors of 8/);
  assert.match(asked.beliefs[16], /256 bits at most here, and 8/);
  assert.ok(!("8" in asked.beliefs));
  assert.match(opening(BLOCK, WITH, "run", words), /How many numbers does one instruction/);
  const bare = chosen(BLOCK, 0, { 0: { run: { none: "no numba" } } });
  assert.equal(question(bare, "run", words), null);
  assert.ok(!opening(BLOCK, bare, "run", words).includes("?"));
});

test("machine code that is not there yet is missing, a library's is not", () => {
  assert.ok(KERNEL.missing && !WITH.missing);
  assert.ok(!chosen(LAYER, 0).missing);
  assert.ok(!chosen({ ...BLOCK, machine: false }, 0).missing);
  assert.equal(levels(KERNEL, "run").length, 4);
  assert.equal(levels(WITH, "run").length, 5);
});

test("the widest body is the one that is asked about", () => {
  const narrow = section({ turn: 4, lanes: 4 });
  assert.equal(mainSection({ sections: [narrow, section({})] }).turn, 64);
  assert.equal(mainSection({ sections: [section({ body: false })] }), null);
  assert.equal(mainSection(undefined), null);
});

test("a stored trace of a real processor tells all its rows", () => {
  for (const [name, trace] of Object.entries(traces))
    for (const kernel of trace.kernels.map((_, n) => chosen(trace, n, STORED[name])))
      for (const form of ["run", "plain"])
        for (const level of levels(kernel, form))
          for (const each of level.rows) {
            const at = { ids: each.kin, row: each };
            for (const language of ["en", "zh"]) tell(kernel, form, at, tongue(language));
          }
});

test("every word is there in both languages", () => {
  const mine = Object.entries(WORDS).filter(([key]) => key.startsWith("kl_"));
  assert.ok(mine.length > 60);
  for (const [key, row] of mine) {
    assert.equal(row.length, 2, key);
    const names = row.map((said) => (said.match(/\{\w+\}/g) ?? []).sort());
    assert.deepEqual(names[0], names[1], key);
  }
});
