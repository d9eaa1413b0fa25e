// Traces for the tests, in the shape that the Python side ships (see race.js and theater.js).

const load = (reg, buf) => ({ op: "load", reg, buf, dtype: "float32" });
const store = (reg, buf) => ({ op: "store", reg, buf, dtype: "float32" });
const value = (reg, number) => ({ op: "const", reg, value: number, dtype: "float32", once: true });
const apply = (op, reg, ...args) => ({ op, reg, args, dtype: "float32" });
const buffer = (name, role, values) => ({
  name,
  role,
  dtype: "float32",
  ...(values && { values }),
});

/** block(x, bias) = (x + bias).relu() * 2 */
export const BLOCK = {
  version: 1,
  function: "block",
  buffers: [
    buffer("x", "input", [-2, -1, 1, 2]),
    buffer("bias", "input", [1, 1, 1, 1]),
    buffer("t1", "intermediate"),
    buffer("t2", "intermediate"),
    buffer("y", "output"),
  ],
  lanes: [
    {
      id: "separate",
      passes: [
        {
          name: "add",
          body: [
            load("tmp0", "x"),
            load("tmp1", "bias"),
            apply("add", "tmp2", "tmp0", "tmp1"),
            store("tmp2", "t1"),
          ],
        },
        {
          name: "relu",
          body: [load("tmp0", "t1"), apply("relu", "tmp1", "tmp0"), store("tmp1", "t2")],
        },
        {
          name: "mul",
          body: [
            load("tmp0", "t2"),
            value("tmp1", 2),
            apply("mul", "tmp2", "tmp0", "tmp1"),
            store("tmp2", "y"),
          ],
        },
      ],
    },
    {
      id: "fused",
      passes: [
        {
          name: "add · relu · mul",
          body: [
            load("tmp0", "x"),
            load("tmp1", "bias"),
            apply("add", "tmp2", "tmp0", "tmp1"),
            apply("relu", "tmp3", "tmp2"),
            value("tmp4", 2),
            apply("mul", "tmp5", "tmp3", "tmp4"),
            store("tmp5", "y"),
          ],
        },
      ],
    },
  ],
};

/** square_and_scale(x, s) = (x * x) * s, where s has one element and x is read twice by the
 *  separate pass. */
export const SCALE = {
  version: 1,
  function: "square_and_scale",
  buffers: [
    buffer("x", "input", [3]),
    { ...buffer("s", "input", [0.1]), one: true },
    buffer("squares", "output"),
    buffer("y", "output"),
  ],
  lanes: [
    {
      id: "separate",
      passes: [
        {
          name: "mul",
          body: [
            load("tmp0", "x"),
            load("tmp1", "x"),
            apply("mul", "tmp2", "tmp0", "tmp1"),
            store("tmp2", "squares"),
          ],
        },
        {
          name: "mul",
          body: [
            load("tmp0", "squares"),
            { ...load("tmp1", "s"), once: true },
            apply("mul", "tmp2", "tmp0", "tmp1"),
            store("tmp2", "y"),
          ],
        },
      ],
    },
    {
      id: "fused",
      passes: [
        {
          name: "mul · mul",
          body: [
            load("tmp0", "x"),
            apply("mul", "tmp1", "tmp0", "tmp0"),
            store("tmp1", "squares"),
            { ...load("tmp2", "s"), once: true },
            apply("mul", "tmp3", "tmp1", "tmp2"),
            store("tmp3", "y"),
          ],
        },
      ],
    },
  ],
};

const guards = (size) => [
  { kind: "TENSOR_MATCH", text: "type(x) is Tensor and x.dtype is float32" },
  { kind: "SIZE_MATCH", text: `x.shape == (${size},)` },
  { kind: "GRAD_MODE", text: "grad mode is on" },
];

/** The events of calls with these sizes, as static shapes make them: most recently hit first. */
export function theater(...sizes) {
  const variants = [];
  const events = [];
  let order = [];
  sizes.forEach((size, call) => {
    const beat = (kind, values = {}) => events.push({ kind, call, ...values });
    beat("call");
    let hit = null;
    const asked = order.length;
    for (const variant of order) {
      const held = variant.size === size;
      variant.guards.forEach(({ text }, guard) => {
        if (guard > 1 && !held) return;
        const ok = guard !== 1 || held;
        const told = ok ? {} : { expected: `(${variant.size},)`, actual: `(${size},)`, line: 2 };
        beat("guard", { variant: variant.id, guard, ok, text, ...told });
      });
      if (held) {
        hit = variant;
        break;
      }
    }
    const added = hit ?? {
      id: `0/${variants.length}`,
      size,
      title: `float32[${size}]`,
      result: "graph",
    };
    if (!hit) {
      Object.assign(added, { guards: guards(size), kernels: ["numba_fused_add_mul_relu_0"] });
      variants.push(added);
      beat("miss", { again: asked > 0 });
      for (const stage of ["capture", "autodiff", "fusion", "codegen"])
        beat("stage", { stage, note: "as planned", variant: added.id, late: false });
      beat("variant", { variant: added.id, result: "graph" });
    }
    order = [added, ...order.filter((v) => v !== added)];
    beat("execute", { variant: added.id, hit: hit !== null });
    beat("return", { variant: added.id, result: hit ? "hit" : "compiled" });
  });
  const calls = sizes.map((size) => ({
    inputs: `float32[${size}]`,
    label: `x[${size}]`,
  }));
  return { version: 1, function: "block", calls, variants, earlier: [], events };
}

/** The guard matrix of the same calls: three guards a variant, each in a column of its own. */
export function matrix(...sizes) {
  const play = theater(...sizes);
  const columns = guards(0).map(({ kind }) => ({ kind, source: "x" }));
  const cell = ({ text }, column) => ({
    text,
    expected: text,
    column,
    place: { code: 0, line: 2 },
  });
  const rows = Object.fromEntries(play.variants.map(({ id, guards: all }) => [id, all.map(cell)]));
  const made = play.variants.map(({ id, size }) => ({ id, size }));
  const whole = sizes.map((size, call) => {
    const known = made.filter(({ size: own }) => sizes.indexOf(own) < call);
    const told = ({ id, size: own }) => {
      const failed = {
        held: 1,
        expected: `(${own},)`,
        actual: `(${size},)`,
        reason: "size mismatch",
      };
      return [id, own === size ? { held: 3 } : failed];
    };
    return Object.fromEntries(known.map(told));
  });
  const listings = [{ name: "block", first: 1, lines: ["def block(x):", "    return x * 2"] }];
  return { version: 1, columns, rows, whole, listings, play };
}

/** A loop with a print in it, as BreakMap ships it: prefix A, body B, tail C. */
export function cutMap(rounds) {
  const node = (name, op, text, args, line) => ({
    name,
    op,
    text,
    args,
    meta: "float32[4]",
    code: 0,
    line,
  });
  const nodes = [
    node("x", "input", "x", []),
    node("mul", "call", "x * 2", ["x"], 2),
    node("add", "call", "mul + x", ["mul", "x"], 4),
    node("output", "output", "add", ["add"]),
  ];
  const region = (id, code, runs) => ({
    id,
    code,
    title: "loop",
    runs,
    nodes,
    kernels: [`kernel_${id}`],
    reused: "",
    guards: 4,
    goes_on: [],
    bytecode: [{ code: 0, line: 2, offset: 2, text: "LOAD_FAST x" }],
  });
  const at = (line, lane) => ({ code: 0, line, lane });
  const handed = [{ function: "loop", variables: [["x", "float32[4]"]], stack: ["print()"] }];
  const enter = (id, line, fresh) => ({
    kind: "enter",
    call: 0,
    at: at(line, id),
    region: id,
    new: fresh,
    graph: fresh,
  });
  const run = (id, ...lines) => ({
    kind: "run",
    call: 0,
    at: at(lines.at(-1), id),
    region: id,
    way: lines.map((line) => ({ code: 0, line })),
  });
  const stop = [
    { kind: "break", call: 0, at: at(4, "python"), break: 0, handed, rest: false },
    { kind: "python", call: 0, at: at(4, "python"), break: 0, handed, result: "None" },
  ];
  const body = (fresh) => [enter("B", 5, fresh), run("B", 5, 3), ...stop];
  const between = rounds - 3;
  return {
    version: 1,
    function: "loop",
    listings: [
      {
        name: "loop",
        first: 1,
        lines: [
          "def loop(x, n):",
          "    x = x * 2",
          "    for i in range(n):",
          "        print(i)",
          "        x = helper(x)",
          "    return x",
        ],
      },
      { name: "helper", first: 20, lines: ["def helper(x):", "    return x + 1"] },
    ],
    regions: [
      region("A", "0/0", [[0, 2, 3]]),
      region("B", "1/0", [
        [0, 3, 3],
        [0, 5, 5],
      ]),
      region("C", "1/1", [
        [0, 3, 3],
        [0, 5, 6],
      ]),
    ],
    breaks: [
      {
        code: 0,
        line: 4,
        at: [8, 16],
        id: "side-effect-call",
        what: "call of print()",
        why: "It writes.",
        hint: "Move it.",
        instruction: "CALL 1",
        chain: [{ code: 0, line: 4, function: "loop" }],
      },
    ],
    calls: [{ inputs: `float32[4], ${rounds}`, label: "x[4]" }],
    events: [
      { kind: "call", call: 0, at: at(1, "python") },
      enter("A", 2, true),
      run("A", 2, 3),
      ...stop,
      ...body(true),
      {
        kind: "rounds",
        call: 0,
        at: at(4, "python"),
        break: 0,
        count: between,
        of: rounds - 1,
        regions: 1,
        met: [0],
        region: "B",
        values: Array.from({ length: between }, (_, n) => [`i = ${n + 2}`]),
      },
      ...body(false),
      enter("C", 5, true),
      run("C", 5, 6),
      { kind: "return", call: 0, at: at(6, "python"), result: "compiled" },
    ],
  };
}

/** outer(x, y): z = x + y; w = helper(z); print() breaks, as TraceStepper ships it. */
export function steps() {
  const x = ["lazy", "x"];
  const y = ["lazy", "y"];
  const add = ["tensor", "add: float32[4]"];
  const mul = ["tensor", "mul: float32[4]"];
  const step = (text, line, before, after, more = {}) => ({
    kind: "step",
    depth: 0,
    offset: 2,
    text,
    at: { code: 0, line, at: [4, 9] },
    before,
    after,
    nodes: 0,
    guards: 0,
    ...more,
  });
  const node = (name, op, text, args, line) => ({
    name,
    op,
    text,
    args,
    meta: "float32[4]",
    code: 0,
    line,
  });
  const inner = { depth: 1, at: { code: 1, line: 11, at: [11, 16] } };
  const callee = { function: "helper", variables: [["a", ...add]] };
  return {
    version: 1,
    function: "outer",
    code: "0/0",
    listings: [
      {
        name: "outer",
        first: 1,
        lines: ["def outer(x, y):", "    z = x + y", "    w = helper(z)", "    print()"],
      },
      { name: "helper", first: 10, lines: ["def helper(a):", "    return a * 2"] },
    ],
    start: [
      {
        function: "outer",
        variables: [
          ["x", ...x],
          ["y", ...y],
        ],
        stack: [],
      },
    ],
    nodes: [
      node("x", "input", "x", []),
      node("add", "call", "x + y", ["x"], 2),
      node("mul", "call", "add * 2", ["add"], 11),
      node("output", "output", "mul", ["mul"]),
    ],
    guards: [
      { text: "grad=True", about: "global state" },
      { text: "x.size() == (4,)", about: "x", line: 2 },
      { text: "x.stride() == (1,)", about: "x", line: 2 },
    ],
    captured: true,
    hidden: 0,
    stop: { what: "call of print()", why: "It writes.", hint: "Move it.", line: 4 },
    events: [
      step("RESUME 0", 1, [], [], { guards: 1 }),
      step("LOAD_FAST x", 2, [], [x]),
      step("LOAD_FAST y", 2, [x], [x, y]),
      step("BINARY_OP +", 2, [x, y], [add], {
        nodes: 2,
        guards: 2,
        set: [["x", "tensor", "x: float32[4]"]],
      }),
      step("STORE_FAST z", 2, [add], [], { set: [["z", ...add]] }),
      step("CALL 1", 3, [add], [], { enters: callee }),
      step("BINARY_OP *", 11, [add], [mul], { nodes: 1, ...inner }),
      step("RETURN_VALUE", 11, [mul], [], { returns: [mul], ...inner }),
      step("CALL 0", 4, [], [], { stops: true }),
      { kind: "end", nodes: 1, guards: 0 },
    ],
  };
}
