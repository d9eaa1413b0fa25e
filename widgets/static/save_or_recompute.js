// SaveOrRecompute: the joint graph and the cut through it. Forward runs down on the left, backward
// up on the right; between them is the cut with the values that wait in memory.
// In: traits trace (see save.js), answers, language.  In and out: partitioner, budget, forced.
// Nothing moves by itself, so there is no player: the slider of the budget is the bar.

import { h, own, put, rich, text } from "./dom.js";
import { counter, frame, segmented, widget } from "./lab.js";
import { betButton, settle } from "./player.js";
import { budgetOf, chosen, narrate, percent, question, size } from "./save.js";
import { card, forcing, lists } from "./save_card.js";
import { light, picture } from "./save_picture.js";

const LEGEND = { write: "key_saved", live: "key_again", call: "key_forced" };

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
    input.value = String(percent(budget));
    input.style.setProperty("--fill", `${100 * budget}%`);
    text(out, `${percent(budget)} %`);
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

function mount(el, words, { graph }) {
  const traits = { widget: "save_or_recompute", words, name: "save", legend: LEGEND, graph };
  const ui = frame(el, traits);
  put(ui.bar, { "aria-label": words("memory_budget") });
  put(ui.stage, { "aria-label": words("save_title") });
  return ui;
}

/** Asks what the min-cut saves, until an answer is given or the min-cut is looked at. */
function opening(ui, trace, words, answer) {
  const asked = question(trace);
  const bet = { guess: null, key: null };
  const option = (value) =>
    betButton(value, () => {
      bet.guess = value;
      answer();
    });
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
  const ui = mount(el, words, trace);
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

export default widget(build, { follow: ["partitioner", "budget", "forced", "answers"] });
