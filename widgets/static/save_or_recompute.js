// SaveOrRecompute: the joint graph and the cut through it. Forward runs down on the left, backward
// up on the right; between them is the cut with the values that wait in memory.
// In: traits trace (see save.js), answers, language.  In and out: partitioner, budget, forced.
// Nothing moves by itself, so there is no player: the slider of the budget is the bar.

import { h, own, put, rich, s, text } from "./dom.js";
import { counter, frame, segmented, widget } from "./lab.js";
import { settle } from "./player.js";
import {
  alternatives,
  budgetOf,
  chosen,
  clip,
  layout,
  marksOf,
  narrate,
  pathOf,
  question,
  size,
} from "./save.js";

const LEGEND = { write: "key_saved", live: "key_again", call: "key_forced" };
const HEAD = 24; // room for the names of the sides
const LISTED = 8; // names in a list; the picture has them all
const NAMED = 140; // pills of this width have room for a value's name

/** "mul = x * w"; of an input its name alone. */
const told = ({ name, text: said, side }) =>
  side === "input" || side === "tangent" ? said : `${name} = ${said}`;

// ---- the picture --------------------------------------------------------------------------------

/** A mark that can be picked by mouse and keyboard. */
function pickable(attrs, name, said, pick, ...kids) {
  const chosenBy = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    pick(name);
  };
  return own(
    s(
      "g",
      {
        ...attrs,
        role: "button",
        tabindex: 0,
        "aria-label": said,
        "data-name": name,
        onclick: () => pick(name),
        onkeydown: chosenBy,
      },
      s("title", {}, said),
      kids,
    ),
  );
}

function pillMark(plan, { node, place, kind }, forced, pick) {
  const [x, y] = [plan.x[place], plan.y.get(node.name) - plan.tall / 2];
  const io = node.side === "input" || node.side === "tangent";
  const shape = { x, y, width: plan.pill, height: plan.tall, rx: io ? plan.tall / 2 : 5 };
  const named = plan.pill >= NAMED && !io ? `${node.name} = ${node.text}` : node.text;
  const said = clip(named, plan.pill - 12);
  const attrs = { class: "sr-pill", "data-kind": kind, "data-place": place, "data-io": io };
  const pin = forced && place === "left";
  return pickable(
    attrs,
    node.name,
    `${told(node)}: ${node.meta}`,
    pick,
    s("rect", shape),
    s("text", { x: x + plan.pill / 2, y: y + plan.tall / 2 + 4 }, said),
    pin ? s("circle", { class: "sr-pin", cx: x + plan.pill - 4, cy: y + 2, r: 5 }) : null,
  );
}

function cellMark(plan, node, pick) {
  const [x, y] = [plan.x.cell, plan.y.get(node.name) - plan.tall / 2];
  return pickable(
    { class: "sr-cell" },
    node.name,
    `${told(node)}: ${size(node.bytes)}`,
    pick,
    s("rect", { x, y, width: plan.cell, height: plan.tall, rx: 4 }),
    s("text", { x: x + plan.cell / 2, y: y + plan.tall / 2 + 4 }, size(node.bytes)),
  );
}

function picture(trace, cut, room, { forced, words, pick }) {
  const plan = layout(trace, room);
  const { pills, cells, edges } = marksOf(trace, cut);
  const total = { width: plan.width, height: plan.height + HEAD };
  const label = words("joint_label", {
    saved: cells.length,
    bytes: size(cut.bytes),
    again: cut.again.length,
  });
  const middle = plan.x.cell + plan.cell / 2;
  const name = (key, x) => s("text", { class: "sr-side", x, y: 13 }, words(key));
  const edge = (each) =>
    s("path", {
      class: "sr-edge",
      d: pathOf(plan, each),
      "data-kind": each.kind,
      "data-from": each.from[1],
      "data-to": each.to[1],
    });
  const line = s("path", { class: "sr-line", d: `M${middle} 0V${plan.height}` });
  return s(
    "svg",
    { class: "sr-graph", role: "group", "aria-label": label, ...total },
    name("forward", plan.x.left + plan.pill / 2),
    name("the_cut", middle),
    name("backward", (plan.x.again + plan.x.right + plan.pill) / 2),
    s(
      "g",
      { transform: `translate(0 ${HEAD})` },
      line,
      edges.map(edge),
      pills.map((each) => pillMark(plan, each, each.node.name in forced, pick)),
      cells.map((node) => cellMark(plan, node, pick)),
    ),
  );
}

// ---- the value that was picked ------------------------------------------------------------------

function verdict(node, cut, words) {
  if (node.side === "backward" || node.side === "tangent") return words("verdict_gradient");
  if (cut.saved.includes(node.name)) return words("verdict_saved", { bytes: size(node.bytes) });
  if (node.view) return words("verdict_view");
  if (cut.again.includes(node.name)) return words("verdict_again");
  return words(cut.second.includes(node.name) ? "verdict_late" : "verdict_gone");
}

function facts(node, words) {
  const said = [node.meta, size(node.bytes)];
  if (node.line) said.push(words("at_line", { line: node.line }));
  if (node.returned) said.push(words("returned"));
  if (node.gradient_of) said.push(words("gradient_of", { names: node.gradient_of.join(", ") }));
  return said.join(" · ");
}

/** The three ways of treating a value, each with what it would come to. */
function ways(node, view, words, force) {
  const found = alternatives(view.trace, view.answers, view.choice, node.name);
  const now = view.choice.forced[node.name] ?? "free";
  const rows = ["free", "save", "again"].map((way) => {
    const cut = found[way];
    const refused = refusal(view, node.name, way);
    const comes = cut
      ? words("force_comes", { bytes: size(cut.bytes), cost: cut.cost })
      : words(refused ? "force_cannot" : "force_ask");
    const input = own(
      h("input", {
        type: "radio",
        name: "sr-force",
        value: way,
        disabled: Boolean(refused),
        "data-testid": `force-${way}`,
        onchange: () => force(node.name, way),
      }),
    );
    input.checked = way === now;
    const title = h("span", {}, words(`force_${way}`));
    return h("label", { class: "sr-way" }, input, title, h("small", {}, comes));
  });
  const label = words("force", { name: node.text });
  return h("fieldset", { class: "sr-ways" }, h("legend", { class: "lab-sr" }, label), rows);
}

function refusal(view, name, way) {
  if (way === "free") return null;
  return view.trace.answers[`${name}:${way}`]?.refused ?? null;
}

function card(view, words, force) {
  const node = view.trace.nodes.find((each) => each.name === view.picked);
  if (!node) return h("p", { class: "sr-hint" }, words("pick_hint"));
  const [rule, detail, flip] = view.cut.why[node.name] ?? [];
  const row = (key, said) =>
    said ? [h("dt", {}, words(key)), h("dd", {}, said)] : [];
  return h(
    "article",
    { class: "sr-card", "data-testid": "card" },
    h("h5", {}, h("code", {}, told(node)), h("span", {}, verdict(node, view.cut, words))),
    h("p", { class: "sr-facts" }, facts(node, words)),
    h(
      "dl",
      { class: "sr-why" },
      row("rule", rule && `${rule}: ${detail}`),
      row("would_flip", flip),
    ),
    node.free && view.choice.partitioner === "min_cut" ? ways(node, view, words, force) : null,
  );
}

/** What is forced, and the way back. */
function forcing(view, words, release) {
  const names = Object.keys(view.choice.forced);
  if (!names.length) return null;
  const button = h(
    "button",
    { type: "button", class: "lab-bet", "data-testid": "release", onclick: release },
    words("release"),
  );
  const list = names.flatMap((name, n) => [n ? ", " : "", h("code", {}, name)]);
  const said = h("span", {}, `${words("is_forced")}: `, list);
  return h("p", { class: "sr-forcing" }, said, own(button));
}

function lists(view, words, pick) {
  const byName = new Map(view.trace.nodes.map((node) => [node.name, node]));
  const item = (name, said) =>
    h(
      "li",
      {},
      own(
        h(
          "button",
          { type: "button", class: "sr-name", onclick: () => pick(name) },
          told(byName.get(name)),
        ),
      ),
      h("small", {}, said),
    );
  const column = (key, kind, names, said) =>
    h(
      "div",
      { class: "sr-list", "data-kind": kind },
      h("h4", { class: "lab-h" }, words(key)),
      h("ul", {}, names.slice(0, LISTED).map((name) => item(name, said(name)))),
      rest(names.length),
    );
  const rest = (count) => {
    const more = count > LISTED ? words("and_more", { count: count - LISTED }) : "";
    return h("p", { class: "sr-hint" }, count ? more : words("nothing"));
  };
  const why = (name) => view.cut.why[name]?.[0] ?? "";
  return h(
    "div",
    { class: "sr-lists" },
    column("crosses", "saved", view.cut.saved, (n) => `${size(byName.get(n).bytes)} · ${why(n)}`),
    column("is_again", "again", view.cut.again, why),
  );
}

// ---- the bar: the budget, and the places where the cut changes ----------------------------------

function budgetBar(words, set, move) {
  const out = h("span", { class: "lab-where", "data-testid": "budget" });
  const input = own(
    h("input", {
      type: "range",
      min: 0,
      max: 100,
      step: 1,
      "aria-label": words("memory_budget"),
      "data-testid": "slider-budget",
      oninput: () => set(Number(input.value) / 100),
    }),
  );
  const ticks = h("span", { class: "sr-ticks", "aria-hidden": "true" });
  const go = (id, by, sign) =>
    own(
      h(
        "button",
        {
          type: "button",
          class: "lab-btn sr-go",
          "data-testid": `go-${id}`,
          "aria-label": words(`fewer_${id}`),
          title: words(`fewer_${id}`),
          onclick: () => move(by),
        },
        sign,
      ),
    );
  const [less, more] = [go("bytes", 1, "−"), go("operations", -1, "+")];
  const track = h("span", { class: "sr-track" }, input, ticks);
  const name = h("span", { class: "sr-budget" }, words("memory_budget"));
  function show(cuts, cut, budget, off) {
    for (const each of [input, less, more]) each.disabled = off;
    input.value = String(Math.round(100 * budget));
    input.style.setProperty("--fill", `${100 * budget}%`);
    text(out, `${Math.round(100 * budget)} %`);
    less.disabled ||= cut === cuts.at(-1);
    more.disabled ||= cut === cuts[0];
    const places = off ? [] : cuts.map((each) => 100 * budgetOf(cuts, each));
    ticks.replaceChildren(
      ...places.map((place) => h("i", { style: `inset-inline-start: ${place}%` })),
    );
  }
  return { parts: [name, less, track, more, out], show };
}

// ---- the widget ---------------------------------------------------------------------------------

function mount(el, words) {
  const ui = frame(el, { widget: "save_or_recompute", words, name: "save", legend: LEGEND });
  put(ui.bar, { "aria-label": words("memory_budget") });
  put(ui.stage, { "aria-label": words("save_title") });
  return ui;
}

/** Asks what the min-cut saves, until an answer is given or the min-cut is looked at. */
function opening(ui, trace, words, answer) {
  const asked = question(trace);
  const bet = { guess: null, key: null };
  const option = (value) =>
    own(
      h(
        "button",
        {
          type: "button",
          class: "lab-bet",
          "data-testid": `bet-${value}`,
          onclick: () => {
            bet.guess = value;
            answer();
          },
        },
        value,
      ),
    );
  ui.ask.replaceChildren(...(asked?.options ?? []).map(option));
  return {
    open: Boolean(asked),
    ask: () => words("cut_ask", { fn: trace.function, bytes: size(trace.default.bytes) }),
    /** About the guess, as long as nothing else is chosen. */
    judge(choice) {
      if (bet.guess === null) return "";
      const key = JSON.stringify(choice);
      bet.key ??= key;
      return key === bet.key ? settle(words, asked, bet.guess) + words.gap : "";
    },
  };
}

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const ui = mount(el, words);
  const counts = {
    bytes: counter("bytes", words("saved_bytes")),
    again: counter("again", words("operators_again")),
    cost: counter("cost", words("operations_again")),
  };
  const set = (values) => {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
    paint();
  };
  const minCut = (values = {}) => set({ partitioner: "min_cut", ...values });
  const kinds = ["default", "min_cut"].map((key) => [key, words(`partition_${key}`)]);
  const mode = segmented("partitioner", words("partitioner"), kinds, "default", (key) =>
    set({ partitioner: key }),
  );
  const roots = Object.values(counts).map((each) => each.root);
  ui.tools.append(h("div", { class: "lab-counters" }, roots), mode.root);
  const start = opening(ui, trace, words, () => {
    minCut();
    mode.root.querySelector("input:checked").focus(); // the options vanish: hand the focus on
  });
  let asking = start.open && model.get("partitioner") === "default";
  let picked = null;

  const choice = () => ({
    partitioner: model.get("partitioner") ?? "default",
    budget: model.get("budget") ?? 1,
    forced: model.get("forced") ?? {},
  });
  const answers = () => model.get("answers") ?? {};
  const bar = budgetBar(
    words,
    (budget) => minCut({ budget }),
    (by) => {
      const { cut, cuts } = chosen(trace, answers(), { ...choice(), partitioner: "min_cut" });
      const next = cuts[cuts.indexOf(cut) + by];
      if (next) minCut({ budget: budgetOf(cuts, next) });
    },
  );
  ui.bar.append(...bar.parts);
  const graph = h("div", { class: "sr-room" });
  const side = h("aside", { class: "lab-panel sr-side-panel" });
  ui.stage.classList.add("sr-stage");
  ui.stage.append(h("section", { class: "lab-panel sr-picture" }, graph), side);

  const force = (name, way) => {
    const { [name]: _, ...others } = choice().forced;
    minCut({ forced: way === "free" ? others : { ...others, [name]: way } });
    side.querySelector(`input[value="${way}"]`)?.focus();
  };
  const release = () => {
    set({ forced: {} });
    ui.stage.focus(); // the button vanishes
  };
  const pick = (name) => {
    picked = picked === name ? null : name;
    const focus = document.activeElement?.closest?.("[data-name]")?.dataset;
    paint();
    if (focus) graph.querySelector(`[data-name="${name}"]`)?.focus();
  };

  function paint() {
    const now = choice();
    asking &&= now.partitioner === "default";
    const { cut, cuts } = chosen(trace, answers(), now);
    const view = { trace, answers: answers(), choice: now, cut, picked };
    mode.show(now.partitioner);
    put(ui.ask, { hidden: !asking });
    put(ui.root, { "data-state": asking ? "asking" : "done", "data-partitioner": now.partitioner });
    paintCounts(cut, now);
    bar.show(cuts, cut, now.budget, now.partitioner === "default");
    const room = Math.max(280, graph.clientWidth || 600);
    graph.replaceChildren(picture(trace, cut, room, { forced: now.forced, words, pick }));
    light(graph, picked);
    const parts = [card(view, words, force), forcing(view, words, release)];
    side.replaceChildren(...parts.filter(Boolean), lists(view, words, pick));
    const said = asking ? start.ask() : start.judge(now) + narrate(trace, answers(), now, words);
    rich(ui.say, said);
    text(ui.live, said.replaceAll("`", ""));
  }
  function paintCounts(cut, now) {
    text(counts.bytes.value, size(cut.bytes));
    const total = words("of_default", { bytes: size(trace.default.bytes) });
    text(counts.bytes.total, now.partitioner === "default" ? "" : total);
    text(counts.again.value, cut.again.length);
    text(counts.cost.value, cut.cost);
  }
  let wide = 0;
  const watch = new ResizeObserver(() => {
    if (graph.clientWidth === wide) return;
    wide = graph.clientWidth;
    paint();
  });
  watch.observe(graph);
  const stop = () => watch.disconnect();
  signal?.addEventListener("abort", stop);
  paint();
  return { stop, seek() {}, partitioner: paint, budget: paint, forced: paint, answers: paint };
}

/** The value that was picked, in all its marks, and the edges at them. */
function light(graph, picked) {
  for (const mark of graph.querySelectorAll("[data-name]")) {
    const on = mark.dataset.name === picked;
    put(mark, { "data-on": on, "aria-pressed": String(on) });
  }
  for (const edge of graph.querySelectorAll(".sr-edge"))
    put(edge, { "data-on": edge.dataset.from === picked || edge.dataset.to === picked });
}
export default widget(build, { follow: ["partitioner", "budget", "forced", "answers"] });
