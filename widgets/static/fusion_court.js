// FusionCourt: operators, the pairs that were tried, and the verdict on each. One beat is one pair.
// In: traits trace (see court.js), answers, beat, language.  In and out: pair, two operators whose
// verdict is wanted.  The pure half is court.js, the board is court_board.js; this is the court.

import {
  answerTo,
  bridge,
  cardOf,
  memoryOf,
  narrate,
  picked,
  question,
  ruleName,
  rulesOf,
  stateAt,
  ticks,
  totalOf,
  verdictOf,
} from "./court.js";
import { hint, makeBoard, paintBoard } from "./court_board.js";
import { lifePicture, packed, reuses, rowsAt } from "./court_memory.js";
import { clamp, h, own, put, rich, text } from "./dom.js";
import { counter, frame, keepInView, widget } from "./lab.js";
import { player } from "./player.js";

const LEGEND = {
  write: "fc_key_memory",
  live: "fc_key_register",
  ok: "fc_key_ok",
  fail: "fc_key_fail",
  skip: "fc_key_skip",
};
const COUNTS = { loops: "fc_loops_left", accesses: "fc_accesses", bytes: "fc_bytes" };

// ---- counters -----------------------------------------------------------------------------------

function makeCounts(ui, trace, words) {
  const all = Object.entries(COUNTS).map(([id, word]) => [id, counter(id, words(word))]);
  ui.tools.append(
    h(
      "div",
      { class: "lab-counters" },
      all.map(([, { root }]) => root),
    ),
  );
  return (now) => {
    for (const [id, { value, total }] of all) {
      text(value, now[id]);
      text(total, now[id] === trace.start[id] ? "" : words("fc_from", { n: trace.start[id] }));
    }
  };
}

// ---- the pair in court --------------------------------------------------------------------------

function makeCourt(words) {
  const stage = h("h4", { class: "lab-h" });
  const pair = h("p", { class: "fc-pair", "data-testid": "pair" });
  const rules = h("ol", { class: "fc-rules", "aria-label": words("fc_rules") });
  const verdict = h("p", { class: "fc-verdict", "data-testid": "verdict" });
  const root = h("section", { class: "lab-panel fc-court" }, stage, pair, rules, verdict);
  return { root, stage, pair, rules, verdict };
}

/** `shown` is {stage, verdict, asked, decided, demanded} or null. */
function paintCourt(court, trace, shown, words) {
  put(court.root, { "data-empty": !shown });
  if (!shown) {
    text(court.stage, words("fc_stage_rest"));
    court.pair.replaceChildren();
    court.rules.replaceChildren();
    rich(court.verdict, words("fc_pick"));
    put(court.verdict, { "data-ok": null });
    return;
  }
  const { stage, verdict, asked, decided, demanded } = shown;
  text(court.stage, words(`fc_stage_${demanded ? "demand" : stage}`));
  const token = (name) => h("code", { class: "fc-token" }, name);
  court.pair.replaceChildren(token(verdict.first), h("span", {}, "|"), token(verdict.second));
  const rows = ticks(rulesOf(trace, stage), verdict, decided ? Infinity : asked);
  court.rules.replaceChildren(
    ...rows.map(({ name, mark }) =>
      h(
        "li",
        { "data-mark": mark },
        h("i", { class: `lab-key lab-key-${mark}`, "aria-hidden": "true" }),
        ruleName(name, words),
      ),
    ),
  );
  rich(court.verdict, decided ? cardOf(verdict, words) : "");
  put(court.verdict, { "data-ok": decided ? String(verdict.ok) : null });
}

/** Every pair in the order of being tried; each leads to its moment. */
function makeTried(trace, words, jump) {
  const rows = trace.events.map(({ first, second, rule, saved }, n) => {
    const said = saved ? words("fc_saves", { n: saved }) : "";
    const button = h(
      "button",
      { type: "button", class: "fc-try", "data-testid": `try-${n}`, onclick: () => jump(n + 1) },
      h("i", { class: "lab-key", "aria-hidden": "true" }),
      h("code", {}, `${first} | ${second}`),
      h("span", {}, rule),
      h("small", {}, said),
    );
    return h("li", {}, own(button));
  });
  const list = h("ol", { class: "fc-tries", "aria-label": words("fc_tried") }, rows);
  const title = h("h4", { class: "lab-h" }, words("fc_tried"));
  return { root: h("section", { class: "lab-panel fc-tried" }, title, list), list, rows };
}

function paintTried(tried, trace, st) {
  tried.rows.forEach((row, n) => {
    const told = n < st.at || (n === st.at && st.decided);
    const { ok } = trace.events[n];
    put(row, { "data-on": n === st.at, "data-told": told });
    put(row.firstChild.firstChild, {
      class: `lab-key lab-key-${told ? (ok ? "ok" : "fail") : "skip"}`,
    });
  });
  if (st.at >= 0) keepInView(tried.list, tried.rows[st.at]);
}

// ---- memory -------------------------------------------------------------------------------------

function makeMemory(trace, words) {
  const charts = ["before", "after"].map((when) => {
    const plan = trace.memory[when];
    const title = words(`fc_memory_${when}`);
    const told = memoryOf(plan, words);
    const room = h("div", { class: "fc-bars" });
    const note = h("small", {}, told);
    const root = h("div", { class: "fc-chart" }, h("h4", { class: "lab-h" }, title, note), room);
    return { when, plan, room, note, root, label: words("fc_lives", { title, told }) };
  });
  return { root: h("section", { class: "lab-panel fc-memory" }, charts.map((c) => c.root)), charts };
}

function paintMemory(memory, st) {
  const { moved, t, at } = st.memory;
  for (const { when, plan, room, note, label } of memory.charts) {
    const apart = when === "before";
    const stored = new Set(st.counts.stored);
    const gone = plan.lives.map((life) => life.buffer).filter((name) => !stored.has(name));
    const rows = apart ? packed(plan) : rowsAt(plan, moved, t);
    const now = apart || !st.scheduled ? null : (reuses(plan)[at] ?? null);
    const width = Math.max(240, room.clientWidth);
    const key = JSON.stringify([width, rows, apart ? gone : 0, now?.buffer]);
    put(room, { "data-later": !apart && !st.scheduled });
    put(note, { "data-later": !apart && !st.end });
    if (room.dataset.key === key) continue;
    room.dataset.key = key;
    const moment = { rows, gone: new Set(apart ? gone : []), now };
    room.replaceChildren(lifePicture(plan, width, moment, label));
  }
}

// ---- the widget ---------------------------------------------------------------------------------

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const { graph } = trace;
  const ui = frame(el, { widget: "fusion_court", words, name: "fc", legend: LEGEND, graph });
  const count = makeCounts(ui, trace, words);
  const total = () => totalOf(trace);
  let play = null;
  let now = 0;
  const pairOf = () => model.get("pair") ?? [];
  const demand = (pair) => {
    model.set("pair", pair);
    model.save_changes();
    play.paint();
  };
  const court = makeCourt(words);
  const choose = (name) => demand(picked(pairOf(), name));
  const board = makeBoard(trace, words, choose, (a, b) => demand([a, b]));
  const tried = makeTried(trace, words, (beat) => play.seek(beat));
  ui.stage.classList.add("fc-stage");
  const memory = makeMemory(trace, words);
  const picture = h("section", { class: "lab-panel fc-board" }, board.root, hint(words));
  const side = (...kids) => h("div", { class: "fc-side" }, kids);
  ui.stage.append(side(picture, memory.root), side(court.root, tried.root));

  /** The pair on demand: its verdict, or that the kernel is asked. */
  const wanted = () => {
    const pair = pairOf();
    if (pair.length < 2) return null;
    return { pair, verdict: answerTo(trace, model.get("answers") ?? {}, pair) };
  };
  const say = (p) => {
    const found = wanted();
    const [name] = pairOf();
    if (found?.verdict) return verdictOf(found.verdict, words);
    if (found) return words("fc_waiting", { a: found.pair[0], b: found.pair[1] });
    return name ? words("fc_picked", { name }) : narrate(trace, p, words);
  };
  const shownIn = (st) => {
    const found = wanted();
    if (found?.verdict)
      return { ...found, stage: found.verdict.stage, decided: true, demanded: true };
    return st.event && { stage: st.event.stage, verdict: st.event, ...st };
  };
  const momentOf = (st) => {
    const found = wanted();
    const { event, f } = st;
    const link = event && !found ? bridge(event, board.at) : null;
    return {
      groups: st.groups,
      sides: event && !found && f > 0 ? [event.a, event.b] : [[], []],
      pair: pairOf(),
      join: link && st.join ? { ends: link, t: st.join } : null,
      cross: link && f > 0 && st.decided && !event.ok ? link : null,
    };
  };
  play = player(ui, {
    words,
    signal,
    total,
    beatMs: () => clamp(36000 / Math.max(1, total()), 900, 2600),
    say,
    ask: () => question(trace, words),
    asking: () => !pairOf().length,
    draw(p) {
      if (p !== now && pairOf().length) {
        model.set("pair", []); // time goes on: the court has its own pair again
        model.save_changes();
      }
      now = p;
      const st = stateAt(trace, p);
      count(st.counts);
      paintBoard(board, trace, momentOf(st));
      const label = words("fc_board", { fn: trace.function, n: st.counts.loops });
      put(board.svg, { "aria-label": label });
      paintCourt(court, trace, shownIn(st), words);
      paintTried(tried, trace, st);
      paintMemory(memory, st);
    },
  });
  play.pair = play.answers = play.paint;
  play.paint();
  return play;
}

export default widget(build, { follow: ["pair", "answers"] });
