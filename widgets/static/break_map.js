// BreakMap: where a function is cut into regions, and how a call travels through the pieces.
// In: traits trace (see map.js), beat, language.  The pure half is map.js; this is the picture.
// Lanes run beside the source, line by line: the right one is Python, those left of it compiled.

import { h, own, put, text } from "./dom.js";
import { code, counters, frame, slider, widget } from "./lab.js";
import { narrate, question, roundAt, roundsBeat, rowsOf, stateAt, tintOf } from "./map.js";
import { breakCard, regionCard } from "./map_cards.js";
import { makeLanes, paintLanes } from "./map_lanes.js";
import { player } from "./player.js";

const COUNTS = { graphs: "graphs", regions: "regions", breaks: "breaks_met" };
const LEGEND = {
  compiled: "key_compiled",
  python: "key_python",
  break: "key_break",
  call: "key_call",
};
const NARROW = 560;

/** A line with the piece that breaks marked. */
function segments(trace, row) {
  const stop = trace.breaks.find((b) => b.code === row.code && b.line === row.line);
  if (!stop?.at) return [row.text || " "];
  const [a, b] = stop.at;
  return [row.text.slice(0, a), { t: row.text.slice(a, b), k: "break" }, row.text.slice(b)];
}

/** The rows of the source with the lanes beside them; built again when a fold is opened. */
function drawSource(host, trace, words, narrow, unfolded, unfold, hover) {
  const rows = rowsOf(trace, unfolded);
  const lines = rows.map((row) => (row.kind === "line" ? segments(trace, row) : [""]));
  const src = code(lines);
  src.rows.forEach((element, n) => {
    const row = rows[n];
    put(element, { "data-line": row.line, "data-kind": row.kind });
    text(element.firstChild, row.kind === "line" ? row.line : "");
    if (row.kind === "line") put(element.lastChild, { title: row.text.trim() || null });
    if (row.kind === "head") element.lastChild.append(words("called_here", { name: row.text }));
    if (row.kind === "fold") element.lastChild.append(foldButton(row, words, unfold));
    element.addEventListener("mouseenter", () => hover(row));
    element.addEventListener("mouseleave", () => hover(null));
  });
  const lanes = makeLanes(trace, rows, narrow);
  const names = [
    [lanes.geo.middle, "lane_compiled"],
    [lanes.geo.python, "lane_python"],
  ].map(([x, key]) => h("b", { style: `left:${x}px` }, words(key)));
  const title = h("h4", { class: "lab-h" }, words("your_function"));
  const top = h("header", { class: "bm-top" }, title, h("span", {}, names));
  const chips = h("div", { class: "bm-chips", "aria-hidden": "true" });
  const grid = h("div", { class: "bm-rows" }, src.root, lanes.root, chips);
  host.style.setProperty("--lanes", `${lanes.geo.width}px`);
  host.replaceChildren(top, grid);
  return { rows, src, lanes, chips };
}

function foldButton(row, words, unfold) {
  const label = words("fold_lines", { count: row.hidden.length });
  const open = () => unfold(row.code);
  return own(h("button", { type: "button", class: "bm-fold", onclick: open }, label));
}

const isCut = ({ lastChild: src }) => src.scrollWidth > src.clientWidth;

/** The line that is looked at in full, where it is cut off at the lanes; room is kept for it where
 *  any line is. */
function paintFull(full, view, pointed) {
  const at = view.rows.findIndex((row) => row.code === pointed?.code && row.line === pointed?.line);
  const on = at >= 0 ? at : view.src.rows.findIndex((row) => row.hasAttribute("data-on"));
  const row = view.rows[on];
  const told = row?.kind === "line" && isCut(view.src.rows[on]) ? row.text.trim() : "";
  put(full, { hidden: !view.cut });
  if (full.dataset.src === told) return;
  full.dataset.src = told;
  full.replaceChildren(...(told ? [h("b", {}, row.line), told] : []));
}

// ---- one moment ---------------------------------------------------------------------------------

const covers = (region, row) =>
  region.runs.some(([c, a, b]) => c === row.code && row.line >= a && row.line <= b);

/** The tint of a row: of the region that runs, else of the one entered last. */
function ownerOf(trace, st, row) {
  const known = [...st.entered].reverse();
  const first = known.includes(st.region) ? [st.region, ...known] : known;
  const id = first.find((each) =>
    covers(
      trace.regions.find((r) => r.id === each),
      row,
    ),
  );
  return id === undefined ? null : tintOf(trace, id);
}

function isOn(trace, st, row) {
  const e = st.event;
  if (!e) return false;
  if (e.kind === "run")
    return covers(
      trace.regions.find((r) => r.id === e.region),
      row,
    );
  return row.code === e.at.code && row.line === e.at.line;
}

function paintRows(view, trace, st, pointed) {
  view.rows.forEach((row, n) => {
    if (row.kind === "head") return;
    const owner = ownerOf(trace, st, row);
    const broken = trace.breaks.some(
      (b, k) => b.code === row.code && b.line === row.line && st.known.includes(k),
    );
    const blank = !/^\s*[^\s#]/.test(row.text ?? "");
    put(view.src.rows[n], {
      "data-tint": owner,
      "data-break": broken,
      "data-dim": /^\s*#/.test(row.text ?? ""),
      "data-on": row.kind === "line" && !blank && isOn(trace, st, row),
      "data-hover": Boolean(pointed) && row.code === pointed.code && row.line === pointed.line,
    });
  });
}

/** What the call carries where it changes lanes. */
function paintChips(chips, st, at) {
  const e = st.event;
  const variables = e?.handed?.at(-1)?.variables ?? [];
  const names = variables.map(([name, told]) =>
    /^[-\d.']/.test(told) ? `${name} = ${told}` : name,
  );
  const values = e?.kind === "rounds" ? (e.values[st.round - 1] ?? []) : names;
  const came = e?.kind === "python" && e.result && e.result !== "None" ? [`→ ${e.result}`] : [];
  const more = values.length > 3 ? [`+${values.length - 2}`] : [];
  const told = came.length ? came : [...values.slice(0, more.length ? 2 : 3), ...more];
  put(chips, { hidden: !told.length, style: `top:${(at.y - 11).toFixed(1)}px` });
  if (chips.dataset.src === told.join()) return;
  chips.dataset.src = told.join();
  chips.replaceChildren(...told.map((value) => h("span", {}, value)));
}

// ---- the detail ---------------------------------------------------------------------------------

/** Tabs and cards; `choose` says which is shown when nobody pinned or points at another. */
function makeDetail(trace, words, pick, repaint) {
  const form = { value: "graph", pick: (value) => ((form.value = value), repaint()) };
  const cards = new Map();
  for (const region of trace.regions)
    cards.set(region.id, regionCard(trace, region, words, pick, form));
  trace.breaks.forEach((stop, n) => cards.set(n, breakCard(trace, stop, n, words)));
  const tabs = new Map(
    [...cards.keys()].map((id) => [id, makeTab(trace, id, words, () => pin(id))]),
  );
  const group = { class: "bm-tabs", role: "group", "aria-label": words("what_to_show") };
  const strip = h("div", group, [...tabs.values()]);
  const body = h("div", { class: "bm-body" });
  const empty = h("p", { class: "bm-empty" }, words("nothing_yet"));
  const root = h("section", { class: "lab-panel bm-side" }, strip, body);
  const detail = { root, pinned: null, hovered: null };
  function pin(id) {
    detail.pinned = detail.pinned === id ? null : id;
    repaint();
  }
  let shown = null;
  detail.paint = (st, pointed) => {
    const now = st.event?.break ?? st.region ?? st.entered.at(-1);
    const wanted = [detail.hovered, detail.pinned, now, st.known.at(-1)];
    const show = wanted.find((id) => st.known.includes(id));
    for (const id of st.known) if (strip.children[st.known.indexOf(id)] !== tabs.get(id)) order(st);
    for (const [id, tab] of tabs) {
      const pressed = String(id === show);
      put(tab, {
        hidden: !st.known.includes(id),
        "aria-pressed": pressed,
        "data-pin": id === detail.pinned,
      });
    }
    if (show !== shown) body.replaceChildren(show === undefined ? empty : cards.get(show).root);
    shown = show;
    cards.get(show)?.paint(st, pointed);
  };
  /** Tabs stand in the order of being met. */
  const order = (st) => {
    const focused = strip.contains(document.activeElement) ? document.activeElement : null;
    const rest = [...tabs.keys()].filter((id) => !st.known.includes(id));
    strip.replaceChildren(...[...st.known, ...rest].map((id) => tabs.get(id)));
    focused?.focus();
  };
  return detail;
}

function makeTab(trace, id, words, pin) {
  const region = typeof id === "string";
  const line = region ? null : trace.breaks[id].line;
  const label = region ? words("region_label", { id }) : words("break_label", { line });
  const same = region ? 0 : trace.breaks.slice(0, id).filter((b) => b.line === line).length;
  const said = region ? id : `${words("break_tab", { line })}${same ? ` · ${same + 1}` : ""}`;
  const mark = region ? null : h("i", { class: "lab-key lab-key-break", "aria-hidden": "true" });
  const tint = region ? tintOf(trace, id) : "fail";
  const attrs = { type: "button", class: "bm-tab", "data-tint": tint, "data-testid": `tab-${id}` };
  return own(h("button", { ...attrs, "aria-label": label, onclick: pin }, mark, said));
}

// ---- the widget ---------------------------------------------------------------------------------

/** Rounds that one beat stands for: a slider that goes through them. */
function makeRounds(trace, words, seek) {
  const all = trace.events.flatMap((e, k) => (e.kind === "rounds" ? [k] : []));
  const knobs = new Map(
    all.map((k) => {
      const { count, of } = trace.events[k];
      const label = words("round", { of });
      const knob = slider("round", label, 2, count + 1, 2, (n) => seek(roundAt(trace, k, n - 1)));
      return [k, knob];
    }),
  );
  const root = h(
    "div",
    { class: "bm-rounds", hidden: !all.length },
    [...knobs.values()].map((k) => k.root),
  );
  return {
    root,
    paint(p, st) {
      const now = roundsBeat(trace, p);
      for (const [k, knob] of knobs) {
        put(knob.root, { hidden: k !== now });
        if (k === now) knob.show(st.round + 1);
      }
      put(root, { "data-idle": now < 0 });
    },
  };
}

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const ui = frame(el, { widget: "break_map", words, name: "map", legend: LEGEND });
  const count = counters(ui, words, COUNTS);
  const source = h("section", { class: "lab-panel bm-source" });
  let play = null;
  let pointed = null;
  const point = (place) => {
    pointed = place && place.line ? { code: place.code ?? 0, line: place.line } : null;
    play?.paint();
  };
  const detail = makeDetail(trace, words, point, () => play.paint());
  const rounds = makeRounds(trace, words, (p) => play.seek(p));
  const lines = h("div", { class: "bm-lines" });
  const full = h("p", { class: "bm-full" });
  source.append(lines, full, rounds.root);
  ui.stage.classList.add("bm-stage");
  ui.stage.append(source, detail.root);

  const unfolded = [];
  let view = null;
  let drawn = "";
  let width = -1;
  function draw(p) {
    const st = stateAt(trace, p);
    const narrow = ui.stage.clientWidth < NARROW;
    const key = `${narrow}:${unfolded}`;
    if (key !== drawn) view = drawSource(lines, trace, words, narrow, unfolded, unfold, hover);
    drawn = key;
    if (ui.stage.clientWidth !== width || view.cut === undefined) {
      width = ui.stage.clientWidth;
      view.cut = view.src.rows.some(isCut);
    }
    count(st.count);
    paintRows(view, trace, st, pointed);
    paintFull(full, view, pointed);
    detail.paint(st, pointed);
    paintChips(view.chips, st, paintLanes(view.lanes, st, words));
    rounds.paint(p, st);
  }
  function unfold(listing) {
    unfolded.push(listing);
    play.paint();
    ui.stage.focus();
  }
  function hover(row) {
    detail.hovered = null;
    if (row) {
      const at = trace.breaks.findIndex((b) => b.code === row.code && b.line === row.line);
      const region = trace.regions.findLast((r) => covers(r, row));
      detail.hovered = at >= 0 ? at : (region?.id ?? null);
    }
    point(row);
  }
  play = player(ui, {
    words,
    signal,
    total: () => trace.events.length,
    beatMs: () => 1500,
    say: (p) => narrate(trace, p, words),
    ask: () => question(trace, words),
    draw,
  });
  play.paint();
  return play;
}
export default widget(build);
