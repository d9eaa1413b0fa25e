// The theater without its picture: what has happened by a beat, which sentence tells it.
// In: a play {function, calls: [{label, inputs}], variants: [{id, title, result, guards, kernels,
// same?, stop?}], earlier: [id], events: [{kind, call, ...}]}; one event is one beat.  Out: plain
// data.
// Invariant: pure, the same p gives the same state.

import { clamp, ease, lerp, part } from "./dom.js";
import { beatOf } from "./player.js";
import { judge, scored } from "./theater_guesses.js";

/** In a beat the token moves until here, then what it caused is shown. */
export const MOVE = 0.62;
const LISTED = 120; // characters of the calls that the question lists
export const STAGES = ["capture", "autodiff", "fusion", "codegen"];
/** The counters, each called by its own word. */
export const COUNTS = {
  hits: "hits",
  misses: "misses",
  recompiles: "recompiles",
  variants: "variants",
};

// ---- the fold -----------------------------------------------------------------------------------

const blank = (variant) => ({
  rows: variant.guards.map(() => null),
  hits: 0,
  fail: null,
  runs: false,
});

/** Where things stand before the first event: variants made before the recording are there
 *  already. */
function opening({ calls, variants, earlier }) {
  return {
    order: [...earlier],
    first: 0,
    stations: {},
    running: null,
    out: null,
    tickets: calls.map(() => ({ status: "waiting" })),
    cards: Object.fromEntries(variants.map((v) => [v.id, blank(v)])),
    count: { hits: 0, misses: 0, recompiles: 0, variants: earlier.length },
  };
}

const APPLY = {
  call(st, e) {
    st.tickets[e.call].status = "here";
    Object.assign(st, { stations: {}, running: null, out: null });
    for (const card of Object.values(st.cards))
      Object.assign(card, { rows: card.rows.map(() => null), fail: null, runs: false });
  },
  guard(st, e) {
    const card = st.cards[e.variant];
    card.rows[e.guard] = e.ok ? "ok" : "fail";
    if (!e.ok) card.fail = e;
  },
  miss(st, e) {
    st.count.misses++;
    if (e.again) st.count.recompiles++;
  },
  stage(st, e) {
    for (const id of Object.keys(st.stations)) st.stations[id] = "done";
    st.stations[e.stage] = "now";
  },
  break(st) {
    st.stations.capture = "break";
  },
  variant(st) {
    for (const [id, state] of Object.entries(st.stations))
      if (state === "now") st.stations[id] = "done";
    st.count.variants++;
  },
  execute(st, e) {
    st.running = e;
    if (e.variant in st.cards) {
      st.cards[e.variant].runs = true;
      if (e.hit) st.cards[e.variant].hits++;
    }
    if (e.hit) st.count.hits++;
  },
  return(st, e) {
    Object.assign(st.tickets[e.call], { status: e.result, variant: e.variant });
    Object.assign(st, { running: null, out: e });
  },
};

/** The order of asking after an event: a new variant, or one that was hit, goes to the front. */
function moved(order, e) {
  const front = e.kind === "variant" || (e.kind === "execute" && (e.hit || e.front));
  return front && e.variant ? [e.variant, ...order.filter((v) => v !== e.variant)] : order;
}

/** The first card in view after an event: the card that is asked must be seen, with the one asked
 *  before it. */
function viewed(first, order, e, visible) {
  if (e.kind === "call" || e.kind === "variant" || e.kind === "execute") return 0;
  if (e.kind !== "guard") return first;
  return clamp(order.indexOf(e.variant) - visible + 1, 0, Math.max(0, order.length - visible));
}

/** States already folded, by trace and count: a beat is painted many times, its events do not change. */
const folded = new WeakMap();

function fold(trace, count, visible) {
  if (!folded.has(trace)) folded.set(trace, new Map());
  const known = folded.get(trace);
  const key = `${visible}:${count}`;
  if (!known.has(key)) known.set(key, foldAnew(trace, count, visible));
  return known.get(key);
}

function foldAnew(trace, count, visible) {
  const st = opening(trace);
  for (const e of trace.events.slice(0, count)) {
    APPLY[e.kind](st, e);
    st.order = moved(st.order, e);
    st.first = viewed(st.first, st.order, e, visible);
  }
  return st;
}

/** The variants in the order of asking, after so many events. */
export const orderAfter = (trace, count) => fold(trace, count, 2).order;

/** What is shown at p: everything whose effect has come, and how far the present beat has moved.
 *  `visible` cards stand side by side; the view moves along the others. */
export function stateAt(trace, p, visible = 2) {
  const { events } = trace;
  const k = clamp(beatOf(p), 0, events.length);
  const f = k < events.length ? Math.max(0, p - k) : 0;
  const shown = k + (f >= MOVE ? 1 : 0);
  const event = events[f > 0 ? k : k - 1] ?? null;
  const slots = places(trace, k, f, visible);
  return { ...fold(trace, shown, visible), k, f, shown, event, slots, waiting: event === null };
}

/** Where each card stands, counted in cards from the left of the view, and how visible it is:
 *  {id: {at, seen}}. */
function places(trace, k, f, visible) {
  const before = fold(trace, k, visible);
  const after = f > 0 ? fold(trace, k + 1, visible) : before;
  const turns = before.order.join() !== after.order.join();
  const glide = turns ? ease(part(f, MOVE, 0.86)) : ease(part(f, 0, MOVE));
  const view = lerp(before.first, after.first, glide);
  const slots = {};
  for (const { id } of trace.variants) {
    const [from, to] = [before.order.indexOf(id), after.order.indexOf(id)];
    const fresh = from < 0 && to >= 0; // others make room, then it appears
    const at = (fresh ? to : lerp(from, to, glide)) - view;
    const inside = clamp(1 - Math.max(-at, at - (visible - 1), 0));
    slots[id] = {
      at,
      seen: to < 0 ? 0 : fresh ? ease(part(f, 0.84, 1)) : inside,
      fresh: fresh && f < 1,
    };
  }
  return slots;
}

// ---- the sentences ------------------------------------------------------------------------------

const sentence = (t) => t.replace(/[.。]$/, "");

const NOW = {
  call: ({ e, trace, words }) =>
    words("now_call", {
      n: e.call + 1,
      count: trace.calls.length,
      fn: trace.function,
      inputs: trace.calls[e.call].inputs,
    }),
  guard({ e, words }) {
    if (e.count) return words("now_hold_all", { variant: e.variant, count: e.count });
    if (e.ok) return words("now_holds", { variant: e.variant, guard: e.text });
    const actual = e.actual ? words("expected_actual", e) : words("does_not_hold");
    return words("now_fails", { variant: e.variant, guard: e.text, actual: capital(actual) });
  },
  miss({ e, words }) {
    if (e.instead) return words(e.instead === "python" ? "now_miss_full" : "now_miss_error");
    return words(e.again ? "now_miss" : "now_first_miss");
  },
  stage({ e, words }) {
    const note = e.note ? sentence(e.note) : words("stage_done");
    return words(e.late ? "now_stage_late" : "now_stage", {
      stage: capital(e.stage),
      note,
      variant: e.variant,
    });
  },
  break: ({ e, words }) =>
    words("now_break", { line: e.line ?? "?", what: sentence(e.what), why: e.why }),
  variant: ({ e, words }) =>
    words(e.result === "eager" ? "now_variant_eager" : "now_variant", { variant: e.variant }),
  execute({ e, words, eager }) {
    if (e.front) return words("now_held_eager", { variant: e.variant });
    if (eager || !e.variant) return words("now_execute_eager");
    return words(e.hit ? "now_hit" : "now_execute", { variant: e.variant });
  },
  return({ e, words }) {
    const n = e.call + 1;
    if (e.result === "raised")
      return words("now_raised", { n, error: e.error || words("an_error") });
    if (e.result === "eager") return words("now_return_eager", { n });
    return words("now_return", { n, variant: e.variant, result: words(`result_${e.result}`) });
  },
};

const capital = (t) => t[0].toUpperCase() + t.slice(1);

/** The one sentence for the event on stage; `guesses` has one of GUESSES, or nothing, a call. */
export function narrate(trace, p, words, guesses = []) {
  const st = stateAt(trace, p);
  if (!st.event) return begin(trace, words);
  if (p >= trace.events.length) {
    const { right, of } = scored(trace, guesses, st);
    const score = of ? `${words("right_of", { right, of })}${words.gap}` : "";
    return `${score}${ending(trace, st, words)}`;
  }
  if (st.event.kind === "return" && guesses[st.event.call])
    return `${said(trace, p, st, words)}${words.gap}${judge(trace, guesses, st.event.call, words)}`;
  return said(trace, p, st, words);
}

function said(trace, p, st, words) {
  const eager = trace.variants.find((v) => v.id === st.event.variant)?.result === "eager";
  return NOW[st.event.kind]({ e: st.event, trace, words, eager });
}

function begin(trace, words) {
  const inputs = trace.calls.map((call) => `\`${call.label}\``).join(", ");
  const times = words.some("times", trace.calls.length);
  const values = { fn: trace.function, times, inputs };
  return words(inputs.length > LISTED ? "theater_ask_many" : "theater_ask", values);
}

/** What ran in Python; and, where compiled code goes on behind the break, that it is not shown. */
function brokenOff(trace, stopped, words) {
  const told = words("end_break", { what: sentence(stopped.what) });
  const variant = trace.variants.find((v) => v.id === stopped.variant);
  return variant?.result === "graph" ? `${told} ${words("end_regions")}` : told;
}

function ending(trace, { count }, words) {
  const missed = trace.events.filter((e) => e.kind === "miss" && e.again).map((e) => e.call);
  const failed = trace.events.find((e) => e.kind === "guard" && !e.ok && missed.includes(e.call));
  const stopped = trace.events.find((e) => e.kind === "break");
  const why = stopped
    ? brokenOff(trace, stopped, words)
    : failed
      ? words("end_guard", { guard: failed.text })
      : count.variants === 1 && count.hits > 0
        ? words("end_fits")
        : "";
  const full = trace.events.filter((e) => e.instead === "python").length;
  const raised = trace.events.filter((e) => e.kind === "return" && e.result === "raised");
  const more = [
    full ? words.some("end_limit", full) : "",
    raised.length ? words.some("end_raised", raised.length) : "",
  ];
  const told = words("theater_end", {
    calls: words.some("n_calls", trace.calls.length),
    hits: words.some("n_hits", count.hits),
    misses: words.some("n_misses", count.misses),
    recompiles: words.some("n_recompiles", count.recompiles),
    variants: words.some("n_variants", count.variants),
    why,
  }).trim();
  return [told, ...more.filter(Boolean)].join(words.gap);
}
