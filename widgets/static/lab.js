// The frame every widget stands in: title, tools, one sentence, stage, bar, legend; and its
// controls. A widget is: trace (JSON) -> state(trace, p) (pure) -> paint(state). See player.js for
// `p`.

import { h, lerp, own, put, spot, text, unique } from "./dom.js";
import { tongue } from "./words.js";

/** Title and claim, tools, the sentence, the stage, the bar, the legend, one live region. `name` is
 *  the first part of the words for title and claim; legend = {kind of key: word}. */
export function frame(host, { widget, words, name, legend, graph }) {
  const [title, claim] = [words(`${name}_title`), words(`${name}_claim`)];
  const group = (name, label) => ({ class: name, role: "group", "aria-label": label });
  const ui = {
    tools: h("div", { class: "lab-tools" }),
    say: h("p", { class: "lab-say", "data-testid": "say" }),
    ask: h("div", group("lab-ask", words("prediction"))),
    stage: own(
      h("div", {
        ...group("lab-stage", words("animation", { title })),
        tabindex: 0,
        "data-testid": "stage",
      }),
    ),
    bar: h("div", group("lab-bar", words("playback"))),
    live: h("p", { class: "lab-sr", role: "status", "aria-live": "polite" }),
  };
  const key = ([kind, word]) =>
    h("span", {}, h("i", { class: `lab-key lab-key-${kind}`, "aria-hidden": "true" }), words(word));
  const heading = h(
    "div",
    {},
    h("h3", { class: "lab-title" }, title),
    h("p", { class: "lab-claim" }, claim),
    graph && h("p", { class: "lab-claim", "data-testid": "graph" }, words("one_graph", graph)),
  );
  ui.root = h(
    "section",
    { class: "lab", lang: words.language, "aria-label": title, "data-widget": widget },
    h("header", { class: "lab-head" }, heading, ui.tools),
    h("div", { class: "lab-tell" }, ui.say, ui.ask),
    ui.stage,
    ui.bar,
    h("footer", { class: "lab-legend" }, Object.entries(legend).map(key)),
    ui.live,
  );
  host.replaceChildren(ui.root);
  return ui;
}

/** A big number with its name; `total` is the faint text beside it. */
export function counter(id, name) {
  const value = h("b", { class: "lab-num", "data-testid": `count-${id}` }, "0");
  const total = h("span", { class: "lab-of", "data-testid": `formula-${id}` });
  const root = h(
    "div",
    { class: "lab-counter" },
    h("span", {}, value, total),
    h("small", {}, name),
  );
  return { root, value, total };
}

/** A row of counters among the tools, {id: word}; gives what shows {id: number}. */
export function counters(ui, words, names) {
  const all = Object.entries(names).map(([id, word]) => [id, counter(id, words(word))]);
  ui.tools.append(
    h(
      "div",
      { class: "lab-counters" },
      all.map(([, { root }]) => root),
    ),
  );
  return (count) => all.forEach(([id, { value }]) => text(value, count[id]));
}

/** One of few: a segmented radio group of [id, name]; `show` sets it from outside. */
export function segmented(id, label, options, value, pick) {
  const name = unique(`lab-${id}`);
  const inputs = options.map(([key]) =>
    own(
      h("input", {
        type: "radio",
        name,
        value: key,
        "data-testid": `${id}-${key}`,
        onchange: () => pick(key),
      }),
    ),
  );
  const show = (next) => inputs.forEach((input) => (input.checked = input.value === next));
  show(value);
  const labels = options.map(([, title], k) => h("label", {}, inputs[k], h("span", {}, title)));
  const root = h("fieldset", { class: "lab-seg" }, h("legend", { class: "lab-sr" }, label), labels);
  return { root, show };
}

/** A range input with its name and value; `show` sets it from outside. */
export function slider(id, label, min, max, value, pick) {
  const out = h("span", { class: "lab-slider-value" });
  const input = own(
    h("input", {
      type: "range",
      min,
      max,
      step: 1,
      "aria-label": label,
      "data-testid": `slider-${id}`,
      oninput: () => {
        show(Number(input.value));
        pick(Number(input.value));
      },
    }),
  );
  const root = h("label", { class: "lab-slider" }, h("span", {}, label), input, out);
  function show(next) {
    input.value = String(next);
    text(out, next);
    input.style.setProperty("--fill", `${(100 * (next - min)) / (max - min)}%`);
  }
  show(value);
  return { root, show };
}

/** One of many: a menu of [id, name, disabled?]. */
export function chooser(id, label, options, value, pick) {
  const entries = options.map(([key, name, disabled]) =>
    h("option", { value: key, disabled, selected: key === value }, name),
  );
  const menu = own(
    h(
      "select",
      {
        class: "lab-select",
        "aria-label": label,
        "data-testid": `choose-${id}`,
        onchange: () => pick(menu.value),
      },
      entries,
    ),
  );
  return { root: h("label", { class: "lab-chooser" }, h("span", {}, label), menu) };
}

/** A disc that goes from one element to another: `move(from, to, t)`, hidden without both. */
export function flyer(stage) {
  const disc = h("div", { class: "lab-flyer", "aria-hidden": "true", hidden: true });
  stage.append(disc);
  return (from, to, t) => {
    put(disc, { hidden: !from || !to });
    if (!from || !to) return;
    const [a, b] = [spot(from, stage, 0.1), spot(to, stage, 0.1)];
    const [x, y] = [lerp(a.x, b.x, t), lerp(a.y, b.y, t)];
    disc.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  };
}

/** Scroll inside of a box only, never the page. */
export function keepInView(box, element) {
  const [a, b] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  if (b.top < a.top) box.scrollTop -= a.top - b.top + 20;
  else if (b.bottom > a.bottom) box.scrollTop += b.bottom - a.bottom + 20;
  if (b.left < a.left) box.scrollLeft -= a.left - b.left + 20;
  else if (b.right > a.right && b.width < a.width) box.scrollLeft += b.right - a.right + 20;
}

/** Code lines; a segment is a string or {t, k}, where k names what lights it. */
export function code(lines, attrs = {}) {
  const segment = (piece) =>
    typeof piece === "string"
      ? piece
      : h("span", { class: "lab-tok", "data-tok": piece.k }, piece.t);
  const rows = lines.map((line, index) =>
    h(
      "div",
      { class: "lab-line", "data-line": index + 1 },
      h("span", { class: "lab-no", "aria-hidden": "true" }, index + 1),
      h("span", { class: "lab-src" }, line.map(segment)),
    ),
  );
  return { root: h("div", { class: "lab-code", ...attrs }, rows), rows };
}

/** The lines of a function under the numbers they have in its file. */
export function listing({ lines, first }) {
  const made = code(lines.map((line) => [line || " "]));
  made.rows.forEach((row, n) => text(row.firstChild, first + n));
  return made;
}

/** One line of the user's with a piece of it underlined; `before` stands in front of it. */
export function excerpt(source, at, before = null) {
  const [a, b] = at ?? [source.length, source.length];
  const marked = h("u", {}, source.slice(a, b));
  return h("pre", {}, before, source.slice(0, a).trimStart(), marked, source.slice(b));
}

/** An anywidget from `build({model, el, signal, words}, before) -> player`. A new trace, another
 *  language, or a trait named in `anew` builds the view again (`before` is the player there was),
 *  and the focus stays where it was; `beat` lets a notebook cell or a test put the playhead
 *  somewhere; a trait named in `follow` is handed to the player's method of that name. */
export function widget(build, { follow = [], anew = [] } = {}) {
  return {
    render({ model, el, signal }) {
      const make = (before) =>
        build({ model, el, signal, words: tongue(model.get("language")) }, before);
      let play = make(null);
      const move = () => play.seek(model.get("beat"));
      const rebuild = () => {
        const focused = el.contains(document.activeElement) && document.activeElement.dataset;
        play.stop();
        play = make(play);
        if (focused?.testid) el.querySelector(`[data-testid="${focused.testid}"]`)?.focus();
      };
      const heard = { "change:beat": move };
      for (const name of ["trace", "language", ...anew]) heard[`change:${name}`] = rebuild;
      for (const name of follow) heard[`change:${name}`] = () => play[name](model.get(name));
      for (const [event, listener] of Object.entries(heard)) model.on(event, listener);
      if (model.get("beat")) move();
      return () => {
        for (const [event, listener] of Object.entries(heard)) model.off(event, listener);
        play.stop();
      };
    },
  };
}
