// LoopStepper: one loop body asked by handler after handler. One beat is one question.
// In: traits trace (see bodies.js), beat, language.  In and out: when, body, element: which body is
// shown, and which turn of its loops the interpreter tells.  The pure half is bodies.js; this is
// the picture: source, the table of questions and answers, what the present handler has so far.

import {
  cellOf,
  chosen,
  lineOf,
  narrate,
  question,
  resultOf,
  stateAt,
  toldBy,
  totalOf,
} from "./bodies.js";
import { clamp, h, own, put, text } from "./dom.js";
import { chooser, flyer, frame, keepInView, listing, segmented, slider, widget } from "./lab.js";
import { player } from "./player.js";

const LEGEND = { read: "ls_key_read", write: "ls_key_write", call: "ls_key_now" };

// ---- what is chosen -----------------------------------------------------------------------------

function tools(ui, trace, body, words, model) {
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const times = ["before", "after"].map((key) => [key, words(`ls_${key}`)]);
  const when = segmented("when", words("ls_when"), times, model.get("when"), (key) => {
    model.set("body", 0);
    set("when", key);
  });
  const bodies = trace[model.get("when")];
  const names = bodies.map(({ title, extern }, n) => [
    String(n),
    extern ? words("ls_external", { title }) : title,
    Boolean(extern),
  ]);
  const at = String(bodies.indexOf(body));
  const pick = chooser("body", words("ls_body"), names, at, (key) => set("body", Number(key)));
  const { turns } = body.handlers.find((handler) => handler.turns);
  const last = turns.length - 1;
  const element = slider("element", words("ls_element"), 0, last, turnOf(model, body), (n) =>
    set("element", n),
  );
  ui.tools.append(when.root, pick.root, ...(last > 0 ? [element.root] : []));
  return element;
}

const turnOf = (model, body) => {
  const { turns } = body.handlers.find((handler) => handler.turns);
  const wanted = model.get("element") ?? -1;
  return wanted < 0 ? turns.length - 1 : clamp(wanted, 0, turns.length - 1);
};

// ---- the table ----------------------------------------------------------------------------------

function makeTable(body, words, run) {
  const title = (handler) => words(`ls_${handler.id}`);
  const head = (handler, n) => {
    const label = words("ls_run", { name: handler.name });
    const attrs = { type: "button", class: "ls-run", "data-testid": `run-${handler.id}` };
    const at = h("small", {});
    const press = { ...attrs, title: label, onclick: () => run(n) };
    const button = h("button", press, title(handler), at);
    return { at, root: h("th", { scope: "col", "data-col": n }, own(button)) };
  };
  const heads = body.handlers.map(head);
  const rows = body.questions.map(({ text: said }) => {
    const cells = body.handlers.map((_, n) => h("td", { "data-col": n }, h("span")));
    const ask = h("th", { scope: "row", class: "ls-question" }, said);
    return { ask, cells, root: h("tr", { class: "ls-row" }, ask, cells) };
  });
  const several = body.sections.some((section) => section.pass || section.level === "before");
  const parts = body.sections.flatMap((section, n) => {
    const end = body.sections[n + 1]?.first ?? body.questions.length;
    const key = section.level === "before" ? "ls_row" : "ls_pass";
    const note = several ? words(key, { n: section.pass + 1 }) : "";
    const span = { colspan: body.handlers.length + 1, class: "ls-def" };
    const head = h("span", {}, section.head, h("small", {}, note));
    const line = h("tr", {}, h("th", span, head));
    return [line, ...rows.slice(section.first, end).map((row) => row.root)];
  });
  const results = body.handlers.map((_, n) => h("td", { "data-col": n }, h("span")));
  const foot = h("tr", {}, h("th", { scope: "row" }, words("ls_so_far")), results);
  const label = words("ls_table", { n: body.questions.length });
  const columns = [h("th", { scope: "col" }, words("ls_body")), ...heads.map((each) => each.root)];
  const table = h(
    "table",
    { class: "ls-table", "aria-label": label },
    h("thead", {}, h("tr", {}, columns)),
    h("tbody", {}, parts),
    h("tfoot", {}, foot),
  );
  const room = own(h("div", { class: "ls-room", tabindex: 0, "aria-label": label }, table));
  return { root: room, heads, rows, results };
}

function paintTable(table, body, turn, st, words) {
  body.handlers.forEach((each, n) => {
    const handler = toldBy(each, turn);
    const here = n === st.h;
    put(table.heads[n].root, { "data-now": here });
    text(table.heads[n].at, handler.at ?? "");
    table.rows.forEach(({ cells }, q) => {
      text(cells[n].firstChild, cellOf(handler, handler.steps[q], words));
      put(cells[n], {
        "data-now": here,
        "data-hidden": q >= st.done[n],
        "data-fresh": here && q === st.q && !st.asking,
      });
    });
    const { value, noun } = resultOf(handler, Math.max(1, st.done[n]), words);
    text(table.results[n].firstChild, `${value} ${noun}`.trim());
    put(table.results[n], { "data-now": here, "data-hidden": !st.done[n] });
  });
  table.rows.forEach(({ root }, q) => put(root, { "data-on": q === st.q }));
  if (st.q >= 0) keepInView(table.root, table.rows[st.q].cells[st.h]);
}

// ---- what one handler has so far ----------------------------------------------------------------

function makeSoFar(words) {
  const name = h("code", {});
  const title = h("h4", { class: "lab-h" }, name, h("span", {}, words("ls_so_far")));
  const value = h("b", { class: "lab-num", "data-testid": "result" });
  const noun = h("small", {});
  const list = own(h("ul", { class: "ls-lines", tabindex: 0, "aria-label": words("ls_so_far") }));
  const figure = h("p", { class: "ls-figure" }, value, noun);
  const root = h("section", { class: "lab-panel ls-sofar" }, title, list, figure);
  return { root, name, value, noun, list };
}

function paintSoFar(panel, body, turn, st, words) {
  const handler = toldBy(body.handlers[st.h], turn);
  const done = st.done[st.h];
  const key = `${st.h}:${turn}`;
  if (panel.list.dataset.key !== key) {
    panel.list.dataset.key = key;
    const mark = ({ mark: kind, table }) =>
      kind ?? { loads: "read", stores: "write" }[table] ?? "none";
    panel.list.replaceChildren(
      ...handler.lines.map((line) =>
        h("li", { "data-mark": mark(line) }, h("code", {}, lineOf(line, words))),
      ),
    );
    put(panel.list, { "data-plain": ["show", "numba", "cuda"].includes(handler.id) });
  }
  text(panel.name, handler.name);
  handler.lines.forEach((line, n) => {
    const row = panel.list.children[n];
    const fresh = line.since === st.q && line.since < done;
    put(row, { "data-hidden": line.since >= done, "data-on": fresh });
    if (fresh) keepInView(panel.list, row);
  });
  const { value, noun } = done ? resultOf(handler, done, words) : { value: "", noun: "" };
  text(panel.value, value);
  text(panel.noun, noun);
}

// ---- the widget ---------------------------------------------------------------------------------

function makeSource(trace) {
  if (!trace.source) return null;
  const made = listing(trace.source);
  const root = h("div", { class: "ls-source" }, made.root);
  return { root, rows: made.rows };
}

function paintSource(source, trace, body, st) {
  const line = body.questions[st.q]?.line;
  source?.rows.forEach((row, n) => put(row, { "data-on": trace.source.first + n === line }));
}

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const body = chosen(trace, model.get("when"), model.get("body"));
  const { graph } = trace;
  const ui = frame(el, { widget: "loop_stepper", words, name: "ls", legend: LEGEND, graph });
  const element = tools(ui, trace, body, words, model);
  const total = () => totalOf(body);
  let play = null;
  const source = makeSource(trace);
  const run = (n) => play.seek(n * body.questions.length + 1);
  const table = makeTable(body, words, run);
  const panel = makeSoFar(words);
  ui.stage.classList.add("ls-stage");
  const left = h("section", { class: "lab-panel ls-body" }, source?.root, table.root);
  ui.stage.append(left, panel.root);
  const fly = flyer(ui.stage);
  play = player(ui, {
    words,
    signal,
    total,
    beatMs: () => clamp(40000 / total(), 250, 1000),
    say: (p) => narrate(trace, body, turnOf(model, body), p, words),
    ask: () => question(body, words),
    draw(p) {
      const st = stateAt(body, p);
      const turn = turnOf(model, body);
      paintSource(source, trace, body, st);
      paintTable(table, body, turn, st, words);
      paintSoFar(panel, body, turn, st, words);
      const row = st.asking ? table.rows[st.q] : null;
      fly(row?.ask, row?.cells[st.h], st.t);
    },
  });
  play.element = () => {
    element.show(turnOf(model, body));
    play.paint();
  };
  play.paint();
  return play;
}

export default widget(build, { follow: ["element"], anew: ["when", "body"] });
