// The theater without its picture: what has happened by a beat, which sentence tells it, what to
// ask before.
// In: trace {function, calls: [{label, inputs, token}], variants: [{id, title, result, guards,
// kernels}], earlier: [id], events: [{kind, call, ...}]}; one event is one beat.  Out: plain data.
// Invariant: pure, the same p gives the same state.

import { clamp, ease, lerp, part } from "./dom.js";
import { beatOf } from "./player.js";

/** In a beat the token moves until here, then what it caused is shown. */
export const MOVE = 0.62;
export const STAGES = ["capture", "autodiff", "fusion", "codegen"];
const VISIBLE = 2; // cards that stand side by side; the view moves along the rest

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
function viewed(first, order, e) {
  if (e.kind === "call" || e.kind === "variant" || e.kind === "execute") return 0;
  if (e.kind !== "guard") return first;
  return clamp(order.indexOf(e.variant) - 1, 0, Math.max(0, order.length - VISIBLE));
}

/** States already folded, by trace and count: a beat is painted many times, its events do not change. */
const folded = new WeakMap();

function fold(trace, count) {
  if (!folded.has(trace)) folded.set(trace, new Map());
  const known = folded.get(trace);
  if (!known.has(count)) known.set(count, foldAnew(trace, count));
  return known.get(count);
}

function foldAnew(trace, count) {
  const st = opening(trace);
  for (const e of trace.events.slice(0, count)) {
    APPLY[e.kind](st, e);
    st.order = moved(st.order, e);
    st.first = viewed(st.first, st.order, e);
  }
  return st;
}

/** What is shown at p: everything whose effect has come, and how far the present beat has moved. */
export function stateAt(trace, p) {
  const { events } = trace;
  const k = clamp(beatOf(p), 0, events.length);
  const f = k < events.length ? Math.max(0, p - k) : 0;
  const shown = k + (f >= MOVE ? 1 : 0);
  const event = events[f > 0 ? k : k - 1] ?? null;
  return { ...fold(trace, shown), k, f, shown, event, ...places(trace, k, f, event) };
}

/** Where each card stands, counted in cards from the left of the view, and how visible it is:
 *  {slots: {id: {at, seen}}}. */
function places(trace, k, f, event) {
  const before = fold(trace, k);
  const after = f > 0 ? fold(trace, k + 1) : before;
  const turns = before.order.join() !== after.order.join();
  const glide = turns ? ease(part(f, MOVE, 0.86)) : ease(part(f, 0, MOVE));
  const view = lerp(before.first, after.first, glide);
  const slots = {};
  for (const { id } of trace.variants) {
    const [from, to] = [before.order.indexOf(id), after.order.indexOf(id)];
    const fresh = from < 0 && to >= 0; // others make room, then it appears
    const at = (fresh ? to : lerp(from, to, glide)) - view;
    const inside = clamp(1 - Math.max(-at, at - (VISIBLE - 1), 0));
    slots[id] = {
      at,
      seen: to < 0 ? 0 : fresh ? ease(part(f, 0.84, 1)) : inside,
      fresh: fresh && f < 1,
    };
  }
  return { slots, waiting: event === null };
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
const unique = (items) => [...new Set(items)];

/** The one sentence for the event on stage. */
export function narrate(trace, p, words) {
  const st = stateAt(trace, p);
  if (!st.event) return begin(trace, words);
  if (p >= trace.events.length) return ending(trace, st, words);
  const eager = trace.variants.find((v) => v.id === st.event.variant)?.result === "eager";
  return NOW[st.event.kind]({ e: st.event, trace, words, eager });
}

function begin(trace, words) {
  const inputs = trace.calls.map((call) => `\`${call.label}\``).join(", ");
  const asked = question(trace, words) !== null;
  return words(asked ? "theater_ask" : "theater_rest", {
    fn: trace.function,
    count: trace.calls.length,
    inputs,
  });
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
  return words("theater_end", {
    calls: trace.calls.length,
    hits: words.some("n_hits", count.hits),
    misses: words.some("n_misses", count.misses),
    recompiles: words.some("n_recompiles", count.recompiles),
    variants: words.some("n_variants", count.variants),
    why,
  }).trim();
}

/** How many variants? Up to four answers, among them the truth; null when only one answer is
 *  possible. */
export function question(trace, words) {
  const answer = trace.variants.length;
  const most = Math.max(answer, trace.earlier.length + trace.calls.length);
  const near = [answer, 1, most, answer + 1, answer - 1, answer + 2, answer - 2];
  const options = unique(near.filter((n) => n >= Math.min(1, answer) && n <= most)).slice(0, 4);
  if (options.length < 2) return null;
  const beliefs = {};
  if (most !== answer) beliefs[most] = words("belief_every");
  if (answer !== 1) beliefs[1] = words("belief_single");
  return { options: options.sort((a, b) => a - b).map(String), answer: String(answer), beliefs };
}
