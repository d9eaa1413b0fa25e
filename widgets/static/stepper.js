// The stepper without its picture: what capture knows by a beat, which sentence tells it, what to ask
// before.
// In: trace {function, listings, start: [{function, variables: [[name, kind, text]], stack: [[kind,
// text]]}], nodes: [{name, op, text, args, code, line, dropped?}], guards: [{text, about, line,
// file?}], stop?, captured, hidden, events: [{kind: "step", depth, offset, text, at: {code, line, at}, before,
// after, nodes, guards, set?, gone?, enters?, returns?, stops?} | {kind: "end", nodes, guards}]};
// `nodes` and `guards` of an event count those that it adds. One event is one beat.
// Out: plain data.
// Invariant: pure, the same p gives the same state.

import { clamp, ease, part } from "./dom.js";
import { some } from "./map.js";
import { beatOf } from "./player.js";

/** In a beat something moves until here, then what it caused is shown. */
export const MOVE = 0.62;

// ---- the fold -----------------------------------------------------------------------------------

function patched(variables, { set = [], gone = [] }) {
  if (!set.length && !gone.length) return variables;
  const now = new Map(variables.filter(([name]) => !gone.includes(name)).map((v) => [v[0], v]));
  for (const variable of set) now.set(variable[0], variable);
  return [...now.values()];
}

function next(before, e, nodes) {
  const added = nodes.slice(before.nodes, before.nodes + e.nodes);
  const sums = {
    nodes: before.nodes + e.nodes,
    guards: before.guards + e.guards,
    ops: before.ops + added.filter((node) => node.op === "call").length,
    steps: before.steps + (e.kind === "step" ? 1 : 0),
  };
  if (e.kind !== "step") return { ...before, ...sums };
  const frames = before.frames.slice(0, e.depth + 1);
  const frame = frames[e.depth] ?? { function: "?", variables: [], stack: [] };
  frames[e.depth] = {
    ...frame,
    waiting: false,
    stack: e.after,
    variables: patched(frame.variables, e),
  };
  if (e.enters) frames.push({ stack: [], ...e.enters });
  if (e.returns) {
    frames.pop();
    const caller = frames.at(-1);
    if (caller) frames[frames.length - 1] = { ...caller, waiting: false, stack: e.returns };
  }
  return { ...sums, frames };
}

const told = new WeakMap();

/** The state after each number of events; states share what did not change. */
export function statesOf(trace) {
  if (!told.has(trace)) {
    const states = [{ frames: trace.start, nodes: 0, guards: 0, ops: 0, steps: 0 }];
    for (const e of trace.events) states.push(next(states.at(-1), e, trace.nodes));
    told.set(trace, states);
  }
  return told.get(trace);
}

/** How many values of the stack an event leaves alone. */
function untouched({ before, after }) {
  let n = 0;
  while (n < before.length && n < after.length && before[n].join() === after[n].join()) n++;
  return n;
}

/** What is shown at p. `taken` and `given`: values that the instruction takes from the stack, and
 *  puts there; `fresh`: the first node and the first guard that it added. */
export function stateAt(trace, p) {
  const { events } = trace;
  const k = clamp(beatOf(p), 0, events.length);
  const f = k < events.length ? Math.max(0, p - k) : 0;
  const at = f > 0 ? k : k - 1;
  const event = events[at] ?? null;
  const states = statesOf(trace);
  const over = f === 0 || f >= MOVE;
  const shown = k + (f >= MOVE ? 1 : 0);
  const step = event?.kind === "step" ? event : null;
  const kept = step ? untouched(step) : 0;
  return {
    ...states[shown],
    k,
    f,
    at,
    event,
    place: placeAt(trace, event ? at : 0),
    t: f > 0 ? ease(part(f, 0, MOVE)) : 1,
    over,
    taken: step && !over ? step.before.length - kept : 0,
    given: step && over && !step.returns ? step.after.length - kept : 0,
    fresh: event && over ? { nodes: states[at].nodes, guards: states[at].guards } : null,
    end: p >= events.length,
  };
}

/** The line that capture stands at: the last instruction's, at the end that of the break. */
function placeAt({ events, listings, stop }, at) {
  const last = events.slice(0, at + 1).findLast((e) => e.kind === "step");
  const here = { code: 0, line: listings[0].first, ...last?.at };
  if (events[at]?.kind === "step") return { ...here, on: true, stops: Boolean(last.stops) };
  if (!stop?.line || !last) return { ...here, on: false, stops: false };
  const { first, lines } = listings[here.code];
  const inside = stop.line >= first && stop.line < first + lines.length;
  const line = inside ? stop.line : here.line;
  return { ...here, line, at: line === here.line ? here.at : null, on: false, stops: inside };
}

/** What moves in a beat: from and to are "local:x", "stack", "node:add", "guards" or "frame". */
export function flight(trace, k) {
  const e = trace.events[k];
  if (e?.kind !== "step" || e.stops) return null;
  const [name, argument = ""] = e.text.split(" ");
  const { nodes } = statesOf(trace)[k];
  const made = trace.nodes.slice(nodes, nodes + e.nodes).filter((node) => node.op === "call");
  if (made.length) return { from: "stack", to: `node:${made.at(-1).name}` };
  if (e.enters) return { from: "stack", to: "frame" };
  if (e.returns) return { from: "stack", to: "caller" };
  const local = `local:${argument.replace(/,.*/, "")}`;
  if (name === "STORE_FAST") return { from: "stack", to: local };
  if (/^LOAD_(FAST|CLOSURE|DEREF)/.test(name)) return { from: local, to: "stack" };
  return e.guards && e.before.length ? { from: "stack", to: "guards" } : null;
}

/** The instructions around a beat: [{text, offset, k}], the present one in the middle. */
export function tape(trace, at, around = 3) {
  const from = Math.max(0, at - around);
  return trace.events
    .slice(from, at + around + 1)
    .map((e, n) => ({ ...e, k: from + n }))
    .filter((e) => e.kind === "step");
}

/** The beat after which the next node is written, from p on, or null. */
export function nextNode(trace, p) {
  const states = statesOf(trace);
  for (let k = beatOf(p); k < trace.events.length; k++)
    if (states[k + 1].ops > states[k].ops) return k + 1;
  return null;
}

// ---- the sentences ------------------------------------------------------------------------------

const STATE = "global state"; // what the first guard is about: grad mode, default dtype
const sentence = (t) => t.replace(/[.。]$/, "");
const argumentOf = (e) => e.text.replace(/^\S+ ?/, "").replace(/^NULL \+ | \+ NULL(\|self)?$/g, "");

const KINDS = [
  [
    (e) => e.stops,
    (e, { words, trace }) =>
      words("step_stops", { ins: e.text, what: sentence(trace.stop?.what ?? e.text) }),
  ],
  [
    (_, { made }) => made.length,
    (e, { words, made }) =>
      words("step_node", {
        ins: e.text,
        nodes: some(
          made.map((n) => n.text),
          words,
        ),
      }),
  ],
  [(e) => e.enters, (e, { words }) => words("step_push", { fn: e.enters.function })],
  [
    (e) => e.returns && /RAISE/.test(e.text),
    (_, { words, frame }) => words("step_unwound", { fn: frame.function }),
  ],
  [
    (e) => e.returns && /^YIELD/.test(e.text),
    (_, { words, frame }) => words("step_yield", { fn: frame.function }),
  ],
  [(e) => e.returns, (_, { words, frame }) => words("step_pop", { fn: frame.function })],
  [
    (e) => /^RESUME/.test(e.text) && e.depth > 0,
    (_, { words, frame }) => words("step_begin_callee", { fn: frame.function }),
  ],
  [(e) => /^RESUME/.test(e.text), (_, { words }) => words("step_begin")],
  [
    (e) => /^LOAD_FAST/.test(e.text) && e.after.at(-1)?.[0] === "lazy",
    (e, { words }) => words(e.guards ? "step_lazy_bound" : "step_lazy", { name: argumentOf(e) }),
  ],
  [
    (e) => /^LOAD_(FAST|DEREF|CLOSURE)/.test(e.text),
    (e, { words }) => words("step_load", { name: argumentOf(e), what: e.after.at(-1)[1] }),
  ],
  [
    (e) => /^(LOAD|RETURN)_CONST/.test(e.text) && e.after.length,
    (e, { words }) => words("step_const", { value: argumentOf(e) }),
  ],
  [
    (e) => /^LOAD_GLOBAL/.test(e.text),
    (e, { words }) => words("step_global", { name: argumentOf(e) }),
  ],
  [
    (e) => /^STORE_(FAST|DEREF)/.test(e.text),
    (e, { words }) => words("step_store", { name: argumentOf(e) }),
  ],
  [
    (e) => /^(LOAD_ATTR|LOAD_METHOD)/.test(e.text),
    (e, { words }) => words("step_attribute", { name: argumentOf(e) }),
  ],
  [
    (e) => /^RETURN/.test(e.text),
    (e, { words }) => words("step_return", { value: e.before.at(-1)?.[1] ?? argumentOf(e) }),
  ],
  [
    (e) => /JUMP|FOR_ITER|GET_ITER|EXC|RAISE|SEND|YIELD/.test(e.text),
    (e, { words }) => words("step_jump", { ins: e.text }),
  ],
  [
    (e) => /^(POP_TOP|PUSH_NULL|COPY|SWAP)/.test(e.text),
    (e, { words }) => words("step_move", { ins: e.text }),
  ],
];

/** The sentence for one instruction, and what looking cost. */
function stepSentence(trace, k, words) {
  const e = trace.events[k];
  const before = statesOf(trace)[k];
  const made = trace.nodes
    .slice(before.nodes, before.nodes + e.nodes)
    .filter((n) => n.op === "call");
  const asked = trace.guards.slice(before.guards, before.guards + e.guards);
  const context = { trace, words, made, frame: before.frames[e.depth] ?? before.frames.at(-1) };
  const found = KINDS.find(([fits]) => fits(e, context));
  const said = found ? found[1](e, context) : words("step_plain", { ins: e.text });
  const about = [...new Set(asked.map((guard) => guard.about))];
  if (about.join() === STATE) return `${said}${words.gap}${words("step_state")}`;
  if (!asked.length) return said;
  const cost = words("step_looked", {
    names: some(about, words),
    guards: words.some("n_guards", asked.length),
  });
  return `${said}${words.gap}${cost}`;
}

/** The one sentence for the event on stage. */
export function narrate(trace, p, words) {
  const st = stateAt(trace, p);
  if (!st.event)
    return words(question(trace, words) ? "step_ask" : "step_rest", { fn: trace.function });
  if (st.event.kind === "end") return ending(trace, words);
  return stepSentence(trace, st.at, words);
}

function ending(trace, words) {
  const ops = trace.nodes.filter((node) => node.op === "call");
  const dropped = ops.filter((node) => node.dropped).length;
  const counts = {
    ops: words.some("n_ops", ops.length - dropped),
    guards: words.some("n_guards", trace.guards.length),
  };
  const { stop } = trace;
  const key = !trace.captured ? "step_end_none" : stop ? "step_end_break" : "step_end_return";
  const what = { line: stop?.line ?? "?", what: sentence(stop?.what ?? "") };
  const more = [
    trace.captured && dropped ? words("step_dropped", { count: dropped }) : "",
    trace.hidden ? words("step_hidden", { count: trace.hidden }) : "",
  ];
  return [words(key, { ...counts, ...what, fn: trace.function }), ...more]
    .filter(Boolean)
    .join(words.gap);
}

/** How many operations? Up to four answers, among them the truth. */
export function question(trace, words) {
  const ops = trace.nodes.filter((node) => node.op === "call");
  const answer = ops.filter((node) => trace.captured && !node.dropped).length;
  if (!answer) return null;
  const places = new Set(ops.map((node) => `${node.code}:${node.line}:${node.text}`)).size;
  const lines = new Set(ops.map((node) => `${node.code}:${node.line}`)).size;
  const beliefs = {
    [ops.length + 1]: words("belief_inputs"),
    [places]: words("belief_unrolled"),
    [lines]: words("belief_lines"),
  };
  delete beliefs[answer];
  const near = [answer, ...Object.keys(beliefs).map(Number), answer + 1, answer + 2, answer - 1];
  const options = [...new Set(near)].filter((n) => n > 0).slice(0, 4);
  return { options: options.sort((a, b) => a - b).map(String), answer: String(answer), beliefs };
}
