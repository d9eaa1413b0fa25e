// The theater's settings: the switch for dynamic shapes with what each setting came to so far, the
// sizes of the calls, and the recompile limit. The switch shows plays that are here already; sizes
// and limit are run by the compiler, so they ask the kernel.
// In: the model, its trace {limit, sizes, plays}.  Out: `makeSettings`, elements and a painter.

import { h, own, put, text, unique } from "./dom.js";
import { COUNTS } from "./theater.js";
import { counters, slider } from "./lab.js";

/** The settings of the switch, and the values of `dynamic` in Python. */
export const SETTINGS = { static: false, automatic: null, dynamic: true };
const SPELLED = { static: "False", automatic: "None", dynamic: "True" };
const PATIENCE = 5000; // milliseconds until a kernel that does not answer is said to be missing
const LARGEST = 4096;
const MOST = 16;
const NAMES = Object.keys(COUNTS);

/** The play that a model shows: {name, play}. */
export function playOf(model) {
  const { plays } = model.get("trace");
  if (plays.own) return { name: "own", play: plays.own };
  const name = Object.keys(SETTINGS).find((id) => SETTINGS[id] === model.get("dynamic"));
  return { name, play: plays[name] };
}

/** Sizes as they are typed, or null where they make no sense. */
export function parseSizes(typed) {
  const words = typed.split(/[\s,;]+/).filter(Boolean);
  const sizes = words.map((word) => (/^\d+$/.test(word) ? Number(word) : NaN));
  const fine = sizes.length && sizes.length <= MOST && sizes.every((n) => n <= LARGEST);
  return fine ? sizes : null;
}

/** What each play came to, once it was seen to its end: totals are not told before. */
const seen = new WeakMap();

function earned(trace, name, count) {
  if (!seen.has(trace)) seen.set(trace, {});
  const known = seen.get(trace);
  if (count) known[name] = { ...count };
  return known;
}

// ---- asking the kernel --------------------------------------------------------------------------

/** Asks for other calls or another limit, says so, and says when nobody answers. A new trace builds
 *  the view again, so an answer needs nothing here. */
function courier(model, el, note, words) {
  const { sizes, limit } = model.get("trace");
  const shown = { sizes, recompile_limit: limit };
  let timer = 0;
  const fail = () => text(note, words("no_kernel"));
  return {
    stop: () => clearTimeout(timer),
    send(trait, value) {
      clearTimeout(timer);
      if (el.closest(".jupyter-widgets-disconnected")) return fail();
      if (JSON.stringify(shown[trait]) === JSON.stringify(value)) return;
      text(note, words("asking"));
      timer = setTimeout(fail, PATIENCE);
      try {
        model.set(trait, value);
        model.save_changes();
      } catch {
        model.set(trait, shown[trait]);
        fail(); // a stored page has no channel to send on
      }
    },
  };
}

// ---- the elements -------------------------------------------------------------------------------

/** The switch as a table: a row a setting, with the counts it came to. */
function makeBoard(model, words, now) {
  const pick = (id) => {
    model.set("dynamic", SETTINGS[id]);
    try {
      model.save_changes();
    } catch {
      // without a kernel nobody has to know
    }
  };
  const group = unique("vt-dynamic");
  const rows = Object.keys(SETTINGS).map((id) => {
    const input = own(
      h("input", {
        type: "radio",
        name: group,
        value: id,
        "data-testid": `dynamic-${id}`,
        onchange: () => pick(id),
      }),
    );
    input.checked = id === now;
    const label = h("label", {}, input, words(`set_${id}`), h("code", {}, SPELLED[id]));
    // The row that is shown has the counters themselves, of the present beat.
    const number = (name) =>
      id === now
        ? h("b", { class: "lab-num", "data-testid": `count-${name}` })
        : h("span", { "data-testid": `total-${id}-${name}` });
    const cells = NAMES.map(number);
    const columns = cells.map((cell) => h("td", {}, h("span", { class: "lab-counter" }, cell)));
    const row = h("tr", { "data-now": id === now }, h("th", { scope: "row" }, label), columns);
    return { id, row, cells };
  });
  const heads = NAMES.map((name) => h("th", { scope: "col" }, words(name)));
  const corner = h("th", { scope: "col" }, words("dynamic_shapes"));
  const root = h(
    "table",
    { class: "vt-board", "aria-label": words("dynamic_shapes") },
    h("thead", {}, h("tr", {}, corner, heads)),
    h(
      "tbody",
      {},
      rows.map(({ row }) => row),
    ),
  );
  const paint = (count, known) => {
    for (const { id, cells } of rows) {
      const shown = id === now ? count : known[id];
      NAMES.forEach((name, k) => {
        text(cells[k], shown ? shown[name] : "–");
        put(cells[k], { title: shown ? null : words("not_played") });
      });
    }
  };
  return { root, paint };
}

function makeSizes(sizes, send, note, words) {
  const id = unique("vt-sizes");
  const input = own(
    h("input", {
      id,
      type: "text",
      inputmode: "numeric",
      value: sizes.join(", "),
      style: `width:${Math.max(16, sizes.join(", ").length + 3)}ch`,
      "data-testid": "sizes",
      autocomplete: "off",
      spellcheck: "false",
    }),
  );
  const run = () => {
    const wanted = parseSizes(input.value);
    put(input, { "aria-invalid": wanted ? null : "true" });
    if (wanted) send("sizes", wanted);
    else text(note, words("wrong_sizes", { largest: LARGEST, most: MOST }));
  };
  // JupyterLab lets no form be submitted.
  input.addEventListener("keydown", (event) => event.key === "Enter" && run());
  const attrs = { type: "button", class: "lab-bet", "data-testid": "run-sizes", onclick: run };
  const button = own(h("button", attrs, words("run_sizes")));
  const label = h("label", { for: id }, words("sizes"));
  return h("div", { class: "vt-sizes" }, label, input, button);
}

/** The counters, and everything there is to set: nothing for a recording, or for what was compiled
 *  elsewhere. */
export function makeSettings(ui, model, el, words, name) {
  if (name === "own") return { paint: counters(ui, words, COUNTS), stop() {} };
  const trace = model.get("trace");
  const note = h("p", { class: "vt-note", role: "status" });
  const post = courier(model, el, note, words);
  let later = 0;
  const limited = (value) => {
    clearTimeout(later); // who slides on asks once
    later = setTimeout(() => post.send("recompile_limit", value), 250);
  };
  const board = makeBoard(model, words, name);
  const sizes = trace.sizes.length ? makeSizes(trace.sizes, post.send, note, words) : null;
  const most = Math.max(8, Math.min(MOST, trace.plays[name].calls.length), trace.limit);
  const limit = slider("limit", words("limit"), 1, most, trace.limit, limited);
  const attrs = { class: "vt-settings", role: "group", "aria-label": words("settings") };
  ui.tools.append(board.root);
  ui.root.insertBefore(h("div", attrs, sizes, limit.root, note), ui.root.children[1]);
  return {
    /** `finished`: the play was seen to its end. */
    paint(count, finished) {
      board.paint(count, earned(trace, name, finished ? count : null));
    },
    stop() {
      clearTimeout(later);
      post.stop();
    },
  };
}
