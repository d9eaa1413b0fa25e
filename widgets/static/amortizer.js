// Amortizer: four sums with sliders. In: traits trace (see amortize.js), language.  In and out:
// mode, source ("article" or "measured"), moved ({mode: {field: number}}).
// Nothing moves by itself, so there is no player: the slider in the bar is the playhead.

import {
  FIELDS,
  formula,
  MODES,
  narrate,
  nearest,
  plain,
  question,
  results,
  shown,
  time,
  times,
  valuesOf,
} from "./amortize.js";
import { picture } from "./amortize_picture.js";
import { h, own, put, rich, text } from "./dom.js";
import { counter, frame, segmented, widget } from "./lab.js";
import { betButton, settle } from "./player.js";

const LEGEND = { "am-slow": "key_am_slow", "am-fast": "key_am_fast", "am-launch": "key_am_launch",
  break: "key_am_break" };
// What a question asks about, where that is not what the sliders show.
const REVEAL = { launches: { launches: { launch: 2e-5 } } };
const SAME = new Set(["variants", "breaks"]); // fields that are called like a mode

/** A slider over a list of values; shows the value, not the place. */
function amount(mode, field, words, pick) {
  const list = FIELDS[mode][field];
  const name = words(SAME.has(field) ? `am_${field}_field` : `am_${field}`);
  const out = h("span", { class: "lab-slider-value am-amount", "data-testid": `value-${field}` });
  const input = own(
    h("input", {
      type: "range",
      min: 0,
      max: list.length - 1,
      step: 1,
      "aria-label": name,
      "data-testid": `slider-${field}`,
      oninput: () => pick(field, list[Number(input.value)]),
    }),
  );
  function show(value) {
    const at = nearest(list, value);
    input.value = String(at);
    put(input, { "aria-valuetext": shown(field, value) });
    input.style.setProperty("--fill", `${(100 * at) / (list.length - 1)}%`);
    text(out, shown(field, value));
  }
  return { root: h("label", { class: "lab-slider am-slider" }, h("span", {}, name), input, out), show };
}

/** The big number of a mode, and the faint one beside it. */
function headline(mode, values, words) {
  const found = results(mode, values);
  if (mode === "launches")
    return ["am_speedup", times(found.speedup), words("am_in_the_limit", { limit: times(found.limit) })];
  if (mode === "break_even")
    return ["am_pays_at", Number.isFinite(found.at) ? plain(found.at) : words("am_never"), ""];
  if (mode === "variants")
    return ["am_overtakes", Number.isFinite(found.at) ? plain(found.at) : words("am_never"), ""];
  const iteration = words("am_an_iteration", { iteration: time(found.iteration) });
  return ["am_run", time(found.run), iteration];
}

function build({ model, el, words }) {
  const trace = model.get("trace");
  const ui = frame(el, { widget: "amortizer", words, name: "amortize", legend: LEGEND });
  put(ui.bar, { "aria-label": words("am_calculation") });
  put(ui.stage, { "aria-label": words("amortize_title") });
  const big = counter("result", "");
  const name = big.root.querySelector("small");
  const mode = () => model.get("mode") ?? MODES[0];
  const moved = () => model.get("moved") ?? {};
  const measured = Boolean(trace.figures.measured);
  const source = () => (measured ? model.get("source") : "article");
  const values = () => valuesOf(trace, source(), mode(), moved());
  const guesses = {};

  const set = (traits) => {
    for (const [key, value] of Object.entries(traits)) model.set(key, value);
    model.save_changes();
    paint();
  };
  const pick = (field, value) =>
    set({ moved: { ...moved(), [mode()]: { ...moved()[mode()], [field]: value } } });
  const options = MODES.map((key) => [key, words(`am_${key}`)]);
  const modes = segmented("mode", words("am_calculation"), options, mode(), (key) =>
    set({ mode: key }),
  );
  const kinds = ["article", "measured"].map((key) => [
    key,
    words(`am_${key}`, { fn: trace.function }).replaceAll("`", ""),
  ]);
  const sources = segmented("source", words("am_figures"), kinds, source(), (key) =>
    set({ source: key, moved: {} }),
  );
  ui.tools.append(
    h("div", { class: "lab-counters" }, big.root),
    modes.root,
    ...(measured ? [sources.root] : []),
  );

  const room = h("div", { class: "am-room" });
  const sum = h("p", { class: "am-formula", "data-testid": "formula" });
  const wait = h("p", { class: "am-wait" }, words("am_wait"));
  const note = h("p", { class: "am-note" }, words("am_split"));
  const back = own(
    h(
      "button",
      {
        type: "button",
        class: "lab-bet am-back",
        "data-testid": "put-back",
        onclick: () => {
          set({ moved: {} });
          ui.stage.focus(); // the button vanishes
        },
      },
      words("am_put_back"),
    ),
  );
  const side = h("aside", { class: "lab-panel am-side" });
  ui.stage.classList.add("am-stage");
  ui.stage.append(h("section", { class: "lab-panel am-picture" }, room, wait, sum, note), side);

  let built = null;
  let controls = {};
  function rebuild() {
    built = mode();
    controls = Object.fromEntries(
      Object.keys(FIELDS[built]).map((field) => [field, amount(built, field, words, pick)]),
    );
    const roots = Object.values(controls).map((control) => control.root);
    side.replaceChildren(...roots.slice(0, -1), back);
    ui.bar.replaceChildren(roots.at(-1));
    const asked = question(built, words);
    ui.ask.replaceChildren(
      ...asked.options.map((option) =>
        betButton(option, () => {
          guesses[mode()] = option;
          set({ moved: { ...moved(), ...REVEAL[mode()] } });
          controls[Object.keys(FIELDS[built]).at(-1)].root.querySelector("input").focus();
        }),
      ),
    );
  }
  /** The question stands until it is answered, or a slider is moved. */
  const asking = () =>
    source() === "article" && guesses[mode()] === undefined && !moved()[mode()];

  function paint() {
    if (built !== mode()) rebuild();
    const now = values();
    const ask = asking();
    modes.show(mode());
    sources.show(source());
    for (const [field, control] of Object.entries(controls)) control.show(now[field]);
    const [key, value, total] = headline(mode(), now, words);
    text(name, words(key));
    const secret = ask && mode() !== "launches"; // there the picture is the question's beginning
    text(big.value, secret ? "?" : value);
    text(big.total, secret ? "" : total);
    put(back, { hidden: !moved()[mode()] });
    put(note, { hidden: source() !== "measured" || mode() !== "launches" });
    put(ui.ask, { hidden: !ask });
    put(sum, { hidden: secret });
    put(room, { hidden: secret });
    put(wait, { hidden: !secret });
    text(sum, formula(mode(), now));
    put(ui.root, { "data-state": ask ? "asking" : "done", "data-mode": mode() });
    const width = Math.max(260, Math.min(880, room.clientWidth || 560));
    room.replaceChildren(picture(mode(), now, width, words));
    const said = ask ? words(`am_${mode()}_ask`) : judged() + narrate(mode(), now, words);
    rich(ui.say, said);
    text(ui.live, said);
  }
  /** About the guess, as long as the figures are those that were asked about. */
  function judged() {
    const guess = guesses[mode()];
    const asked = JSON.stringify(REVEAL[mode()]?.[mode()]) === JSON.stringify(moved()[mode()]);
    if (guess === undefined || !asked || source() !== "article") return "";
    return settle(words, question(mode(), words), guess) + words.gap;
  }
  let wide = 0;
  const watch = new ResizeObserver(() => {
    if (room.clientWidth === wide) return;
    wide = room.clientWidth;
    paint();
  });
  watch.observe(room);
  paint();
  const stop = () => watch.disconnect();
  return { stop, seek() {}, mode: paint, source: paint, moved: paint };
}

export default widget(build, { follow: ["mode", "source", "moved"] });
