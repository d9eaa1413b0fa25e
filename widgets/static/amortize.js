// The pure half of Amortizer: what the sliders stand for, and what they come to.
//
// trace = {version, function, figures: {article, measured?}}; figures = {mode: {field: number}}, times
// in seconds. `measured` are those of the reader's own function.

/** Numbers with two digits, from `low` to `high`: the places of a slider. */
export function places(low, high, whole = false) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.0001; power += 1)
    for (let digits = 10; digits < 100; digits += 1) {
      const value = Number(`${digits}e${power - 1}`);
      if (value >= low * 0.9999 && value <= high * 1.0001 && (!whole || Number.isInteger(value)))
        found.push(value);
    }
  return found;
}

const KERNELS = places(1, 100, true);
const MICRO = places(1e-7, 1);
const STEP = places(1e-6, 10);
const COMPILE = places(1e-3, 1000);
const STEPS = places(1, 1e8, true);

/** By mode, in the order in which they are shown; the last one stands in the bar. */
export const FIELDS = {
  launches: {
    kernels: KERNELS,
    compute: MICRO,
    fused_kernels: KERNELS,
    fused_compute: MICRO,
    launch: MICRO,
  },
  break_even: { compiling: COMPILE, eager: STEP, compiled: STEP, steps: STEPS },
  variants: {
    variants: KERNELS,
    each: COMPILE,
    static_step: STEP,
    dynamic: COMPILE,
    dynamic_step: STEP,
    steps: STEPS,
  },
  breaks: { breaks: [0, ...KERNELS], crossing: MICRO, iterations: STEPS },
};
export const MODES = Object.keys(FIELDS);
const COUNTS = new Set(["kernels", "fused_kernels", "variants", "breaks", "steps", "iterations"]);

/** The index of the place that is nearest to a value. */
export function nearest(list, value) {
  let best = 0;
  for (let k = 1; k < list.length; k += 1)
    if (Math.abs(list[k] - value) < Math.abs(list[best] - value)) best = k;
  return best;
}

const round = (value) => Number(value.toPrecision(12)); // 12 / (0.1 - 0.07) is 400

/** The step at which a dear start with cheap steps has caught up; Infinity where it never does. */
export function breakEven(start, slow, fast) {
  if (start <= 0) return 0;
  return slow > fast ? Math.ceil(round(start / (slow - fast))) : Infinity;
}

const RESULTS = {
  launches({ kernels, compute, fused_kernels, fused_compute, launch }) {
    const before = round(compute + kernels * launch);
    const after = round(fused_compute + fused_kernels * launch);
    return { before, after, speedup: before / after, limit: kernels / fused_kernels };
  },
  break_even({ compiling, eager, compiled, steps }) {
    return {
      at: breakEven(compiling, eager, compiled),
      ahead: round(steps * (eager - compiled) - compiling),
    };
  },
  variants({ variants, each, static_step, dynamic, dynamic_step, steps }) {
    const total = round(variants * each);
    const gap = round(steps * (dynamic_step - static_step) - (total - dynamic));
    return { total, at: breakEven(total - dynamic, dynamic_step, static_step), ahead: gap };
  },
  breaks({ breaks, crossing, iterations }) {
    const iteration = round(breaks * crossing);
    return { iteration, run: round(iteration * iterations), regions: breaks + 1 };
  },
};

export const results = (mode, values) => RESULTS[mode](values);

/** The figures of a mode: the article's or the measured ones, with what was moved since. */
export function valuesOf(trace, source, mode, moved = {}) {
  const figures = trace.figures[source] ?? trace.figures.article;
  return { ...figures[mode], ...moved[mode] };
}

/** A time with its unit, three digits: "80 us", "12 s", "1.3 days". */
export function time(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  const units = [
    [86400, "days"],
    [3600, "h"],
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "us"],
    [1e-9, "ns"],
  ];
  const [scale, unit] = units.find(([least]) => size >= least * 0.9995) ?? units.at(-1);
  return `${plain(seconds / scale)} ${unit}`;
}

/** Three digits at most, none of them needless; thousands apart. */
export function plain(value) {
  if (!Number.isFinite(value)) return "∞";
  const short = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
  return short.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

export const times = (ratio) => `${Number(ratio.toPrecision(4))}×`;

/** What a slider shows beside itself. */
export const shown = (field, value) => (COUNTS.has(field) ? plain(value) : time(value));

/** The question of a mode, {options, answer}, about the article's figures; the text is a word. */
export function question(mode, words) {
  const asked = {
    launches: [["1.625×", "2.545×", "5×", "6.5×"], "2.545×"],
    break_even: [["+3 s", "−9 s", "30 %", "0 s"], "−9 s"],
    variants: [["0", "86", "3,000", words("am_never")], "3,000"],
    breaks: [["80 ms", "8 s", "20 s", "80 s"], "80 s"],
  }[mode];
  const beliefs = {};
  for (const [k, option] of asked[0].entries())
    if (words.has(`am_${mode}_belief_${k}`)) beliefs[option] = words(`am_${mode}_belief_${k}`);
  return { options: asked[0], answer: asked[1], beliefs };
}

/** The formula of a mode, with its numbers in it. */
export function formula(mode, values) {
  const found = results(mode, values);
  const v = values;
  if (mode === "launches")
    return (
      `(${time(v.compute)} + ${v.kernels} × ${time(v.launch)}) / ` +
      `(${time(v.fused_compute)} + ${v.fused_kernels} × ${time(v.launch)}) = ` +
      `${time(found.before)} / ${time(found.after)} = ${times(found.speedup)}`
    );
  if (mode === "break_even")
    return `${time(v.compiling)} / (${time(v.eager)} − ${time(v.compiled)}) = ${plain(found.at)}`;
  if (mode === "variants")
    return (
      `(${v.variants} × ${time(v.each)} − ${time(v.dynamic)}) / ` +
      `(${time(v.dynamic_step)} − ${time(v.static_step)}) = ${plain(found.at)}`
    );
  return (
    `${v.breaks} × ${time(v.crossing)} = ${time(found.iteration)}; ` +
    `${plain(v.iterations)} × ${time(found.iteration)} = ${time(found.run)}`
  );
}

/** The one sentence. */
export function narrate(mode, values, words) {
  const found = results(mode, values);
  if (mode === "launches") {
    const faster = found.speedup >= 1;
    const said = {
      before: time(found.before),
      after: time(found.after),
      speedup: times(faster ? found.speedup : 1 / found.speedup),
      limit: times(found.limit),
    };
    return words(faster ? "am_launches_say" : "am_launches_slower", said);
  }
  if (mode === "breaks")
    return words(["am_breaks_none", "am_breaks_say_one"][values.breaks] ?? "am_breaks_say", {
      breaks: plain(values.breaks),
      regions: plain(found.regions),
      iteration: time(found.iteration),
      iterations: plain(values.iterations),
      run: time(found.run),
    });
  const said = {
    at: plain(found.at),
    steps: plain(values.steps),
    gap: time(Math.abs(found.ahead)),
    total: time(found.total ?? 0),
    dynamic: time(values.dynamic ?? 0),
  };
  const outcome = found.at === Infinity ? "never" : found.ahead < 0 ? "behind" : "ahead";
  return words(`am_${mode}_${outcome}`, said);
}

/** Two straight lines over the steps, for a chart: {steps, most, lines: [{id, start, step}], at,
 *  beyond}. Two steps that take nearly the same are drawn `beyond` what the faster one takes. */
export function chart(mode, values) {
  const { at } = results(mode, values);
  const steps = Math.max(values.steps, Number.isFinite(at) ? at : 0) * 1.5 || 1;
  const lines =
    mode === "break_even"
      ? [
          { id: "eager", start: 0, step: values.eager },
          { id: "compiled", start: values.compiling, step: values.compiled },
        ]
      : [
          { id: "dynamic", start: values.dynamic, step: values.dynamic_step },
          { id: "static", start: values.variants * values.each, step: values.static_step },
        ];
  const beyond = mode === "variants" ? Math.min(...lines.map((line) => line.step)) : 0;
  for (const line of lines) line.step -= beyond;
  const most = Math.max(...lines.map((line) => line.start + line.step * steps));
  return { steps, most: most || 1, lines, at, beyond };
}

/** Blocks of a bar: launches and computing in turn, as fractions of the whole. */
export function blocks(kernels, compute, launch) {
  const total = compute + kernels * launch;
  const found = [];
  let at = 0;
  for (let k = 0; k < kernels; k += 1)
    for (const [kind, size] of [
      ["launch", launch],
      ["compute", compute / kernels],
    ]) {
      found.push({ kind, from: at / total, size: size / total });
      at += size;
    }
  return found;
}
