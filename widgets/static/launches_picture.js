// The lanes of LaunchTimeline as SVG, made once for a choice and a width, then painted for each t.
// In: rows (see launches.js), the room there is.  Out: {root, paint(t)}.

import { time } from "./amortize.js";
import { put, s, text } from "./dom.js";
import { grown, progress } from "./launches.js";

const [LABEL, PAD, TOP, LANE, GAP, BETWEEN, AXIS] = [38, 2, 20, 18, 3, 12, 26];
const LETTER = 6.7; // pixels, of the code font at 11
const ROW = TOP + 2 * LANE + GAP + BETWEEN;

const label = (x, y, said, attrs = {}) => s("text", { x, y, class: "lt-text", ...attrs }, said);

/** The times between which the card waits, before it is done. */
export function waits({ device }) {
  const found = [];
  let free = 0;
  for (const [from, to] of device) {
    if (from > free) found.push([free, from]);
    free = to;
  }
  return found;
}

const kindOf = (id) => (id.startsWith("eager") ? "slow" : "fast");

function bars(intervals, names, { scale, y, look, kind }) {
  const gap = (from, to) => ((to - from) * scale > 5 ? 1 : 0); // so that bars can be told apart
  return intervals.map(([from, to], k) => {
    const at = { x: LABEL + from * scale, y, height: LANE };
    const rect = s("rect", { class: `lt-${look}`, "data-kind": kind, rx: 2, ...at, width: 0 });
    const name = names?.[k] ?? "";
    const fits = (to - from) * scale > name.length * LETTER + 8;
    const said = name && fits ? label(at.x + 5, y + 13, name, { class: "lt-name" }) : null;
    if (said) put(said, { "data-kind": kind });
    const shrink = gap(from, to);
    const paint = (t) => {
      const long = grown([from, to], t) * scale;
      put(rect, { width: Math.max(long > 0 ? 1 : 0, long - shrink).toFixed(2) });
      if (said) put(said, { visibility: t >= to ? "visible" : "hidden" });
    };
    return { marks: [rect, said].filter(Boolean), paint };
  });
}

/** Dashed, as far as it is known that nothing ran. */
function gaps(row, { scale, y }) {
  return waits(row).map(([from, to]) => {
    const line = s("line", { class: "lt-wait", y1: y + LANE / 2, y2: y + LANE / 2 });
    const x = LABEL + from * scale;
    const paint = (t) => {
      const long = grown([from, to], t) * scale;
      put(line, { x1: x + 2, x2: Math.max(x + 2, x + long - 2), hidden: long < 6 });
      put(line, { visibility: long < 6 ? "hidden" : "visible" });
    };
    return { marks: [line], paint };
  });
}

function counted(row, words) {
  const launches = words.some("lt_n_launches", row.host.length);
  return `${launches}, ${words.some("lt_n_kernels", row.device.length)}`;
}

export const result = (row, words) =>
  words("lt_result", { total: time(row.end), busy: Math.round(100 * row.busy) });

function makeRow(row, n, { scale, width, words }) {
  const y = n * ROW;
  const name = label(0, y + 13, words(`lt_${row.id}`), { class: "lt-text lt-strong" });
  if (row.refused) {
    const why = words("lt_refused", { why: row.refused });
    const said = label(0, y + TOP + 14, why, { class: "lt-text lt-quiet" });
    return { marks: [name, said], paint() {} };
  }
  const far = { "text-anchor": "end" };
  const sums = label(width - PAD, y + 13, "", { class: "lt-text lt-strong", ...far });
  const [host, device] = [y + TOP, y + TOP + LANE + GAP];
  const lanes = [
    label(0, host + 13, words("lt_host"), { class: "lt-text lt-quiet" }),
    label(0, device + 13, words("lt_device"), { class: "lt-text lt-quiet" }),
    ...[host, device].map((top) =>
      s("line", { class: "lt-base", x1: LABEL, x2: width, y1: top + LANE, y2: top + LANE }),
    ),
  ];
  const drawn = [
    ...bars(row.host, null, { scale, y: host, look: "launch" }),
    ...gaps(row, { scale, y: device }),
    ...bars(row.device, row.names, { scale, y: device, look: "kernel", kind: kindOf(row.id) }),
  ];
  const paint = (t) => {
    drawn.forEach((each) => each.paint(t));
    const at = progress(row, t);
    text(sums, at.state === "done" ? result(row, words) : counted(row, words));
  };
  return { marks: [name, sums, ...lanes, ...drawn.flatMap(({ marks }) => marks)], paint };
}

/** 1, 2 or 5 times a power of ten, so that about `count` of them fill the time. */
export function stepOf(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((digit) => digit * power >= rough) ?? 10);
}

function axis(most, { scale, width, y }) {
  const step = stepOf(most, width < 500 ? 3 : 6);
  const marks = [];
  for (let k = 0; k * step <= most; k += 1) {
    const x = LABEL + k * step * scale;
    const anchor = x > width - 40 ? "end" : k ? "middle" : "start";
    marks.push(s("line", { class: "lt-tick", x1: x, x2: x, y1: 0, y2: y }));
    marks.push(label(x, y + 14, time(k * step), { class: "lt-text lt-quiet", "text-anchor": anchor }));
  }
  return marks;
}

/** All rows, on one scale. */
export function picture(shown, width, words) {
  const scale = (width - LABEL - PAD) / (shown.most || 1);
  const height = ROW * shown.rows.length;
  const rows = shown.rows.map((row, n) => makeRow(row, n, { scale, width, words }));
  const cursor = s("line", { class: "lt-now", y1: 0, y2: height });
  const said = shown.rows
    .filter((row) => !row.refused)
    .map((row) => {
      const [launches, kernels] = [row.host.length, row.device.length];
      return words("lt_picture", {
        name: words(`lt_${row.id}`),
        launches: words.some("lt_n_launches", launches),
        kernels: words.some("lt_n_kernels", kernels),
        result: result(row, words),
      });
    });
  const root = s(
    "svg",
    { class: "lt-svg", role: "img", viewBox: `0 0 ${width} ${height + AXIS}`, width,
      height: height + AXIS },
    axis(shown.most, { scale, width, y: height }),
    rows.flatMap(({ marks }) => marks),
    cursor,
  );
  return {
    root,
    paint(t) {
      rows.forEach((row) => row.paint(t));
      const x = LABEL + t * scale;
      const going = t > 0 && t < shown.most;
      put(cursor, { x1: x, x2: x, visibility: going ? "visible" : "hidden" });
      put(root, { "aria-label": t >= shown.most ? said.join("; ") : words("lt_title") });
    },
  };
}
