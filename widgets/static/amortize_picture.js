// The pictures of Amortizer as SVG: two bars, two lines, or regions with breaks between them.
// In: a mode, its values, the room there is.  Out: an element.

import { s } from "./dom.js";
import { blocks, chart, formula, plain, results, time } from "./amortize.js";

const [LABEL, PAD] = [64, 12];

const words12 = (x, y, said, attrs = {}) => s("text", { x, y, class: "am-text", ...attrs }, said);

function bar(kernels, compute, launch, { x, y, scale, kind }) {
  const total = compute + kernels * launch;
  const parts = blocks(kernels, compute, launch).map((block) =>
    s("rect", {
      class: `am-${block.kind}`,
      "data-kind": kind,
      x: x + block.from * total * scale,
      y,
      width: Math.max(0.5, block.size * total * scale - (kernels < 40 ? 1 : 0)),
      height: 34,
    }),
  );
  return [parts, words12(x, y + 50, time(total), { class: "am-text am-strong" })];
}

function launches(values, width, words) {
  const { before, after } = results("launches", values);
  const room = width - LABEL - PAD;
  const scale = room / Math.max(before, after);
  const row = (name, y, kernels, compute, kind) => [
    words12(0, y + 21, words(name)),
    ...bar(kernels, compute, values.launch, { x: LABEL, y, scale, kind }),
  ];
  return [
    136,
    row("am_apart", 8, values.kernels, values.compute, "slow"),
    row("am_fused", 76, values.fused_kernels, values.fused_compute, "fast"),
  ];
}

/** The line that is dear at first and cheap later is "fast" in break-even, and "slow" to compile. */
const LOOKS = { eager: "slow", compiled: "fast", static: "slow", dynamic: "fast" };

function crossing(mode, values, width, words) {
  const { steps, most, lines, at, beyond } = chart(mode, values);
  const [left, top, base] = [8, 30, 232];
  const x = (step) => left + (step / steps) * (width - left - 96);
  const y = (seconds) => base - (seconds / most) * (base - top);
  const end = lines.map((line) => y(line.start + line.step * steps));
  const apart = Math.abs(end[0] - end[1]) < 16 ? (end[0] <= end[1] ? -8 : 8) : 0;
  const drawn = lines.map((line, k) => [
    s("line", {
      class: "am-line",
      "data-kind": LOOKS[line.id],
      "data-line": line.id,
      x1: x(0),
      y1: y(line.start),
      x2: x(steps),
      y2: end[k],
    }),
    words12(x(steps) + 6, end[k] + 4 + (k ? -apart : apart), words(`am_line_${line.id}`)),
  ]);
  const [a, b] = lines.map((line) => y(line.start + line.step * values.steps));
  const ahead = results(mode, values).ahead;
  const gap = s("line", {
    class: "am-gap",
    "data-ahead": ahead >= 0,
    x1: x(values.steps),
    x2: x(values.steps),
    y1: a,
    y2: b,
  });
  const here = words12(Math.min(x(values.steps) + 6, width - 150), top - 14, words("am_balance", {
    steps: plain(values.steps),
  }));
  const down = s("line", {
    class: "am-now",
    x1: x(values.steps),
    x2: x(values.steps),
    y1: top - 8,
    y2: base,
  });
  const meet = Number.isFinite(at) && at > 0 && at <= steps ? mark(lines[0], at, x, y, base) : [];
  const axis = s("line", { class: "am-axis", x1: left, x2: x(steps), y1: base, y2: base });
  const last = words12(x(steps), base + 18, `${plain(steps)} ${words("am_axis")}`, {
    "text-anchor": "end",
  });
  const what = beyond ? words("am_beyond", { step: time(beyond) }) : "";
  const scale = words12(left, base + 18, what, { class: "am-text am-quiet" });
  return [256, axis, down, drawn, gap, meet, here, last, scale];
}

/** Where the lines meet. */
function mark(line, at, x, y, base) {
  const height = y(line.start + line.step * at);
  return [
    s("line", { class: "am-drop", x1: x(at), x2: x(at), y1: height, y2: base }),
    s("circle", { class: "am-meet", cx: x(at), cy: height, r: 6 }),
    words12(x(at), base + 18, plain(at), { "text-anchor": "middle", class: "am-text am-strong" }),
  ];
}

const SHOWN = 12; // regions that are drawn; of more, the first ones

function regions(values, width, words) {
  const count = Math.min(values.breaks + 1, SHOWN);
  const step = (width - PAD) / count;
  const found = [];
  for (let k = 0; k < count; k += 1) {
    const x = PAD / 2 + k * step;
    const card = { class: "am-region", x: x + 9, y: 28, width: Math.max(4, step - 18), height: 46 };
    found.push(s("rect", { ...card, rx: 8 }));
    if (k === 0) continue;
    found.push(s("rect", { class: "am-diamond", x: x - 6, y: 45, width: 12, height: 12,
      transform: `rotate(45 ${x} 51)` }));
    if (step >= 64)
      found.push(words12(x, 94, time(values.crossing), { "text-anchor": "middle" }));
  }
  const { iteration } = results("breaks", values);
  const more = values.breaks + 1 > SHOWN ? `+ ${values.breaks + 1 - SHOWN}` : "";
  const bottom = words12(PAD / 2, 124, `${words("am_python")}: ${time(iteration)}`, {
    class: "am-text am-strong",
  });
  return [136, found, words12(width - 4, 18, more, { "text-anchor": "end" }), bottom];
}

const DRAW = { launches, breaks: regions };

/** The picture of a mode, as wide as there is room. */
export function picture(mode, values, width, words) {
  const draw = DRAW[mode] ?? ((...rest) => crossing(mode, ...rest));
  const [height, ...marks] = draw(values, width, words);
  const said = words("am_picture", { mode: words(`am_${mode}`), formula: formula(mode, values) });
  return s(
    "svg",
    { class: "am-svg", role: "img", "aria-label": said, viewBox: `0 0 ${width} ${height}`, width,
      height },
    ...marks.flat(3),
  );
}
