// FusionCourt without its picture: which pair stands in court at a beat, how far its rules have
// been asked, which loops are left, and the sentences.
// In: trace {function, nodes: [{name, op: "input" | "call" | "output", text, code, args, meta,
// bytes, extern?, stored?, line?}], rules: [name], start: state, events: [verdict & state & {a:
// [names], b: [names]}], answers: {key: verdict}, memory: {before: plan, after: plan}}; a state is
// {groups: [[names]], stored: [buffers], loops, accesses, bytes}, a plan as in court_memory.js, a
// verdict {stage: "lowering" | "scheduler" | "", first, second, ok, rule, detail, flip,
// saved, refused_by}.
// Out: plain data.  Invariant: pure; one event is one beat.

import { before, placesOf, reuses } from "./court_memory.js";
import { clamp, ease, part } from "./dom.js";
import { beatOf } from "./player.js";

/** Pairs first, then memory that is used again. */
export const totalOf = (trace) => trace.events.length + reuses(trace.memory.after).length;

/** In a beat the rules are asked until here; then two loops become one, if they may. */
export const ASKED = 0.5;
const INLINING = ["no_output", "no_dear_twice", "no_many_reads", "no_large_body"];

/** The questions that a verdict of this stage answers, in the order in which they are asked. */
export const rulesOf = (trace, stage) =>
  ({ lowering: INLINING, scheduler: trace.rules })[stage] ?? [];

/** What became of each rule: {name, mark: "ok" | "fail" | "skip"}, when `asked` were put. */
export function ticks(rules, { ok, refused_by: refused }, asked = Infinity) {
  const end = ok ? rules.length : rules.indexOf(refused);
  return rules.map((name, n) => {
    if (n >= asked || n > end) return { name, mark: "skip" };
    return { name, mark: n === end ? "fail" : "ok" };
  });
}

const stateBefore = (trace, k) => (k ? trace.events[k - 1] : trace.start);

/** What is true at p: `event` is in court or was last, `asked` counts rules, `join` says how far
 *  two loops have grown together. */
export function stateAt(trace, p) {
  const { events } = trace;
  const k = clamp(beatOf(p), 0, events.length);
  const f = k < events.length ? Math.max(0, p - k) : 0;
  const at = f > 0 ? k : k - 1;
  const moved = clamp(beatOf(p) - events.length, 0, totalOf(trace) - events.length);
  const rest = Math.max(0, p - events.length - moved);
  const event = events[at] ?? null;
  const decided = f === 0 || f >= ASKED;
  const rules = event ? rulesOf(trace, event.stage) : [];
  const needed = event && !event.ok ? rules.indexOf(event.refused_by) + 1 : rules.length;
  const join = event?.ok && f >= ASKED ? ease(part(f, ASKED, 0.95)) : 0;
  const counts = stateBefore(trace, f >= 0.95 ? k + 1 : k);
  return {
    k,
    f,
    at,
    event,
    decided,
    asked: f > 0 ? Math.ceil(needed * part(f, 0.02, ASKED)) : rules.length,
    join: join < 1 ? join : 0,
    groups: counts.groups,
    counts,
    scheduled: p >= events.length,
    memory: { moved, t: ease(part(rest, 0, 0.7)), at: rest > 0 ? moved : moved - 1 },
    end: p >= totalOf(trace),
  };
}

/** Where two loops grow together: the operator of each that is nearest to the other's. */
export function bridge(event, at) {
  const far = (a, b) => Math.hypot(at(a).x - at(b).x, at(a).y - at(b).y);
  const pairs = event.a.flatMap((a) => event.b.filter((b) => b !== a).map((b) => [a, b]));
  return pairs.reduce((best, pair) => (!best || far(...pair) < far(...best) ? pair : best), null);
}

/** The shortest lines that hold a loop's operators together: pairs of names. */
export function spanning(names, at) {
  const far = (a, b) => Math.hypot(at(a).x - at(b).x, at(a).y - at(b).y);
  const [inside, left, lines] = [[names[0]], names.slice(1), []];
  while (left.length) {
    const pairs = inside.flatMap((a) => left.map((b) => [a, b]));
    const [a, b] = pairs.reduce((best, pair) => (far(...pair) < far(...best) ? pair : best));
    lines.push([a, b]);
    inside.push(b);
    left.splice(left.indexOf(b), 1);
  }
  return lines;
}

/** Does the value on an edge stay in a register? It does where both ends are in one loop. */
export const inHand = (groups, from, to) =>
  groups.some((group) => group.includes(from) && group.includes(to));

/** The loops of more than one operator, each with the tint that its first operator gives it. */
export function loopsOf(trace, groups) {
  const order = trace.nodes.filter((node) => node.op === "call").map((node) => node.name);
  const first = (group) => Math.min(...group.map((name) => order.indexOf(name)));
  return groups
    .filter((group) => group.length > 1)
    .map((group) => ({ names: group, tint: first(group) % 8 }));
}

// ---- verdicts on demand -------------------------------------------------------------------------

export const keyOf = (a, b) => [a, b].sort().join(" | ");

/** The verdict on two operators, or null where the kernel has to be asked. */
export const answerTo = (trace, answers, [a, b]) =>
  trace.answers[keyOf(a, b)] ?? answers[keyOf(a, b)] ?? null;

/** Picking operators: the first, the second, and a third begins anew; one that is picked again is
 *  let go of. */
export function picked(pair, name) {
  if (pair.includes(name)) return pair.filter((each) => each !== name);
  return pair.length === 2 ? [name] : [...pair, name];
}

// ---- the sentences ------------------------------------------------------------------------------

export const ruleName = (name, words) =>
  words.has(`fc_rule_${name}`) ? words(`fc_rule_${name}`) : name.replaceAll("_", " ");

/** The rule and the reason, in the compiler's own words. */
export function verdictOf({ first, second, ok, rule, detail }, words) {
  return `${words(ok ? "fc_fuse" : "fc_apart", { first, second, rule })} ${detail}`.trim();
}

/** The verdict in a word, what it saves, and what would turn it round. */
export function cardOf({ ok, saved, flip }, words) {
  const parts = [words(ok ? "fc_word_fuse" : "fc_word_apart")];
  if (saved) parts.push(words("fc_saves", { n: saved }));
  if (flip) parts.push(words("fc_flip", { flip }));
  return parts.join(words.gap);
}

export function narrate(trace, p, words) {
  const st = stateAt(trace, p);
  if (!st.event) {
    const key = question(trace, words) ? "fc_ask" : "fc_rest";
    return words(key, { fn: trace.function, n: trace.start.loops });
  }
  if (st.end) return ending(trace, words);
  if (st.scheduled && st.memory.at >= 0) return reuseOf(trace.memory.after, st.memory.at, words);
  if (st.decided) return verdictOf(st.event, words);
  const rules = rulesOf(trace, st.event.stage);
  const rule = ruleName(rules[Math.max(0, st.asked - 1)], words);
  return words("fc_trying", { first: st.event.first, second: st.event.second, rule });
}

function reuseOf(plan, at, words) {
  const life = reuses(plan)[at];
  const key = life.how === "in place" ? "fc_in_place" : "fc_used_again";
  return words(key, { buffer: life.buffer, old: before(plan, life).buffer });
}

/** "3 buffers in 2 places, at most 32 bytes at once" */
export function memoryOf(plan, words) {
  const places = words.some("fc_places", placesOf(plan).length);
  const numbers = { places, peak: plan.peak };
  return words("fc_memory", { ...numbers, buffers: words.some("fc_buffers", plan.lives.length) });
}

function ending(trace, words) {
  const { start, events } = trace;
  const last = events.at(-1);
  const refused = events.filter((event) => !event.ok).length;
  const numbers = {
    from: words.some("fc_loops", start.loops),
    loops: last.loops,
    before: start.accesses,
    accesses: last.accesses,
    tried: words.some("fc_pairs", events.length),
    refused,
  };
  const { before: apart, after } = trace.memory;
  const held = words("fc_end_memory", { peak: after.peak, before: apart.peak });
  return `${words("fc_end", numbers)}${words.gap}${held}`;
}

/** How many loops are left? */
export function question(trace, words) {
  const { start, events } = trace;
  if (!events.length || start.loops < 2) return null;
  const answer = events.at(-1).loops;
  const beliefs = {
    [start.loops]: words("fc_belief_each"),
    1: words("fc_belief_one"),
    0: words("fc_belief_none"),
  };
  delete beliefs[answer];
  const near = [answer, ...Object.keys(beliefs).map(Number), answer + 1];
  const options = [...new Set(near)].slice(0, 4).sort((a, b) => a - b);
  return { options: options.map(String), answer: String(answer), beliefs };
}
