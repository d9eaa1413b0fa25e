// VariantTheater: calls arrive, walk down the guards of each variant, hit or compile.
// In: traits trace {limit, sizes, plays: {own} or {static, automatic, dynamic}} (a play is what
// theater.js reads), dynamic, sizes, recompile_limit, beat, language.  The pure half is theater.js,
// what can be set is theater_settings.js; this file is the picture.

import { h, own, put, s, text, unique } from "./dom.js";
import { excerpt, frame, widget } from "./lab.js";
import { player } from "./player.js";
import { paintLegs, paintToken } from "./roads.js";
import { STAGES, narrate, stateAt } from "./theater.js";
import { folded } from "./theater_fold.js";
import { makeSettings, playOf } from "./theater_settings.js";
import { makeTickets } from "./theater_tickets.js";

/** A guard, or several that stand behind each other, which can be unfolded. */
function guardRow({ kind, text: single, all }, words, refit) {
  const mark = h("i", { class: "vt-mark", "aria-hidden": "true" });
  if (!all) return h("li", { class: "vt-guard", title: kind }, mark, h("code", {}, single));
  const said = words("guards_folded", { count: all.length });
  const title = own(h("summary", {}, said));
  const texts = all.map((each) => h("li", {}, h("code", {}, each)));
  const list = own(h("ul", { tabindex: 0, "aria-label": said }, texts));
  const details = h("details", { ontoggle: refit }, title, list);
  return h("li", { class: "vt-guard" }, mark, details);
}

function card(variant, words, refit) {
  const rows = variant.guards.map((guard) => guardRow(guard, words, refit));
  const nth = h("span", { class: "vt-nth" });
  const verdict = h("div", { class: "vt-verdict" });
  const hits = h("span", { class: "vt-hits" });
  const heading = h(
    "header",
    {},
    h("span", { class: "lab-tag" }, variant.id),
    h("code", { title: variant.title }, variant.title),
    hits,
  );
  const root = h(
    "article",
    {
      class: "vt-card",
      "data-variant": variant.id,
      "data-result": variant.result,
      "data-testid": `variant-${variant.id}`,
      "aria-label": words("variant_label", { id: variant.id }),
    },
    heading,
    nth,
    h("ol", {}, rows),
    verdict,
    h("footer", {}, whatRuns(variant, words)),
  );
  return { variant, root, rows, nth, verdict, hits, shown: null };
}

function whatRuns({ kernels, result, same }, words) {
  if (kernels.length) return words("runs", { kernels: kernels.join(", ") });
  if (result === "eager") return words("runs_python");
  return same ? words("runs_same", { variant: same }) : words("runs_graph");
}

function verdictOf(fail, stop, words) {
  const lines = ({ line, source, at }, key) => [
    line ? h("p", {}, words(key, { line })) : null,
    source ? excerpt(source, at) : null,
  ];
  if (fail) {
    const said = fail.reason || words("expected_actual", fail);
    return [h("p", {}, h("b", {}, said)), ...lines(fail, "because_line")];
  }
  return stop
    ? [h("p", { class: "vt-stop" }, stop.what), ...lines(stop, "break_line")]
    : [];
}

/** Everything that stands on the stage, built once. */
function furnish(ui, trace, limit, tickets, words, refit) {
  const zone = (name, ...kids) => {
    const heading = h("h4", { class: "lab-h" }, words(name));
    return { root: h("section", { class: `vt-zone vt-${name}` }, heading, kids), heading };
  };
  const box = (key, rest) =>
    h("div", { class: "vt-box" }, h("b", {}, words(key)), h("small", {}, words(rest)));
  // A backend of one's own is handed the graph, and a graph known already is compiled by nobody.
  const visited = new Set(trace.events.filter((e) => e.kind === "stage").map((e) => e.stage));
  const unused = (id) => visited.size > 0 && !visited.has(id);
  const station = (id) =>
    h(
      "div",
      { class: "vt-station", "data-stage": id, "data-unused": unused(id) },
      h("b", {}, id),
      h("small", {}, words(unused(id) ? "unused_stage" : id)),
    );
  const set = {
    legs: s("svg", { class: "vt-legs", "aria-hidden": "true" }),
    tickets: tickets.roots,
    cards: Object.fromEntries(trace.variants.map((v) => [v.id, card(v, words, refit)])),
    empties: ["no_variant", "room", "room"].map((key, at) =>
      h("div", { class: "vt-empty", style: `--slot:${at}` }, words(at < limit ? key : "no_room")),
    ),
    stations: Object.fromEntries(STAGES.map((id) => [id, station(id)])),
    run: box("execute", "execute_rest"),
    out: box("output", "output_rest"),
    token: h("div", { class: "vt-token", "aria-hidden": "true" }),
    queue: h("span", { class: "vt-queue", title: words("asked_order") }),
  };
  const cards = Object.values(set.cards).map((c) => c.root);
  set.slots = h("div", { class: "vt-slots" }, set.empties, cards);
  const line = h("div", { class: "vt-line" }, Object.values(set.stations));
  const calls = zone("calls", tickets.list);
  calls.heading.append(tickets.score);
  set.calls = calls.root;
  const variants = zone("variants", set.slots);
  variants.heading.append(set.queue);
  set.variants = variants.root;
  set.compile = zone("compile", line).root;
  set.running = zone("run", set.run, set.out).root;
  ui.stage.classList.add("vt-stage");
  ui.stage.append(set.legs, set.calls, set.variants, set.running, set.compile, set.token);
  return set;
}

// ---- one moment ---------------------------------------------------------------------------------

function paintCards(set, st, words) {
  const ordinals = words("ordinals").split(" ");
  for (const [id, c] of Object.entries(set.cards)) {
    const { at, seen } = st.slots[id];
    const now = st.cards[id];
    put(c.root, {
      style: `--slot:${at.toFixed(3)};opacity:${seen.toFixed(3)}`,
      "data-runs": now.runs,
      "data-fail": Boolean(now.fail),
      "aria-hidden": seen ? null : "true",
    });
    now.rows.forEach((row, k) =>
      put(c.rows[k], { "data-state": row ?? (now.fail ? "skip" : null) }),
    );
    const nth = st.order.indexOf(id);
    text(c.nth, nth < 0 ? "" : words("nth", { nth: ordinals[nth] ?? nth + 1 }));
    text(c.hits, c.variant.result === "eager" ? "" : words.some("hit_count", now.hits));
    if (c.shown !== now.fail) {
      c.shown = now.fail;
      const parts = verdictOf(now.fail, c.variant.stop, words);
      c.verdict.replaceChildren(...parts.filter(Boolean));
    }
  }
  set.empties.forEach((empty, k) =>
    put(empty, { hidden: k < st.order.length || k >= set.visible }),
  );
}

/** All variants in the order of asking, as small tags: what the two cards in view cannot show. */
function paintQueue(set, st) {
  const state = (id) => {
    const c = st.cards[id];
    return c.fail ? "fail" : c.runs ? "ok" : c.rows.some((row) => row === "ok") ? "now" : "rest";
  };
  const key = st.order.length > set.visible ? st.order.map((id) => `${id}${state(id)}`).join() : "";
  if (set.queue.dataset.key === key) return;
  set.queue.dataset.key = key;
  const tags = key
    ? st.order.map((id) => h("span", { class: "vt-mini", "data-state": state(id) }, id))
    : [];
  set.queue.replaceChildren(...tags);
}

function paintRun(set, trace, st, words) {
  for (const [id, station] of Object.entries(set.stations))
    put(station, { "data-state": st.stations[id] });
  const running = st.running;
  const python =
    running && trace.variants.find((v) => v.id === running.variant)?.result !== "graph";
  put(set.run, { "data-state": running ? (python ? "python" : "now") : null });
  const what = () => (python ? words("executing_python") : words("executing", running));
  text(set.run.lastChild, running ? what() : words("execute_rest"));
  const raised = st.out?.result === "raised";
  put(set.out, { "data-state": st.out ? (raised ? "raised" : "done") : null });
  const said = () => words(raised ? "output_raised" : "output_of", { n: st.out.call + 1 });
  text(set.out.lastChild, st.out ? said() : words("output_rest"));
}

/** Cards are as high as the highest needs to be, its verdict included, so that nothing jumps
 *  later. */
function fitCards(set, trace, words) {
  const fails = trace.events.filter((e) => e.kind === "guard" && !e.ok);
  let height = 200;
  set.slots.style.setProperty("--h", "auto");
  for (const c of Object.values(set.cards)) {
    const mine = fails.filter((e) => e.variant === c.variant.id);
    for (const fail of mine.length ? mine : [null]) {
      c.verdict.replaceChildren(...verdictOf(fail, c.variant.stop, words).filter(Boolean));
      height = Math.max(height, c.root.scrollHeight + 4);
    }
    c.shown = undefined;
  }
  set.slots.style.setProperty("--h", `${Math.ceil(height)}px`);
}

const LEGEND = { call: "key_call", ok: "key_holds", fail: "key_fails", live: "key_variant" };
const [WIDE, NARROW] = [1080, 480]; // three cards are in view, two, or one

/** Where a play begins when another one was shown: at its end if that was at its end, else with the
 *  call that was on stage. */
function startOf(trace, before) {
  if (!before || before.at() === 0) return 0;
  if (before.at() >= before.trace.events.length) return trace.events.length;
  const { call } = before.trace.events[Math.floor(before.at())];
  return Math.max(
    0,
    trace.events.findIndex((e) => e.call === call),
  );
}

function build({ model, el, signal, words }, before) {
  const { name, play: whole } = playOf(model);
  const trace = folded(whole);
  const stops = trace.events.some((e) => e.kind === "break");
  const legend = stops ? { ...LEGEND, break: "key_break" } : LEGEND;
  const ui = frame(el, { widget: "variant_theater", words, name: "theater", legend });
  const guesses = trace.calls.map(() => null);
  let play = null;
  const tickets = makeTickets(trace, guesses, words, () => play.paint());
  const limit = model.get("trace").limit ?? Infinity; // a recording does not tell
  let width = -1;
  const refit = () => {
    width = -1;
    play.paint();
  };
  const parts = furnish(ui, trace, limit, tickets, words, refit);
  const set = { ...parts, headId: unique("vt-head"), visible: 2 };
  const settings = makeSettings(ui, model, el, words, name);
  play = player(ui, {
    words,
    signal,
    total: () => trace.events.length,
    beatMs: () => Math.max(250, Math.min(750, 30000 / trace.events.length)),
    say: (p) => narrate(trace, p, words, guesses),
    ask: () => null,
    draw(p) {
      if (ui.stage.clientWidth !== width) {
        width = ui.stage.clientWidth;
        set.visible = width >= WIDE ? 3 : width >= NARROW ? 2 : 1;
        put(ui.stage, { style: `--visible:${set.visible}` });
        fitCards(set, trace, words);
      }
      const st = stateAt(trace, p, set.visible);
      tickets.paint(st);
      paintCards(set, st, words);
      paintQueue(set, st);
      paintRun(set, trace, st, words);
      paintLegs(set, ui.stage, trace, st, words);
      paintToken(set, ui.stage, trace, st, words);
      settings.paint(st.count, p >= trace.events.length);
    },
  });
  const start = startOf(trace, before);
  if (start) play.seek(start);
  else play.paint();
  const stop = () => {
    settings.stop();
    play.stop();
  };
  return { ...play, stop, trace };
}
export default widget(build, { anew: ["dynamic"] });
