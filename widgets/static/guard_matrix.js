// GuardMatrix: a row a variant, a column a guard; the first that fails is red, the rest is not
// asked.
// In: traits trace (see matrix.js), beat, language.  The pure half is matrix.js; what a chosen
// guard says beside the user's line is guard_detail.js; this file is the table.

import { h, own, put, text } from "./dom.js";
import { makeDetail } from "./guard_detail.js";
import { counters, frame, widget } from "./lab.js";
import {
  askedBy,
  beatsOf,
  cellAt,
  focusAt,
  isCrowded,
  narrate,
  plainColumns,
  question,
  rowsAt,
  sawAt,
  stateAt,
} from "./matrix.js";
import { player } from "./player.js";

const COUNTS = {
  asked: "guards_asked",
  failed: "guards_failed",
  hits: "hits",
  compiled: "compiled",
};
const FADE = 32; // pixels at an edge that has more behind it
const LEGEND = {
  ok: "key_holds",
  fail: "key_fails",
  skip: "key_unasked",
  new: "key_new",
  would: "key_would",
};

// ---- the calls ----------------------------------------------------------------------------------

function makeCalls(trace, words, go) {
  const buttons = trace.play.calls.map((call, n) =>
    own(
      h(
        "button",
        {
          type: "button",
          class: "gm-call",
          title: call.inputs,
          "data-testid": `call-${n + 1}`,
          onclick: () => go(n),
        },
        h("small", {}, words("call_n", { n: n + 1 })),
        h("code", {}, call.label),
      ),
    ),
  );
  const root = h(
    "div",
    { class: "gm-calls", role: "group", "aria-label": words("calls") },
    buttons,
  );
  const paint = (st) =>
    buttons.forEach((button, n) =>
      put(button, { "aria-pressed": String(Boolean(st.beat) && n === st.call) }),
    );
  return { root, paint };
}

// ---- the table ----------------------------------------------------------------------------------

function makeRow(trace, variant, plain, words, choose) {
  const guards = trace.rows[variant];
  const cells = trace.columns.map((_, column) => h("td", { "data-plain": plain.has(column) }));
  const marks = guards.map((guard, index) => {
    const saw = h("span", { class: "gm-saw" });
    const button = own(
      h(
        "button",
        {
          type: "button",
          class: "gm-cell",
          tabindex: -1,
          "data-testid": `cell-${variant}-${index}`,
          onclick: () => choose({ variant, index }),
        },
        h("i", { class: "gm-mark", "aria-hidden": "true" }),
        h("span", { class: "gm-expected" }, guard.expected || guard.text),
        saw,
      ),
    );
    cells[guard.column].append(button);
    return { button, saw, guard };
  });
  const fate = h("span", { class: "gm-fate" });
  const nth = h("small", {});
  const head = h("th", { scope: "row" }, h("span", { class: "lab-tag" }, variant), nth, fate);
  const root = h("tr", { "data-testid": `row-${variant}` }, head, cells);
  return { variant, root, marks, fate, nth };
}

/** A name that may be folded behind its underscores and dots. */
const breakable = (name) => name.replace(/[_.](?=.)/g, "$&\u200b");

function makeTable(trace, words, choose) {
  const plain = plainColumns(trace);
  const heads = trace.columns.map(({ kind, source }, column) =>
    h(
      "th",
      { scope: "col", "data-plain": plain.has(column), title: `${source} ${kind}` },
      h("span", {}, h("code", {}, breakable(source)), h("small", {}, breakable(kind))),
    ),
  );
  const rows = Object.keys(trace.rows).map((variant) =>
    makeRow(trace, variant, plain, words, choose),
  );
  const body = h("tbody", {});
  const none = h("p", { class: "gm-none" }, words("no_variant"));
  const corner = h("th", { scope: "col" }, words("variant"));
  const attrs = { class: "gm-table", "aria-label": words("matrix_label") };
  const table = h("table", attrs, h("thead", {}, h("tr", {}, corner, heads)), body);
  const most = Math.min(4, rows.length);
  const room = h("div", { class: "gm-room", style: `--rows:${most}` }, table, none);
  const more = h("p", { class: "gm-more", "aria-hidden": "true" });
  const root = h("div", { class: "gm-all-rows" }, room, more);
  const made = { root, room, table, body, none, heads, more };
  table.addEventListener("keydown", (event) => walk(event, body));
  room.addEventListener("scroll", () => paintEdges(made, words));
  return { ...made, rows: new Map(rows.map((row) => [row.variant, row])) };
}

/** Which sides of a table that scrolls have more, and how many guards. */
function paintEdges({ room, heads, more }, words) {
  const left = room.scrollLeft > 1;
  const right = room.scrollLeft + room.clientWidth < room.scrollWidth - 1;
  const edge = room.getBoundingClientRect().right;
  const hidden = heads.filter((head) => head.getBoundingClientRect().right > edge + 1).length;
  put(room, { "data-left": left, "data-right": right });
  put(more, { hidden: !left && !right });
  text(more, right ? words.some("more_guards", hidden) : words("more_left"));
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Arrow keys go from guard to guard; the player has them everywhere else. */
function walk(event, body) {
  const step = STEPS[event.key];
  const here = event.target.closest("td");
  if (!step || !here) return;
  event.preventDefault();
  event.stopPropagation();
  const rows = [...body.children];
  let [y, x] = [rows.indexOf(here.parentElement), [...here.parentElement.children].indexOf(here)];
  for (;;) {
    [y, x] = [y + step[0], x + step[1]];
    const cell = rows[y]?.children[x];
    if (!cell || cell.matches("th")) return;
    if (cell.firstChild) return cell.firstChild.focus();
  }
}

function paintTable(table, trace, st, chosen, all, words) {
  const order = rowsAt(st);
  const ordinals = words("ordinals").split(" ");
  if (table.body.dataset.order !== order.join()) {
    const focused = document.activeElement;
    table.body.replaceChildren(...order.map((variant) => table.rows.get(variant).root));
    if (table.body.contains(focused)) focused.focus();
  }
  table.body.dataset.order = order.join();
  put(table.none, { hidden: order.length > 0 });
  order.forEach((variant, n) => {
    const row = table.rows.get(variant);
    const nth = words("nth", { nth: ordinals[n] ?? n + 1 });
    text(row.nth, st.end?.made === variant ? "" : nth);
    text(row.fate, fateOf(st, variant, words));
    put(row.root, {
      "data-now": Boolean(st.rows[variant]?.now),
      "data-fate": fateKey(st, variant),
    });
    row.marks.forEach(({ button, saw, guard }, index) => {
      const state = cellAt(trace, st, variant, index, all);
      const failed = state === "fail" || state === "would-fail";
      const actual = failed ? sawAt(trace, st, variant).actual : "";
      const here = chosen?.variant === variant && chosen.index === index;
      put(button, {
        "data-state": state,
        "data-chosen": here,
        tabindex: here || (!chosen && n === 0 && index === 0) ? 0 : -1,
        "aria-label": `${guard.text}: ${words(`cell_${state.replace("-", "_")}`, { actual })}`,
      });
      text(saw, failed ? words("not_but", { actual }) : "");
    });
  });
  table.heads.forEach((head, column) => {
    const guard = chosen && trace.rows[chosen.variant]?.[chosen.index];
    put(head, { "data-on": guard?.column === column });
  });
}

function fateKey(st, variant) {
  if (st.end?.made === variant) return "new";
  const row = st.rows[variant];
  if (!row) return st.end ? "unasked" : null;
  if (!row.over) return null;
  return row.failed ? "out" : "hit";
}

function fateOf(st, variant, words) {
  const key = fateKey(st, variant);
  return key ? words(`fate_${key}`) : "";
}

// ---- the widget ---------------------------------------------------------------------------------

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const legend = { ...LEGEND };
  if (!trace.whole.length) delete legend.would;
  const ui = frame(el, { widget: "guard_matrix", words, name: "matrix", legend });
  const count = counters(ui, words, COUNTS);
  let play = null;
  let pinned = null;
  let all = false;
  const go = (call) => {
    pinned = null;
    play.seek(askedBy(trace, call));
  };
  const choose = (cell) => {
    const same = pinned?.variant === cell.variant && pinned?.index === cell.index;
    pinned = same ? null : cell;
    play.paint();
  };
  const calls = makeCalls(trace, words, go);
  const table = makeTable(trace, words, choose);
  const detail = makeDetail(trace, words);
  const box = own(
    h("input", {
      type: "checkbox",
      "data-testid": "ask-all",
      onchange: () => {
        all = box.checked;
        play.paint();
      },
    }),
  );
  const whole = trace.whole.length ? h("label", { class: "gm-all" }, box, words("ask_all")) : null;
  ui.stage.classList.add("gm-stage");
  ui.stage.append(h("div", { class: "gm-top" }, calls.root, whole ?? ""), table.root, detail.root);
  let beat = null;
  play = player(ui, {
    words,
    signal,
    total: () => beatsOf(trace).length,
    beatMs: () => 1400,
    say: (p) => narrate(trace, p, words),
    ask: () => question(trace, words),
    draw(p) {
      const st = stateAt(trace, p);
      if (st.beat !== beat) pinned = null; // what happens now is what is looked at
      beat = st.beat;
      const known = pinned && rowsAt(st).includes(pinned.variant);
      const chosen = known ? pinned : focusAt(st);
      count(st.count);
      calls.paint(st);
      put(table.table, { "data-crowded": isCrowded(trace, ui.stage.clientWidth) });
      paintTable(table, trace, st, chosen, all, words);
      detail.paint(st, chosen, all);
      follow(table, chosen);
      paintEdges(table, words);
    },
  });
  play.paint();
  return play;
}

/** Scroll the table's own room sideways to the guard that is looked at. */
function follow({ room, rows }, chosen) {
  const cell = chosen && rows.get(chosen.variant).marks[chosen.index].button;
  if (!cell || room.scrollWidth <= room.clientWidth) return;
  const [a, b] = [room.getBoundingClientRect(), cell.getBoundingClientRect()];
  const fixed = room.querySelector("th").offsetWidth;
  if (b.left < a.left + fixed) room.scrollLeft -= a.left + fixed - b.left + 8;
  else if (b.right > a.right - FADE) room.scrollLeft += b.right - a.right + FADE;
}
export default widget(build);
