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
    token: String(size),
  }));
  return { version: 1, function: "block", calls, variants, earlier: [], events };
}
