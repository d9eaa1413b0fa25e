// What each primitive of a loop body computes, in JavaScript, and how it reads in a line of code.
// In: numbers already rounded to their dtypes.  Out: a number rounded to the result's dtype. The
// names are those of labcore/fusion/primitives.py, and so are the meanings at nan, ±0 and infinity
// (tested). float32 results come from float64 arithmetic and one `Math.fround`: exact for + - × ÷
// and sqrt, within one unit in the last place of the library's functions elsewhere. Left out: int64
// beyond 2^53.

/** Round a value to a dtype, as a store into an array of that dtype does. Booleans are 0 and 1
 *  here. */
export function round(dtype, value) {
  if (dtype === "float32") return Math.fround(value);
  if (dtype === "int64") return Number.isFinite(value) ? Math.trunc(value) : 0;
  if (dtype === "int32") return Math.trunc(value) | 0;
  if (dtype === "bool") return value ? 1 : 0;
  return Number(value);
}

/** Σ 2^k x^(2k+1) / (1·3·5···(2k+1)), times 2/√π e^(−x²): every term has one sign, so nothing
 *  cancels. */
export function erf(x) {
  if (Number.isNaN(x) || x === 0) return x;
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let k = 1; Math.abs(term) > Math.abs(sum) * 1e-17; k++) {
    term *= (2 * x * x) / (2 * k + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Python's %: the result has the sign of the divisor. */
export function remainder(a, b) {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

/** Python's //, computed from the exact remainder as eager does: rounding a / b first can be one
 *  too many. */
export function floorDivide(a, b) {
  if (b === 0 || Number.isNaN(a) || Number.isNaN(b)) return a / b;
  if (!Number.isFinite(a)) return NaN; // the remainder is one
  if (!Number.isFinite(b)) return a * b < 0 ? -1 : a / b;
  return Math.round((a - remainder(a, b)) / b);
}

/** C's pow: 1 to any power is 1, nan too, and so is -1 to an infinite one; JavaScript says nan. */
function power(a, b) {
  const one = a === 1 || (a === -1 && Math.abs(b) === Infinity);
  return one ? 1 : a ** b;
}

/** Python's round: a half goes to the even neighbour. */
function nearest(a) {
  return Math.abs(a - Math.trunc(a)) === 0.5 ? 2 * Math.round(a / 2) : Math.round(a);
}

const bits = (f) => (a, b) => Number(BigInt.asIntN(64, f(BigInt(a), BigInt(b))));

export const EVALUATE = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  floor_divide: floorDivide,
  remainder,
  pow: power,
  maximum: (a, b) => (a >= b || Number.isNaN(a) ? a : b),
  minimum: (a, b) => (a <= b || Number.isNaN(a) ? a : b),
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  bitwise_and: bits((a, b) => a & b),
  bitwise_or: bits((a, b) => a | b),
  bitwise_xor: bits((a, b) => a ^ b),
  bitwise_not: (a, dtype) => (dtype === "bool" ? a === 0 : -a - 1),
  where: (c, a, b) => (c ? a : b),
  neg: (a) => -a,
  abs: Math.abs,
  relu: (a) => (a > 0 || Number.isNaN(a) ? a : 0),
  exp: Math.exp,
  log: Math.log,
  sqrt: Math.sqrt,
  rsqrt: (a) => 1 / Math.sqrt(a),
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  exp2: (a) => 2 ** a,
  expm1: Math.expm1,
  log1p: Math.log1p,
  log2: Math.log2,
  log10: Math.log10,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: nearest,
  fmod: (a, b) => a % b,
  erf,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  to_dtype: (a) => a,
};

/** The value of one primitive; `dtype` is the result's. */
export function evaluate(op, args, dtype) {
  const rule = EVALUATE[op];
  if (!rule) throw new Error(`no such primitive: ${op}`);
  return round(dtype, op === "bitwise_not" ? rule(args[0], dtype) : rule(...args));
}

const INFIX = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  floor_divide: "//",
  remainder: "%",
  pow: "**",
  eq: "==",
  ne: "!=",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
  bitwise_and: "&",
  bitwise_or: "|",
  bitwise_xor: "^",
};

/** One primitive as Python text in pieces; `args` are lists of pieces. `closed` is true if it
 *  needs no brackets. */
export function spell(op, args, dtype) {
  const [a, b, c] = args;
  if (INFIX[op]) return { parts: [...a, ` ${INFIX[op]} `, ...b], closed: false };
  if (op === "neg") return { parts: ["-", ...a], closed: false };
  if (op === "bitwise_not") return { parts: ["~", ...a], closed: false };
  if (op === "where") return { parts: [...b, " if ", ...a, " else ", ...c], closed: false };
  const name = op === "to_dtype" ? dtype : op;
  const inside = args.flatMap((piece, j) => (j ? [", ", ...piece] : piece));
  return { parts: [`${name}(`, ...inside, ")"], closed: true };
}

/** A number in at most `room` characters: fewer digits, never a wrong one, "·" if none fits. */
export function show(value, room = 6, dtype = "float32") {
  if (value === undefined) return "";
  if (dtype === "bool") return room >= 5 ? (value ? "True" : "False") : value ? "T" : "F";
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : room >= 4 ? "−inf" : "−∞";
  const tidy = (t) => t.replace("e+", "e").replace("-", "−");
  if (Number.isInteger(value) && tidy(String(value)).length <= room) return tidy(String(value));
  for (let digits = 4; digits > 0; digits--) {
    const number = Number(value.toPrecision(digits));
    const plain = String(number);
    const shapes = [plain, number.toExponential(), plain.replace(/^(-?)0\./, "$1.")].map(tidy);
    const fits = shapes.find((t) => t.length <= room);
    if (fits) return fits;
  }
  return "·";
}
