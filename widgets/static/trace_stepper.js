// TraceStepper: the symbolic interpreter at work. One beat is one instruction.
// In: traits trace (see stepper.js), beat, language.  The pure half is stepper.js; this is the
// picture: source and instructions, frames with their variables and stack, graph and guards.

import { clamp, h, own, put, text } from "./dom.js";
import { graphPicture } from "./graph.js";
import { counters, flyer, frame, keepInView, listing, widget } from "./lab.js";
import { player } from "./player.js";
import { flight, narrate, nextNode, question, stateAt, tape } from "./stepper.js";

const COUNTS = { steps: "instructions", ops: "operations", guards: "guards" };
const LEGEND = {
  lazy: "key_lazy",
  constant: "key_constant",
  live: "key_tensor",
  plain: "key_plain",
  break: "key_break",
};

const panel = (name, ...kids) => h("section", { class: `lab-panel ts-${name}` }, kids);
const heading = (words, key) => h("h4", { class: "lab-h" }, words(key));

// ---- source and instructions --------------------------------------------------------------------

function makeSource(trace, words, jump) {
  const title = h("h4", { class: "lab-h" });
  const button = (id, key) =>
    own(
      h(
        "button",
        { type: "button", class: "ts-jump", "data-testid": `jump-${id}`, onclick: () => jump(id) },
        words(key),
      ),
    );
  const jumps = h(
    "span",
    { class: "ts-jumps" },
    button("node", "next_node"),
    button("end", "to_end"),
  );
  const listings = trace.listings.map(listing);
  const room = h("div", { class: "ts-source" });
  const strip = h("ol", { class: "ts-tape", "aria-label": words("instructions_label") });
  const root = panel("left", h("header", { class: "ts-top" }, title, jumps), room, strip);
  return { root, title, room, strip, listings, shown: null };
}

/** The line with the columns that the instruction came from. */
function paintSource(source, trace, st) {
  const place = st.place;
  const { lines, first, name } = trace.listings[place.code];
  const { rows, root } = source.listings[place.code];
  text(source.title, name);
  if (source.shown !== place.code) source.room.replaceChildren(root);
  source.shown = place.code;
  rows.forEach((row, n) => {
    const on = Boolean(st.event) && (place.on || place.stops) && first + n === place.line;
    const [a, b] = on && place.at ? place.at : [0, 0];
    const key = on ? `${a}:${b}` : "";
    put(row, { "data-on": on, "data-stops": on && place.stops });
    if ((row.dataset.key ?? "") === key) return;
    row.dataset.key = key;
    const line = lines[n] || " ";
    const piece = h("span", { class: "lab-tok ts-piece" }, line.slice(a, b));
    row.lastChild.replaceChildren(...(b ? [line.slice(0, a), piece, line.slice(b)] : [line]));
  });
  const row = rows[place.line - first];
  if (row) keepInView(source.room, row);
}

function paintTape(source, trace, st) {
  const key = String(st.at);
  if (source.strip.dataset.key === key) return;
  source.strip.dataset.key = key;
  const row = ({ offset, text: said, k, stops }) => {
    const attrs = {
      "data-on": k === st.at,
      "data-past": k < st.at,
      "data-stops": k === st.at && stops,
    };
    return h("li", attrs, h("span", {}, offset), h("code", {}, said));
  };
  source.strip.replaceChildren(...tape(trace, clamp(st.at, 0, trace.events.length)).map(row));
}

// ---- frames -------------------------------------------------------------------------------------

const pill = ([kind, said], attrs = {}) =>
  h("li", { class: "ts-pill", "data-kind": kind, ...attrs }, said);

function frameCard({ function: name, variables, stack, waiting }, top, st, words) {
  if (waiting)
    return h(
      "article",
      { class: "ts-frame" },
      h("header", {}, `${name}()`),
      h("p", { class: "ts-waiting" }, words("waits")),
    );
  const rows = variables.map(([local, kind, said]) =>
    h(
      "li",
      { class: "ts-local", "data-local": local },
      h("code", {}, local),
      h("span", { class: "ts-pill", "data-kind": kind }, said),
    ),
  );
  const [taken, given] = top ? [st.taken, st.given] : [0, 0];
  const values = stack.map((value, n) =>
    pill(value, {
      "data-taken": n >= stack.length - taken,
      "data-given": n >= stack.length - given,
    }),
  );
  const nothing = () => h("li", { class: "ts-empty" }, words("empty"));
  const column = (key, list) =>
    h(
      "div",
      {},
      h("h5", {}, words(key)),
      h("ul", { class: `ts-${key}` }, list.length ? list : [nothing()]),
    );
  return h(
    "article",
    { class: "ts-frame", "data-top": top },
    h("header", {}, `${name}()`),
    h("div", { class: "ts-columns" }, column("variables", rows), column("stack", values)),
  );
}

function paintFrames(frames, st, words) {
  const key = `${st.k}:${st.over}`;
  if (frames.dataset.key === key) return;
  frames.dataset.key = key;
  const last = st.frames.length - 1;
  const cards = st.frames.map((each, n) => frameCard(each, n === last, st, words)).reverse();
  frames.replaceChildren(...cards);
}

// ---- graph and guards ---------------------------------------------------------------------------

function makeGraph(trace, words) {
  const drawn = graphPicture(trace.nodes, "");
  const room = h("div", { class: "ts-graph" }, drawn.root);
  const guards = trace.guards.map(({ text: said, line, file }) =>
    h(
      "li",
      { title: said },
      h("code", {}, said),
      line ? h("small", {}, file ? `${file} ` : "", words("at_line", { line })) : null,
    ),
  );
  const named = { class: "ts-guards", tabindex: 0, "aria-label": words("guards") };
  const list = own(h("ol", named, guards));
  const none = h("p", { class: "ts-empty" }, words("no_nodes"));
  const free = h("p", { class: "ts-empty" }, words("no_guards"));
  const half = (key, ...kids) =>
    h("div", { class: "ts-part" }, heading(words, key), h("div", { class: "ts-room" }, kids));
  const root = panel("right", half("the_graph", none, room), half("guards", free, list));
  const marks = new Map(trace.nodes.map((node, n) => [node.name, drawn.marks[n]]));
  return { root, room, drawn, marks, guards, list, none, free };
}

function paintGraph(graph, trace, st, words) {
  const fresh = st.fresh?.nodes ?? Infinity;
  const order = new Map(trace.nodes.map((node, n) => [node.name, n]));
  const ended = st.event?.kind === "end" && st.over;
  trace.nodes.forEach((node, n) =>
    put(graph.drawn.marks[n], {
      "data-hidden": n >= st.nodes,
      "data-on": n < st.nodes && n >= fresh && node.op === "call",
      "data-dropped": ended && Boolean(node.dropped),
    }),
  );
  for (const edge of graph.drawn.edges)
    put(edge, { "data-hidden": order.get(edge.dataset.to) >= st.nodes });
  graph.guards.forEach((row, n) =>
    put(row, {
      hidden: n >= st.guards,
      "data-on": n < st.guards && n >= (st.fresh?.guards ?? Infinity),
    }),
  );
  put(graph.none, { hidden: st.nodes > 0 });
  put(graph.free, { hidden: st.guards > 0 });
  const label = words("graph_now", { ops: words.some("n_ops", st.ops) });
  put(graph.drawn.root.firstChild, { "aria-label": label });
  const [node, guard] = [graph.drawn.marks[st.nodes - 1], graph.guards[st.guards - 1]];
  if (node) keepInView(graph.room, node);
  if (guard) keepInView(graph.list, guard);
}

// ---- what moves ---------------------------------------------------------------------------------

/** The element that a flight begins or ends at. */
function anchor(view, name, st) {
  const [kind, id] = name.split(/:(.*)/);
  const card = view.frames.firstChild;
  if (kind === "node") return view.graph.marks.get(id);
  if (kind === "guards") return view.graph.guards[st.guards] ?? view.graph.list;
  if (kind === "frame") return view.frames;
  if (kind === "caller") return view.frames.children[1] ?? card;
  if (kind === "stack") return card?.querySelector(".ts-stack > :last-child");
  const local = [...(card?.querySelectorAll(".ts-local") ?? [])].find(
    (row) => row.dataset.local === id,
  );
  return local?.lastChild ?? card?.querySelector(".ts-variables");
}

function paintFlight(view, trace, st) {
  const way = st.f > 0 && !st.over ? flight(trace, st.k) : null;
  const [a, b] = way ? [anchor(view, way.from, st), anchor(view, way.to, st)] : [];
  view.fly(a, b, st.t);
}

// ---- the widget ---------------------------------------------------------------------------------

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const ui = frame(el, { widget: "trace_stepper", words, name: "step", legend: LEGEND });
  const count = counters(ui, words, COUNTS);
  let play = null;
  let now = 0;
  const total = () => trace.events.length;
  const jump = (id) => play.seek((id === "node" ? nextNode(trace, now) : null) ?? total());
  const view = {
    source: makeSource(trace, words, jump),
    frames: h("div", { class: "ts-cards" }),
    graph: makeGraph(trace, words),
  };
  const middle = panel("middle", heading(words, "frames"), view.frames);
  ui.stage.classList.add("ts-stage");
  ui.stage.append(view.source.root, middle, view.graph.root);
  view.fly = flyer(ui.stage);
  play = player(ui, {
    words,
    signal,
    total,
    beatMs: () => clamp(40000 / total(), 250, 1100),
    say: (p) => narrate(trace, p, words),
    ask: () => question(trace, words),
    draw(p) {
      now = p;
      const st = stateAt(trace, p);
      count(st);
      paintSource(view.source, trace, st);
      paintTape(view.source, trace, st);
      paintFrames(view.frames, st, words);
      paintGraph(view.graph, trace, st, words);
      paintFlight(view, trace, st);
    },
  });
  play.paint();
  return play;
}
export default widget(build);
