// The lanes beside the source: compiled code in as many columns as regions overlap, Python to the
// right of them, and the call on its way.
// In: a trace, its rows, a state of map.js.  Out: an SVG, painted.

import { put, s, text } from "./dom.js";
import { columnsOf, rowAt, tintOf } from "./map.js";

export const ROW = 20;
const RECENT = 4; // beats whose roads are still strong

/** Where the lanes run, for so many columns of regions. */
function measure(trace, narrow) {
  const calls = trace.calls.map((_, n) => columnsOf(trace, n));
  const columns = Math.max(1, ...calls.flatMap((at) => Object.values(at).map((c) => c + 1)));
  const many = columns > 3;
  const [block, pitch] = narrow ? [many ? 16 : 18, many ? 20 : 23] : many ? [22, 28] : [28, 36];
  const middle = 8 + (columns * pitch) / 2;
  const python = Math.max(10 + columns * pitch + 14, middle + 64); // the lanes' names side by side
  return { calls, block, pitch, python, middle, width: python + (narrow ? 38 : 44) };
}

export function makeLanes(trace, rows, narrow) {
  const geo = measure(trace, narrow);
  const height = Math.max(1, rows.length) * ROW;
  const root = s("svg", {
    class: "bm-lanes",
    width: geo.width,
    height,
    viewBox: `0 0 ${geo.width} ${height}`,
    role: "img",
  });
  const x = (lane, call) =>
    lane === "python" ? geo.python : 10 + geo.calls[call][lane] * geo.pitch + geo.block / 2;
  const y = (code, line) => (rowAt(rows, code, line) + 0.5) * ROW;
  const spot = ({ code, line, lane }, call) => ({ x: x(lane, call), y: y(code, line) });
  const lanes = { root, geo, spot, trace };
  const line = s("line", {
    class: "bm-lane",
    x1: geo.python,
    x2: geo.python,
    y1: 4,
    y2: height - 4,
  });
  lanes.blocks = trace.calls.flatMap((_, call) => blocks(lanes, rows, call));
  lanes.legs = trace.events.map((e, k) => leg(lanes, k));
  lanes.hot = s("path", { class: "bm-hot" });
  lanes.stops = trace.breaks.map((b) => stop(geo.python, y(b.code, b.line)));
  lanes.token = s(
    "g",
    { class: "bm-token" },
    s("circle", { r: 9 }),
    s("path", { d: "M-3 -4L4 0L-3 4z" }),
  );
  root.append(
    line,
    ...lanes.blocks.map((b) => b.root),
    ...lanes.legs,
    lanes.hot,
    ...lanes.blocks.map((b) => b.tag), // no road runs through a letter
    ...lanes.stops.map((d) => d.root),
    lanes.token,
  );
  return lanes;
}

/** A region's card in its column: one piece for each run of lines, joined by a thin line. */
function blocks({ geo, trace }, rows, call) {
  return Object.entries(geo.calls[call]).map(([id, column]) => {
    const region = trace.regions.find((r) => r.id === id);
    const x = 10 + column * geo.pitch;
    const spans = region.runs.map(([code, a, b]) => [rowAt(rows, code, a), rowAt(rows, code, b)]);
    const middle = x + geo.block / 2;
    const joints = spans
      .slice(1)
      .map(([from], k) =>
        s("line", { x1: middle, x2: middle, y1: (spans[k][1] + 1) * ROW - 2, y2: from * ROW + 2 }),
      );
    const pieces = spans.map(([from, to]) =>
      s("rect", {
        x,
        y: from * ROW + 2,
        width: geo.block,
        height: (to - from + 1) * ROW - 4,
        rx: 7,
      }),
    );
    const tint = tintOf(trace, id);
    const top = spans[0][0] * ROW;
    const wide = 6 + 7 * id.length;
    const plate = s("rect", { x: middle - wide / 2, y: top + 3, width: wide, height: 14, rx: 4 });
    const letter = s("text", { x: middle, y: top + 14.5 }, id);
    const root = s("g", { class: "bm-block", "data-tint": tint }, joints, pieces);
    const tag = s("g", { class: "bm-letter", "data-tint": tint }, plate, letter);
    return { root, tag, id, call };
  });
}

function stop(x, y) {
  const turn = `rotate(45 ${x} ${y})`;
  const box = { x: x - 7, y: y - 7, width: 14, height: 14, rx: 2, transform: turn };
  const count = s("text", { class: "bm-count", x: x + 13, y: y + 4 });
  return { root: s("g", { class: "bm-stop" }, s("rect", box), count), count };
}

/** The road of one beat: straight inside a lane, an S between lanes, through a region as the
 *  instructions were walked, with a bow where they jump back. */
function leg(lanes, k) {
  const { events } = lanes.trace;
  const [from, e] = [events[k - 1], events[k]];
  const here = (at) => lanes.spot(at, e.call);
  let d = "";
  if (e.kind === "run") {
    const way = e.way.map((place) => here({ ...place, lane: e.at.lane }));
    const out = lanes.geo.block / 2 + 3;
    const road = (path, b, n) => path + bow(way[n], b, out);
    d = way.slice(1).reduce(road, `M${way[0].x} ${way[0].y}`);
  } else if (from && from.call === e.call) {
    const [a, b] = [here(from.at), here(e.at)];
    const middle = (a.y + b.y) / 2;
    const near = Math.abs(a.y - b.y) < ROW;
    if (a.x === b.x ? a.y !== b.y : near)
      d = `M${a.x} ${a.y}${a.x === b.x ? bow(a, b, 12) : `L${b.x} ${b.y}`}`;
    else if (a.x !== b.x)
      d = `M${a.x} ${a.y}C${a.x} ${middle + 6} ${b.x} ${middle - 6} ${b.x} ${b.y}`;
  }
  return s("path", { class: "bm-leg", d });
}

const bow = (a, b, out) =>
  b.y >= a.y ? `L${b.x} ${b.y}` : `C${a.x - out} ${a.y + 4} ${b.x - out} ${b.y - 4} ${b.x} ${b.y}`;

export function paintLanes(lanes, st, words) {
  const { event, call } = st;
  for (const block of lanes.blocks) {
    const mine = block.call === call && st.entered.includes(block.id);
    put(block.root, { hidden: !mine, "data-on": mine && block.id === st.region });
    put(block.tag, { hidden: !mine });
  }
  lanes.stops.forEach(({ root, count }, n) => {
    const met = st.met[n] ?? 0;
    put(root, { hidden: !met, "data-on": event?.break === n });
    text(count, met > 1 ? `×${met}` : "");
  });
  const done = st.f > 0 ? st.k : st.k - 1;
  const { events } = lanes.trace;
  lanes.legs.forEach((path, k) => {
    const on = k < done && events[k].call === call;
    put(path, { "data-on": on, "data-late": on && k >= done - RECENT });
  });
  put(lanes.token, { visibility: event ? "visible" : "hidden" });
  const breaks = words.some("n_times", st.count.breaks);
  put(lanes.root, { "aria-label": words("route_label", { breaks, line: event?.at.line ?? "" }) });
  if (!event) {
    put(lanes.hot, { d: "M0 0" });
    return { x: 0, y: 0 };
  }
  return paintToken(lanes, st, events.indexOf(event));
}

/** The token, and the road it is on now; gives its place. */
function paintToken(lanes, { event, t }, k) {
  const d = lanes.legs[k].getAttribute("d");
  put(lanes.hot, {
    d: d || "M0 0",
    "data-lane": event.at.lane === "python" ? "python" : "compiled",
  });
  const length = d ? lanes.hot.getTotalLength() : 0;
  const at = length ? lanes.hot.getPointAtLength(length * t) : lanes.spot(event.at, event.call);
  const shown = length ? `stroke-dasharray:${length};stroke-dashoffset:${length * (1 - t)}` : null;
  put(lanes.hot, { style: shown });
  put(lanes.token, {
    transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`,
    "data-kind": event.break !== undefined && t > 0.6 ? "fail" : null,
  });
  return at;
}
