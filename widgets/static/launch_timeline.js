// LaunchTimeline: the CPU's launches and the card's kernels, eager, compiled, and both replayed.
// In: traits trace (see launches.js), beat, language.  In and out: size, variant (places on their
// sliders), source ("measured" or "model").

import { time } from "./amortize.js";
import { h, own, put, text } from "./dom.js";
import { frame, segmented, widget } from "./lab.js";
import { BEATS, narrate, question, rowsOf, settled, sizesOf, timeAt } from "./launches.js";
import { picture } from "./launches_picture.js";
import { player } from "./player.js";

const LEGEND = {
  "lt-launch": "lt_key_launch",
  "lt-slow": "lt_key_slow",
  "lt-fast": "lt_key_fast",
  "lt-wait": "lt_key_wait",
};
const count = (value) => value.toLocaleString("en-US");

/** A slider over a list of numbers, which says the number. */
function places(id, name, pick) {
  const out = h("span", { class: "lab-slider-value lt-value", "data-testid": `value-${id}` });
  const input = own(
    h("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": name,
      "data-testid": `slider-${id}`,
      oninput: () => pick(Number(input.value)),
    }),
  );
  const root = h("label", { class: "lab-slider" }, h("span", {}, name), input, out);
  function show(list, at) {
    const last = Math.max(1, list.length - 1);
    put(input, { max: list.length - 1, "aria-valuetext": count(list[at]) });
    input.value = String(at);
    input.disabled = list.length < 2;
    input.style.setProperty("--fill", `${(100 * at) / last}%`);
    text(out, count(list[at]));
  }
  return { root, show };
}

function origin(trace, source, words) {
  if (source === "measured") return words("lt_of_measured", { card: trace.card });
  const f = trace.figures;
  const times = Object.fromEntries(
    ["operator", "launch", "call", "replay", "shortest"].map((key) => [key, time(f[key])]),
  );
  const [bandwidth, arithmetic] = [(f.bandwidth / 1e12).toFixed(1), f.arithmetic / 1e12];
  return words("lt_of_model", { ...times, of: f.of, bandwidth, arithmetic });
}

function tools(ui, trace, words, set) {
  const size = places("size", words("lt_elements"), (at) => set({ size: at }));
  const many = trace.variants.length > 1;
  const variant = places("variant", words("lt_operations"), (at) => set({ variant: at }));
  const options = ["measured", "model"].map((key) => [key, words(`lt_${key}`)]);
  const source = segmented("source", words("lt_source"), options, "measured", (key) =>
    set({ source: key, size: 0 }),
  );
  ui.tools.append(
    size.root,
    ...(many ? [variant.root] : []),
    ...(trace.measured.length ? [source.root] : []),
  );
  return (choice) => {
    size.show(sizesOf(trace, choice), choice.size);
    const counts = trace.variants.map((each) => each.count ?? 1);
    variant.show(counts, choice.variant);
    source.show(choice.source);
  };
}

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const ui = frame(el, { widget: "launch_timeline", words, name: "lt", legend: LEGEND });
  const room = h("div", { class: "lt-room" });
  const note = h("p", { class: "lt-note", "data-testid": "origin" });
  ui.stage.append(room, note);
  const choice = () =>
    settled(trace, Object.fromEntries(["variant", "size", "source"].map((k) => [k, model.get(k)])));
  let shown = rowsOf(trace, choice());
  let drawn = null;
  const show = tools(ui, trace, words, (traits) => {
    for (const [key, value] of Object.entries(traits)) model.set(key, value);
    model.save_changes();
    change();
  });
  /** The picture again, for another choice or another width. */
  function redraw() {
    const width = Math.max(280, room.clientWidth || 900);
    drawn = { width, ...picture(shown, width, words) };
    room.replaceChildren(drawn.root);
  }
  function change() {
    shown = rowsOf(trace, choice());
    drawn = null;
    show(choice());
    text(note, origin(trace, choice().source, words));
    put(ui.root, { "data-source": choice().source, "data-elements": shown.elements });
    play.paint();
  }
  const play = player(ui, {
    words,
    signal,
    total: () => BEATS,
    beatMs: () => 350,
    say: (p) => narrate(shown, p, words),
    ask: () => question(shown, words),
    draw(p) {
      if (!drawn || (room.clientWidth && drawn.width !== Math.max(280, room.clientWidth))) redraw();
      drawn.paint(timeAt(shown, p));
    },
  });
  change();
  return { ...play, size: change, variant: change, source: change };
}

export default widget(build, { follow: ["size", "variant", "source"] });
