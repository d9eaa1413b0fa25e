// One lane of the race as a picture: counter, ledger, registers, memory, code. `makeLane` builds
// what never changes, `layoutLane` the marks for one n and width, `paintLane` one moment.

import { clamp, ease, h, lerp, part, put, s, text } from "./dom.js";
import { code, counter } from "./lab.js";
import { layoutLedger, paintLedger, short } from "./ledger.js";
import { listing, wires } from "./loops.js";
import { show } from "./ops.js";
import { formula, registers, runningAt, sizeOf, stateAt, touched, valueIn } from "./race.js";

const NEVER = { plain: 95, saved: 200 }; // px that the words on an array never made take
const PILL = { height: 26, gap: 10, narrow: 62, wide: 72, between: 14 };
const TOP = 22;
const GAP = 4;
export const CODE_WIDTH = 232; // the code column and its gap, when it stands beside memory

export function makeLane(trace, spec, words) {
  const count = spec.passes.length;
  const title =
    spec.id === "separate"
      ? words(count > 1 ? "separate" : "separate_one", { count })
      : words(count > 1 ? "fused_many" : "fused", { count });
  const printed = listing(trace, spec);
  const number = counter(spec.id, words("accesses"));
  const src = code(printed.lines, { role: "img", "aria-label": words("code_of", { title }) });
  const svg = s("svg", { role: "img" });
  const ledger = s("svg", { "aria-hidden": "true", class: "ar-ledger" });
  const note = h("span", { class: "ar-note" });
  const heading = h("div", {}, h("h4", { class: "ar-title" }, title), note);
  const root = h(
    "section",
    { class: "lab-panel ar-lane", "data-lane": spec.id, "data-testid": `lane-${spec.id}` },
    h("div", { class: "ar-head" }, heading, number.root),
    ledger,
    h("div", { class: "ar-body" }, h("div", { class: "ar-mem" }, svg), src.root),
  );
  const graphs = spec.passes.map((pass) => wires(pass.body));
  return {
    trace,
    spec,
    words,
    title,
    count: number,
    src,
    svg,
    ledger,
    note,
    root,
    graphs,
    linesAt: printed.at,
  };
}

/** How many register columns of this lane fit into a width. */
export const columnsFit = (width) =>
  Math.floor((width + PILL.between) / (PILL.narrow + PILL.between));
export const columnsWanted = (lane) => Math.max(...lane.graphs.map((graph) => graph.columns));

/** Places of one pass's registers: the graph with wires when it fits, else in order, line by
 *  line. */
function placeRegisters(graph, width, pill) {
  const step = PILL.height + PILL.gap;
  const fits = graph.columns <= columnsFit(width);
  const across = Math.min(pill + 26, (width - pill) / Math.max(1, graph.columns - 1));
  const perRow = Math.max(1, Math.floor((width + 8) / (pill + 8)));
  const at = {};
  graph.order.forEach((reg, k) => {
    const [column, row] = graph.at[reg];
    at[reg] = fits
      ? { x: column * across, y: TOP + row * step }
      : { x: (k % perRow) * (pill + 8), y: TOP + Math.floor(k / perRow) * step };
  });
  const rows = fits ? graph.rows : Math.ceil(graph.order.length / perRow);
  return { at, edges: fits ? graph.edges : [], rows };
}

/** Sizes and places for n elements in `width`; `rows` of registers are agreed between the lanes. */
export function measure(lane, n, width) {
  const { buffers } = lane.trace;
  const longest = Math.max(...buffers.map((b) => Math.min(b.name.length, 11)));
  const label = clamp(longest * 7.3 + 10, 40, 92);
  const pill = clamp(Math.floor((width - 3 * PILL.between) / 4), PILL.narrow, PILL.wide);
  const cell = clamp(Math.floor((width - label) / n) - GAP, 12, 64);
  const many = buffers.length > 6;
  const height = many ? 24 : clamp(cell, 26, 34);
  const between = many ? 4 : 8;
  const places = lane.graphs.map((graph) => placeRegisters(graph, width, pill));
  return {
    width,
    label,
    pill,
    cell,
    height,
    between,
    places,
    rows: Math.max(...places.map((x) => x.rows)),
  };
}

/** Draw the marks of a lane for one geometry; `geo.rows` is already the larger of both lanes. */
export function layoutLane(lane, n, geo, total) {
  const { buffers } = lane.trace;
  const memY = TOP + geo.rows * (PILL.height + PILL.gap) + 26;
  const row = Object.fromEntries(
    buffers.map((b, k) => [b.name, memY + k * (geo.height + geo.between)]),
  );
  const cellAt = (name, i) => ({ x: geo.label + i * (geo.cell + GAP), y: row[name] });
  const bottom = memY + buffers.length * (geo.height + geo.between);
  Object.assign(lane, { n, geo, cellAt, cells: {}, never: [] });
  put(lane.svg, { viewBox: `0 0 ${geo.width} ${bottom}`, width: geo.width, height: bottom });
  lane.passGroups = geo.places.map((place) => drawRegisters(place, geo.pill));
  lane.flyer = s("g", { class: "ar-flyer" }, s("circle", { r: 13 }), s("text", { y: 4 }));
  lane.svg.replaceChildren(
    s("text", { class: "ar-band", y: 10 }, lane.words("registers")),
    s("text", { class: "ar-band", y: memY - 10 }, lane.words("memory")),
    s("line", { class: "ar-rule", x1: 70, x2: geo.width, y1: memY - 14, y2: memY - 14 }),
    ...lane.passGroups.map((group) => group.root),
    ...buffers.flatMap((buffer) => drawRow(lane, buffer, n)),
    lane.flyer,
  );
  layoutLedger(lane, total);
}

function drawRegisters({ at, edges }, pill) {
  const lines = {};
  const pills = {};
  for (const [from, to] of edges) {
    const [p, q] = [at[from], at[to]];
    const middle = PILL.height / 2;
    const d = `M${p.x + pill} ${p.y + middle} L${q.x} ${q.y + middle}`;
    lines[`${from}>${to}`] = s("path", { class: "ar-wire", d });
  }
  const drawn = Object.entries(at).flatMap(([reg, { x, y }]) => {
    const value = s("tspan", { class: "ar-val", dx: 4 });
    const frame = { class: "ar-pill", x, y, width: pill, height: PILL.height, rx: PILL.height / 2 };
    const box = s("rect", frame);
    pills[reg] = { box, value, room: Math.floor((pill - 14 - reg.length * 6.7) / 7.2) };
    return [box, s("text", { x: x + 8, y: y + 17 }, s("tspan", { class: "ar-reg" }, reg), value)];
  });
  return { root: s("g", {}, ...Object.values(lines), ...drawn), lines, pills, at };
}

function drawRow(lane, buffer, n) {
  const { geo, cellAt } = lane;
  const { name } = buffer;
  const y = cellAt(name, 0).y;
  const middle = y + geo.height / 2;
  const kids = [
    s("text", { class: "ar-buf", x: 0, y: middle + 4 }, short(name, 11), s("title", {}, name)),
  ];
  const size = sizeOf(buffer, n);
  if (!touched(lane.spec).has(name)) {
    kids.push(...drawNever(lane, name, y, size * (geo.cell + GAP) - GAP));
    return kids;
  }
  for (let i = 0; i < size; i++) {
    const { x } = cellAt(name, i);
    const box = s("rect", { class: "ar-cell", x, y, width: geo.cell, height: geo.height, rx: 4 });
    const value = s("text", {
      class: "ar-v",
      x: x + geo.cell / 2,
      y: middle + (geo.cell >= 24 ? 1 : 4),
    });
    const pips = s("g", {});
    lane.cells[`${name}:${i}`] = { box, value, pips, x, y, buffer, i };
    kids.push(box, value, pips);
  }
  return kids;
}

/** An array that this lane never makes: one dashed place, and words in it or beside it, as many as
 *  there is room for. */
function drawNever(lane, name, y, width) {
  const { height } = lane.geo;
  const x = lane.cellAt(name, 0).x;
  const place = s("rect", { class: "ar-cell ar-ghost", x, y, width, height, rx: 4 });
  const right = lane.geo.width - x - width - 8;
  const beside = width < NEVER.saved && right > width;
  const room = beside ? right : width;
  if (room < NEVER.plain) return [place];
  const at = { x: beside ? x + width + 8 : x + width / 2, y: y + height / 2 + 4 };
  const note = s("text", { class: "ar-never", "data-beside": beside, ...at });
  lane.never.push({ name, note, whole: room >= NEVER.saved });
  return [place, note];
}

// ---- one moment ---------------------------------------------------------------------------------

export function paintLane(lane, p, total) {
  const state = stateAt(lane.steps, Math.min(p, lane.steps.length));
  const { now, f } = state;
  const move = progress(now, f);
  paintHead(lane, state, p, total);
  paintLedger(lane, state, p >= total);
  paintNever(lane, p >= total);
  paintCells(lane, state, move);
  paintRegisters(lane, state);
  paintFlyer(lane, now, now && f > 0 && move > 0 && move < 1, move);
  paintCode(lane, state);
}

/** How far the value has flown: what must be computed first comes first. */
function progress(now, f) {
  if (!now) return 0;
  if (now.kind === "write") return part(f, 0.4, 0.95);
  return part(f, now.fresh.length ? 0.32 : 0.08, 0.8);
}

function paintHead(lane, { count, done, now }, p, total) {
  const { words, spec, steps } = lane;
  text(lane.count.value, count);
  text(lane.count.total, done && formula(spec) ? `= ${formula(spec)}` : "");
  put(lane.root, { "data-done": done });
  const fewer = total - steps.length;
  const end = fewer > 0 ? words("finished_early", { count: fewer }) : words("finished");
  const where = () => now.where ?? words(now.i < 0 ? "at_before" : "at_element", { i: now.i });
  const running = () =>
    [spec.passes.length > 1 && spec.passes[now.pass].name, where()].filter(Boolean).join(", ");
  text(lane.note, p <= 0 ? words("ready") : done ? end : running());
  put(lane.svg, { "aria-label": words("counted", { title: lane.title, count }) });
}

/** Rows that this lane never allocates say so; at the end, what that saved. */
function paintNever(lane, finished) {
  const { words, savedIn } = lane;
  for (const { name, note, whole } of lane.never) {
    const saved = finished && whole;
    text(note, saved ? words("never_saved", { count: savedIn[name] ?? 0 }) : words("never"));
  }
}

function paintCells(lane, state, move) {
  const { geo } = lane;
  const { now, f, marks } = state;
  const room = Math.floor((geo.cell - 5) / 7.3);
  for (const [key, cell] of Object.entries(lane.cells)) {
    const { buffer, i } = cell;
    const here = now && f > 0 && now.buf === buffer.name && now.cell === i;
    const brought = here && (now.kind === "read" || move >= 1) ? now.value : undefined;
    const value = brought ?? valueIn(state, lane.memory, buffer, i);
    put(cell.box, { "data-now": here ? now.kind : null });
    text(cell.value, geo.cell >= 24 ? show(value, room, buffer.dtype) : "");
    paintPips(cell, marks[key] ?? [], geo);
  }
}

/** One small square an access, where it happened; the reads of a single element run on beside its
 *  cell. */
function paintPips({ pips, x, y, buffer }, marks, { cell, height }) {
  if (pips.childElementCount === marks.length) return;
  const size = clamp(cell / 6, 2.5, 5);
  const pitch = size + 2;
  const perLine = Math.max(1, Math.floor((cell - 2) / pitch));
  const square = (kind, j) => {
    const line = buffer.one ? 0 : Math.floor(j / perLine);
    const inLine = Math.min(perLine, marks.length - line * perLine);
    const left = buffer.one
      ? x + cell + 6 + j * pitch
      : x + cell / 2 + ((j % perLine) - inLine / 2) * pitch + 1;
    const top = y + height - size - 3 - line * pitch;
    return s("rect", {
      class: "ar-pip",
      "data-kind": kind,
      width: size,
      height: size,
      rx: 1,
      x: left,
      y: top,
    });
  };
  pips.replaceChildren(...marks.map(square));
}

function paintRegisters(lane, state) {
  const regs = registers(state);
  const pass = (state.now ?? state.last).pass;
  lane.passGroups.forEach((group, k) => {
    put(group.root, { display: k === pass ? null : "none" });
    if (k !== pass) return;
    for (const [reg, { box, value, room }] of Object.entries(group.pills)) {
      put(box, { "data-on": reg in regs });
      text(value, reg in regs ? show(regs[reg], room, lane.dtypes[k][reg]) : "");
    }
    for (const [key, line] of Object.entries(group.lines))
      put(line, { "data-on": key.split(">").every((reg) => reg in regs) });
  });
}

function paintFlyer(lane, now, flying, move) {
  put(lane.flyer, { "data-kind": now?.kind, visibility: flying ? "visible" : "hidden" });
  if (!flying) return;
  const { geo } = lane;
  const cell = lane.cellAt(now.buf, now.cell);
  const pill = lane.passGroups[now.pass].at[now.reg] ?? { x: 0, y: TOP };
  const inCell = { x: cell.x + geo.cell / 2, y: cell.y + geo.height / 2 };
  const inPill = { x: pill.x + geo.pill / 2, y: pill.y + PILL.height / 2 };
  const [from, to] = now.kind === "read" ? [inCell, inPill] : [inPill, inCell];
  const t = ease(move);
  put(lane.flyer, { transform: `translate(${lerp(from.x, to.x, t)} ${lerp(from.y, to.y, t)})` });
  text(lane.flyer.lastChild, show(now.value, 3, lane.dtypes[now.pass][now.reg]));
}

function paintCode(lane, state) {
  const at = runningAt(state);
  const line = at === null ? null : lane.linesAt[state.now.pass][at];
  const access = at !== null && at === state.now.at;
  for (const row of lane.src.rows) {
    const on = Number(row.dataset.line) === line;
    put(row, { "data-on": on });
    for (const token of row.querySelectorAll(".lab-tok"))
      put(token, {
        "data-on": on && access && token.dataset.tok === state.now.buf ? state.now.kind : null,
      });
  }
}
