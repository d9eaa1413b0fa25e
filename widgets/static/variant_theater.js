// VariantTheater: calls arrive, walk down the guards of each variant, hit or compile.
// In: traits trace (see theater.js), beat, language.  The pure half is theater.js; this file is the
// picture.

import { h, put, s, text } from "./dom.js";
import { counter, frame, widget } from "./lab.js";
import { player } from "./player.js";
import { paintLegs, paintToken } from "./roads.js";
import { STAGES, narrate, question, stateAt } from "./theater.js";

const COUNTS = ["hits", "misses", "recompiles", "variants"];

function card(variant, words) {
  const rows = variant.guards.map((guard) =>
    h(
      "li",
      { class: "vt-guard", title: guard.kind },
      h("i", { class: "vt-mark", "aria-hidden": "true" }),
      h("code", {}, guard.text),
    ),
  );
  const nth = h("span", { class: "vt-nth" });
  const verdict = h("div", { class: "vt-verdict" });
  const hits = h("span", { class: "vt-hits" });
  const kernels = variant.kernels.join(", ");
  const runs = kernels
    ? words("runs", { kernels })
    : words(variant.result === "eager" ? "runs_python" : "runs_graph");
  const heading = h(
    "header",
    {},
    h("span", { class: "lab-tag" }, variant.id),
    h("code", {}, variant.title),
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
    h("footer", {}, runs),
  );
  return { variant, root, rows, nth, verdict, hits, shown: null };
}

/** The user's line with the piece in question underlined. */
function excerpt({ source, at }) {
  if (!source) return null;
  const [a, b] = at ?? [source.length, source.length];
  const marked = h("u", {}, source.slice(a, b));
  return h("pre", {}, source.slice(0, a).trimStart(), marked, source.slice(b));
}

function verdictOf(fail, stop, words) {
  const lines = ({ line }, key) => (line ? h("p", {}, words(key, { line })) : null);
  if (fail) {
    const said = fail.reason || words("expected_actual", fail);
    return [h("p", {}, h("b", {}, said)), lines(fail, "because_line"), excerpt(fail)];
  }
  return stop
    ? [h("p", { class: "vt-stop" }, stop.what), lines(stop, "break_line"), excerpt(stop)]
    : [];
}

/** Everything that stands on the stage, built once. */
function furnish(ui, trace, words) {
  const zone = (name, ...kids) => {
    const heading = h("h4", { class: "lab-h" }, words(name));
    return { root: h("section", { class: `vt-zone vt-${name}` }, heading, kids), heading };
  };
  const box = (key, rest) =>
    h("div", { class: "vt-box" }, h("b", {}, words(key)), h("small", {}, words(rest)));
  const ticket = (call) =>
    h("li", { class: "vt-ticket", title: call.inputs }, h("code", {}, call.label), h("span", {}));
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
    tickets: trace.calls.map(ticket),
    cards: Object.fromEntries(trace.variants.map((v) => [v.id, card(v, words)])),
    empties: ["no_variant", "room"].map((key, at) =>
      h("div", { class: "vt-empty", style: `--slot:${at}` }, words(key)),
    ),
    stations: Object.fromEntries(STAGES.map((id) => [id, station(id)])),
    run: box("execute", "execute_rest"),
    out: box("output", "output_rest"),
    token: h("div", { class: "vt-token", "aria-hidden": "true" }),
    queue: h("span", { class: "vt-queue", title: words("asked_order") }),
  };
  const list = h("ol", { class: "vt-tickets", "data-many": trace.calls.length > 6 }, set.tickets);
  const cards = Object.values(set.cards).map((c) => c.root);
  set.slots = h("div", { class: "vt-slots" }, set.empties, cards);
  const line = h("div", { class: "vt-line" }, Object.values(set.stations));
  set.calls = zone("calls", list).root;
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

function paintTickets(set, st, words) {
  st.tickets.forEach((ticket, k) => {
    put(set.tickets[k], { "data-status": ticket.status });
    const waiting = ticket.status === "waiting";
    const key = ticket.status === "here" ? "ticket_here" : `ticket_${ticket.status}`;
    text(set.tickets[k].lastChild, waiting ? "" : words(key, { variant: ticket.variant }));
  });
}

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
  set.empties.forEach((empty, k) => put(empty, { hidden: k < st.order.length }));
}

/** All variants in the order of asking, as small tags: what the two cards in view cannot show. */
function paintQueue(set, st) {
  const state = (id) => {
    const c = st.cards[id];
    return c.fail ? "fail" : c.runs ? "ok" : c.rows.some((row) => row === "ok") ? "now" : "rest";
  };
  const key = st.order.length > 2 ? st.order.map((id) => `${id}${state(id)}`).join() : "";
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

let serial = 0;

const LEGEND = { call: "key_call", ok: "key_holds", fail: "key_fails", live: "key_variant" };

function mount(el, trace, words) {
  const stops = trace.events.some((e) => e.kind === "break");
  const keys = Object.entries(stops ? { ...LEGEND, break: "key_break" } : LEGEND);
  return frame(el, {
    widget: "variant_theater",
    words,
    title: words("theater_title"),
    claim: words("theater_claim"),
    legend: keys.map(([kind, key]) => [kind, words(key)]),
  });
}

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const ui = mount(el, trace, words);
  const counts = Object.fromEntries(COUNTS.map((name) => [name, counter(name, words(name))]));
  ui.tools.append(
    h(
      "div",
      { class: "lab-counters" },
      COUNTS.map((name) => counts[name].root),
    ),
  );
  const set = { ...furnish(ui, trace, words), headId: `vt-head-${serial++}` };
  let width = -1;
  const play = player(ui, {
    words,
    signal,
    total: () => trace.events.length,
    beatMs: () => Math.max(250, Math.min(750, 30000 / trace.events.length)),
    say: (p) => narrate(trace, p, words),
    ask: () => question(trace, words),
    draw(p) {
      if (ui.stage.clientWidth !== width) {
        width = ui.stage.clientWidth;
        fitCards(set, trace, words);
      }
      const st = stateAt(trace, p);
      for (const name of COUNTS) text(counts[name].value, st.count[name]);
      paintTickets(set, st, words);
      paintCards(set, st, words);
      paintQueue(set, st);
      paintRun(set, trace, st, words);
      paintLegs(set, ui.stage, st, words);
      paintToken(set, ui.stage, trace, st);
    },
  });
  play.paint();
  return play;
}
export default widget(build);
