// The one clock of a widget: a playhead `p` that counts beats, its bar, its keys, and the
// prediction. `advance(state, action, env)` is pure and is all there is to know about time; the
// rest is DOM around it. floor(p) events have happened, the fraction says how far the next one has
// come.

import { clamp, h, own, put, rich, s, text } from "./dom.js";

export const SPEEDS = [0.5, 1, 2, 4];
const ICON = {
  play: "M5 3.5v9l7.5-4.5z",
  pause: "M4.5 3.5h2.5v9H4.5zM9 3.5h2.5v9H9z",
  back: "M11 3.5v9L5.5 8zM4 3.5h1.5v9H4z",
  step: "M5 3.5v9L10.5 8zM10.5 3.5H12v9h-1.5z",
  start: "M8 3a5 5 0 1 1-4.6 3l1.5.6A3.4 3.4 0 1 0 8 4.6V7L4.4 3.8 8 .8z",
};
const KEYS = {
  " ": "toggle",
  k: "toggle",
  ArrowRight: "step",
  ArrowLeft: "back",
  Home: "start",
  End: "end",
  "+": "faster",
  "=": "faster",
  "-": "slower",
};
const NEAR = 1e-6; // floats that should be a whole beat are taken as one

/** The action a key means, or null: modified keys belong to the host. */
export function keyAction({ key, ctrlKey, metaKey, altKey }) {
  return ctrlKey || metaKey || altKey ? null : (KEYS[key] ?? null);
}

export const START = { p: 0, playing: false, speed: 1, goal: null, carry: 0 };
export const beatOf = (p) => Math.floor(p + NEAR);
export const moving = (state) => state.playing || state.goal !== null;

/** The next state of the clock. env = {total, beatMs, reduced}; actions: {type, p?, ms?}. */
export function advance(state, action, env) {
  const { total, reduced } = env;
  const rest = { ...state, playing: false, goal: null, carry: 0 };
  switch (action.type) {
    case "toggle": {
      const p = !state.playing && state.p >= total ? 0 : state.p;
      return { ...rest, p, playing: !state.playing };
    }
    case "seek":
      return { ...rest, p: clamp(action.p, 0, total) };
    case "start":
      return { ...rest, p: 0 };
    case "end":
      return { ...rest, p: total };
    case "step":
    case "back": {
      const from = state.goal ?? state.p;
      const next = action.type === "step" ? beatOf(from) + 1 : Math.ceil(from - NEAR) - 1;
      const to = clamp(next, 0, total);
      return reduced ? { ...rest, p: to } : { ...rest, goal: to };
    }
    case "faster":
    case "slower": {
      const at = SPEEDS.indexOf(state.speed) + (action.type === "faster" ? 1 : -1);
      const last = SPEEDS.length - 1;
      return { ...state, speed: SPEEDS[action.wrap && at > last ? 0 : clamp(at, 0, last)] };
    }
    case "tick":
      return tick(state, (action.ms / env.beatMs) * state.speed, env);
    default:
      throw new Error(`no such action: ${action.type}`);
  }
}

function tick(state, beats, { total, reduced }) {
  if (!state.playing) {
    if (state.goal === null) return state;
    const away = state.goal - state.p;
    beats *= Math.max(1, Math.abs(away)); // who steps fast is not made to wait
    if (Math.abs(away) <= beats) return { ...state, p: state.goal, goal: null };
    return { ...state, p: state.p + Math.sign(away) * beats };
  }
  let { p } = state;
  let carry = state.carry + beats;
  if (!reduced)
    [p, carry] = [p + carry, 0]; // glide
  else if (carry >= 1) [p, carry] = [beatOf(p) + 1, 0]; // cut from beat to beat
  p = clamp(p, 0, total);
  return { ...state, p, carry, playing: p < total };
}

/** What the last sentence says about a prediction: right, or what is true and which belief
 *  missed. */
export function settle(words, question, guess) {
  const { answer, beliefs = {} } = question;
  if (guess === answer) return words("said_right", { guess });
  const why = beliefs[guess];
  return words("said_wrong", { guess, answer }) + (why ? ` ${why}` : "");
}

const icon = (name) =>
  s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: ICON[name] }));

const labelled = (id, words, key, action) =>
  own(
    h(
      "button",
      {
        type: "button",
        class: "lab-btn",
        "data-act": id,
        "data-testid": `act-${id}`,
        "aria-label": words(id),
        title: `${words(id)} (${key})`,
        onclick: action,
      },
      icon(id),
    ),
  );

function controls(words, act) {
  const button = (id, key, type) => labelled(id, words, key, () => act({ type }));
  const scrub = h("input", {
    type: "range",
    class: "lab-scrub",
    "data-testid": "scrub",
    min: 0,
    step: 0.01,
    value: 0,
    "aria-label": words("position"),
    oninput: () => act({ type: "seek", p: Number(scrub.value) }),
  });
  const pace = h("button", {
    type: "button",
    class: "lab-btn lab-pace",
    "data-testid": "act-pace",
    title: `${words("speed")} (− +)`,
    onclick: () => act({ type: "faster", wrap: true }),
  });
  const all = {
    start: button("start", "Home", "start"),
    back: button("back", "←", "back"),
    play: button("play", "Space", "toggle"),
    step: button("step", "→", "step"),
    scrub: own(scrub),
    where: h("span", { class: "lab-where" }),
    pace: own(pace),
  };
  all.play.classList.add("lab-btn-main");
  return all;
}

function showBar(ui, bar, words, state, total) {
  const at = beatOf(state.p);
  const mode = state.playing ? "running" : state.p >= total ? "done" : "paused";
  put(ui.root, { "data-state": mode, "data-beat": at });
  put(bar.scrub, { max: total, "aria-valuetext": words("beat_of", { at, total }) });
  bar.scrub.value = String(state.p);
  bar.scrub.style.setProperty("--fill", `${(100 * state.p) / Math.max(1, total)}%`);
  text(bar.where, `${at} / ${total}`);
  const label = state.playing ? "pause" : mode === "done" ? "again" : "play";
  put(bar.play, { "aria-label": words(label) });
  put(bar.play.querySelector("path"), { d: ICON[state.playing ? "pause" : "play"] });
  bar.back.disabled = bar.start.disabled = state.p <= 0;
  bar.step.disabled = state.p >= total;
  text(bar.pace, state.speed === 0.5 ? "½×" : `${state.speed}×`);
  put(bar.pace, { "aria-label": `${words("speed")} ${state.speed}×` });
}

/** One of the answers to a question, to be chosen. */
export function betButton(value, choose) {
  const traits = { type: "button", class: "lab-bet", "data-testid": `bet-${value}`, onclick: choose };
  return own(h("button", traits, value));
}

/** Asks before anything moves, remembers the answer, and judges it when the end is reached. */
function prediction(ui, words, ask, asking, begin) {
  const bet = { key: null, question: null, guess: null };
  const option = (value) =>
    betButton(value, () => {
      bet.guess = value;
      begin();
    });
  return {
    offer(p) {
      const question = ask();
      const key = JSON.stringify(question);
      if (key !== bet.key) {
        Object.assign(bet, { key, question, guess: null });
        ui.ask.replaceChildren(...(question?.options ?? []).map(option));
      }
      put(ui.ask, { hidden: p > 0 || !ui.ask.childElementCount, "data-later": !asking() });
    },
    tell(sentence, finished) {
      if (!finished || bet.guess === null) return sentence;
      return `${settle(words, bet.question, bet.guess)} ${sentence}`;
    },
  };
}

/** Keys anywhere in the widget, except where a control has its own use for them. */
function listen(root, act) {
  root.addEventListener("keydown", (event) => {
    const type = keyAction(event);
    const { target, key } = event;
    if (!type || target.matches("input, select") || (key === " " && target.matches("button, summary")))
      return;
    event.preventDefault();
    event.stopPropagation();
    act({ type });
  });
}

/** Put a clock on `ui`. `total()` beats of `beatMs()`, `draw(p)` paints, `say(p)` narrates,
 *  `ask() -> {options, answer, beliefs} | null` turns the opening sentence into a question, and
 *  `asking()` is false while another sentence stands in its place. */
export function player(ui, { words, total, beatMs, draw, say, ask, asking = () => true, signal }) {
  const query = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
  let state = START;
  let frame = 0;
  let last = 0;
  const env = () => ({ total: total(), beatMs: beatMs(), reduced: Boolean(query?.matches) });
  const bar = controls(words, act);
  const bet = prediction(ui, words, ask, asking, () => {
    bar.play.focus(); // the options vanish: hand the focus on
    act({ type: "toggle" });
  });
  ui.bar.append(...Object.values(bar));

  const sentence = () => bet.tell(say(state.p), state.p >= total());
  function paint() {
    state = { ...state, p: clamp(state.p, 0, total()) };
    draw(state.p);
    bet.offer(state.p);
    rich(ui.say, sentence());
    showBar(ui, bar, words, state, total());
  }
  function loop(now) {
    state = advance(state, { type: "tick", ms: Math.min(64, now - last) }, env());
    last = now;
    frame = 0;
    settled();
  }
  function settled() {
    paint();
    if (!moving(state)) text(ui.live, sentence().replaceAll("`", ""));
    else if (!frame) {
      frame = requestAnimationFrame(loop);
    }
  }
  function act(action) {
    const was = moving(state);
    state = advance(state, action, env());
    if (!was) last = performance.now();
    settled();
  }
  listen(ui.root, act);
  const watch = new ResizeObserver(paint);
  watch.observe(ui.stage);
  const stop = () => {
    cancelAnimationFrame(frame);
    watch.disconnect();
  };
  signal?.addEventListener("abort", stop);
  return { paint, stop, seek: (p) => act({ type: "seek", p }), at: () => state.p };
}
