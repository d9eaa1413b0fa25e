// The guard matrix without its picture: which rows a call asks, in which order, what they answer,
// and which sentence tells it. One beat is a call that comes, a row that is asked, or how the call
// ended.
// In: trace {columns: [{kind, source}], rows: {variant: [{text, expected, column, place?}]}, whole:
// [{variant: {held, expected?, actual?, reason?}}] (what every variant would say, one entry a call;
// may be empty), listings, play (see theater.js)}.  Out: plain data.
// Invariant: pure, the same p gives the same state.

import { clamp, part } from "./dom.js";
import { beatOf } from "./player.js";
import { orderAfter } from "./theater.js";

const SWEEP = 0.8; // of a row's beat: then its last answer rests

const scripts = new WeakMap();

/** The beats of all calls. */
export function beatsOf(trace) {
  if (!scripts.has(trace))
    scripts.set(
      trace,
      trace.play.calls.flatMap((_, n) => beats(trace, n)),
    );
  return scripts.get(trace);
}

function beats({ play }, call) {
  const mine = play.events.filter((e) => e.call === call && !e.late);
  const first = play.events.indexOf(mine[0]);
  const order = orderAfter(play, first + 1);
  const rows = new Map();
  for (const e of mine.filter(({ kind }) => kind === "guard")) {
    if (!rows.has(e.variant))
      rows.set(e.variant, { kind: "row", call, order, variant: e.variant, held: 0, failed: null });
    const row = rows.get(e.variant);
    if (e.ok) row.held++;
    else row.failed = e;
  }
  const of = (kind) => mine.find((e) => e.kind === kind);
  const end = {
    kind: "end",
    call,
    order,
    made: of("variant")?.variant ?? null,
    hit: mine.find((e) => e.kind === "execute" && (e.hit || e.front))?.variant ?? null,
    full: of("miss")?.instead === "python",
    result: of("return")?.result ?? "unfinished",
    error: of("return")?.error ?? "",
  };
  return [{ kind: "call", call, order }, ...rows.values(), end];
}

/** What is shown at p: {beat, call, order, rows: {variant: {shown, held, failed, now}}, end}.
 *  `shown` is how many answers of a row are there by now; rows that were not asked are missing. */
export function stateAt(trace, p) {
  const all = beatsOf(trace);
  const k = clamp(beatOf(p), 0, all.length);
  const f = k < all.length ? Math.max(0, p - k) : 0;
  const beat = all[f > 0 ? k : k - 1] ?? null;
  const now = beat ?? all[0];
  const rows = {};
  for (const each of all.slice(0, f > 0 ? k + 1 : k)) {
    if (each.call !== now.call || each.kind !== "row") continue;
    const total = each.held + (each.failed ? 1 : 0);
    const moving = each === beat && f > 0;
    const shown = moving ? Math.floor(part(f, 0, SWEEP) * total + 1e-9) : total;
    rows[each.variant] = { ...each, shown, now: each === beat, over: shown === total };
  }
  const past = all.slice(0, k);
  const end = beat?.kind === "end" ? beat : null;
  return {
    beat,
    call: now.call,
    order: now.order,
    rows,
    end,
    k,
    f,
    count: sums(past, rows, beat, f),
  };
}

/** Guards asked and failed so far, hits, and compilations: counted answer by answer. */
function sums(past, rows, beat, f) {
  const count = { asked: 0, failed: 0, hits: 0, compiled: 0 };
  const add = ({ held, failed }, shown) => {
    count.asked += Math.min(shown, held + (failed ? 1 : 0));
    if (failed && shown > held) count.failed++;
  };
  for (const each of past) {
    if (each.kind === "row") add(each, Infinity);
    if (each.kind === "end") Object.assign(count, ended(count, each));
  }
  if (f > 0 && beat.kind === "row") add(beat, rows[beat.variant].shown);
  if (f > 0 && beat.kind === "end") Object.assign(count, ended(count, beat));
  return count;
}

const ended = ({ hits, compiled }, { hit, made }) => ({
  hits: hits + (hit ? 1 : 0),
  compiled: compiled + (made ? 1 : 0),
});

/** The beat count at which a call has asked all it asks, and how it ended is next. */
export const askedBy = (trace, call) =>
  beatsOf(trace).findIndex((beat) => beat.call === call && beat.kind === "end");

/** One guard of one row, as it stands: "ok" "fail" "skip" (not asked), "would-ok" "would-fail"
 *  (on demand), "new" (installed by this call), "wait" (its turn may come). */
export function cellAt(trace, st, variant, index, all) {
  const row = st.rows[variant];
  if (row) {
    if (index < row.shown) return row.failed && index === row.held ? "fail" : "ok";
    return row.over ? "skip" : "wait";
  }
  if (st.end?.made === variant) return "new";
  const would = all ? trace.whole[st.call]?.[variant] : null;
  if (would) {
    if (index < would.held) return "would-ok";
    return "reason" in would && index === would.held ? "would-fail" : "skip";
  }
  return st.end ? "skip" : "wait";
}

/** What a failed cell saw: {expected, actual, reason}. */
export function sawAt(trace, st, variant) {
  return st.rows[variant]?.failed ?? trace.whole[st.call]?.[variant] ?? null;
}

const FEW = 8; // columns that all have room for words

/** The columns that need no words where there are many: those in which nothing fails, and all
 *  variants expect the same. */
export function plainColumns(trace) {
  const told = trace.columns.map(() => new Set());
  for (const row of Object.values(trace.rows))
    for (const { column, expected } of row) told[column].add(expected);
  const fails = new Set();
  const failed = (variant, index) => fails.add(trace.rows[variant][index].column);
  for (const beat of beatsOf(trace)) if (beat.failed) failed(beat.variant, beat.held);
  for (const whole of trace.whole)
    for (const [variant, said] of Object.entries(whole))
      if ("reason" in said) failed(variant, said.held);
  const columns = [...told.keys()];
  return new Set(columns.filter((column) => told[column].size === 1 && !fails.has(column)));
}

/** Is there no room for words in every column? */
export const isCrowded = (trace, width) =>
  trace.columns.length > FEW || width < 90 * (trace.columns.length + 1);

/** The rows of the picture: those the call may ask, then what this call has made. */
export function rowsAt(st) {
  return st.end?.made && !st.order.includes(st.end.made) ? [...st.order, st.end.made] : st.order;
}

/** The guard to look at: the one that was answered last, as {variant, index}, or null. */
export function focusAt(st) {
  const rows = Object.values(st.rows);
  const row = rows.find((each) => each.now) ?? rows.at(-1);
  return row?.shown ? { variant: row.variant, index: row.shown - 1 } : null;
}

// ---- the sentences ------------------------------------------------------------------------------

export function narrate(trace, p, words) {
  const st = stateAt(trace, p);
  const all = beatsOf(trace);
  if (!st.beat)
    return words("matrix_ask", {
      fn: trace.play.function,
      times: words.some("times", trace.play.calls.length),
    });
  if (p >= all.length) return ending(trace, st, words);
  return NOW[st.beat.kind]({ trace, st, e: st.beat, words });
}

const NOW = {
  call({ trace, e, words }) {
    const values = { n: e.call + 1, inputs: trace.play.calls[e.call].inputs };
    const asks = e.order.length
      ? words("matrix_rows", { first: e.order[0] })
      : words("matrix_none");
    return `${words("matrix_call", values)}${words.gap}${asks}`;
  },
  row({ st, e, words }) {
    const { shown } = st.rows[e.variant];
    if (e.failed && shown > e.held) {
      const { text, expected, actual, line } = e.failed;
      const told = words("matrix_fails", { variant: e.variant, guard: text, expected, actual });
      return line ? `${told}${words.gap}${words("matrix_line", { line })}` : told;
    }
    const over = !e.failed && shown === e.held;
    return words(over ? "matrix_holds" : "matrix_asks", { variant: e.variant, count: shown });
  },
  end({ e, words }) {
    const n = e.call + 1;
    if (e.result === "raised") return words("matrix_raised", { n, error: e.error });
    if (e.hit)
      return words(e.result === "eager" ? "matrix_eager" : "matrix_hit", { n, variant: e.hit });
    if (e.full) return words("matrix_full", { n });
    return words(e.order.length ? "matrix_made" : "matrix_first", { n, variant: e.made ?? "" });
  },
};

function ending(trace, st, words) {
  const { asked, failed } = st.count;
  const fails = beatsOf(trace).flatMap((beat) => (beat.failed ? [beat.failed.text] : []));
  const told = words("matrix_end", {
    asked: words.some("n_asked", asked),
    failed: words.some("n_failed", failed),
  });
  if (!fails.length) return told;
  const first = words("matrix_first_failed", { guard: fails[0] });
  return `${told}${words.gap}${first}`;
}

/** Which guard fails first? Up to four guards of that variant; null where all hold. */
export function question(trace, words) {
  const beat = beatsOf(trace).find(({ failed }) => failed);
  if (!beat) return null;
  const texts = trace.rows[beat.variant].map(({ text }) => text);
  const at = beat.held;
  const near = [at, at + 1, at - 1, at + 2, at - 2, at + 3].filter((k) => k in texts).slice(0, 4);
  if (near.length < 2) return null;
  const beliefs = Object.fromEntries(
    near.map((k) => [texts[k], words(k < at ? "belief_held" : "belief_unasked")]),
  );
  return { options: near.sort((a, b) => a - b).map((k) => texts[k]), answer: texts[at], beliefs };
}
