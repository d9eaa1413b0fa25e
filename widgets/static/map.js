// The map without its picture: what has happened by a beat, which sentence tells it, what to ask
// before, which lines are shown.
// In: trace {function, listings: [{name, first, lines}], regions: [{id, code, title, nodes, kernels,
// runs: [[listing, first, last]], reused, guards, bytecode, goes_on}], breaks: [{code, line, at,
// what, why, hint, instruction, chain}], calls: [{inputs, label}], events: [{kind, call, at: {code,
// line, lane}, ...}]}; one event is one beat. A "rounds" beat stands for equal rounds of a loop.
// Out: plain data.
// Invariant: pure, the same p gives the same state.

import { clamp, ease, part } from "./dom.js";
import { beatOf } from "./player.js";

/** In a beat the token moves until here, then what it caused is shown. */
export const MOVE = 0.7;
const [LONG, LONG_CALLEE] = [40, 20]; // lines; longer listings are folded
const COLUMNS = 6; // of regions beside each other

const TINTS = 8; // colours of regions, then they begin again

/** The number of a region's colour. */
export const tintOf = (trace, id) => trace.regions.findIndex((r) => r.id === id) % TINTS;

// ---- the fold -----------------------------------------------------------------------------------

const opening = () => ({
  count: { graphs: 0, regions: 0, breaks: 0 },
  known: [], // regions and breaks in the order of being met: "A", 0, "B" ...
  met: {}, // how often each break was
  handed: {}, // what each break handed over last
  entered: [], // regions of this call, the last one last
});

const learn = (st, id) => st.known.includes(id) || st.known.push(id);

const APPLY = {
  call(st) {
    st.entered = [];
  },
  enter(st, e) {
    learn(st, e.region);
    st.entered = [...st.entered.filter((id) => id !== e.region), e.region];
    st.count.regions++;
    if (e.graph) st.count.graphs++;
  },
  break(st, e) {
    learn(st, e.break);
    st.met[e.break] = (st.met[e.break] ?? 0) + 1;
    st.count.breaks++;
    st.handed[e.break] = { frames: e.handed, rest: e.rest };
  },
  python: result,
  rest: result,
  rounds(st, e) {
    addRounds(st, e, e.count);
  },
};

function result(st, e) {
  st.handed[e.break] = { frames: e.handed, rest: e.kind === "rest", result: e.result };
}

function addRounds(st, e, rounds) {
  st.count.regions += rounds * e.regions;
  st.count.breaks += rounds * e.met.length;
  for (const id of e.met) st.met[id] = (st.met[id] ?? 0) + rounds;
}

/** States already folded, by trace and count: a beat is painted many times. */
const folded = new WeakMap();

function fold(trace, count) {
  if (!folded.has(trace)) folded.set(trace, new Map());
  const known = folded.get(trace);
  if (!known.has(count)) {
    const st = opening();
    for (const e of trace.events.slice(0, count)) APPLY[e.kind]?.(st, e);
    known.set(count, st);
  }
  return structuredClone(known.get(count));
}

/** What is shown at p. `round` counts the rounds of a loop that one beat stands for. */
export function stateAt(trace, p) {
  const { events } = trace;
  const k = clamp(beatOf(p), 0, events.length);
  const f = k < events.length ? Math.max(0, p - k) : 0;
  const event = events[f > 0 ? k : k - 1] ?? null;
  const inRounds = f > 0 && event.kind === "rounds";
  const shown = k + (f >= MOVE && !inRounds ? 1 : 0);
  const st = fold(trace, shown);
  const done = inRounds ? clamp(Math.floor(f * event.count), 0, event.count - 1) + 1 : null;
  if (inRounds) addRounds(st, event, done);
  return {
    ...st,
    k,
    f,
    event,
    round: event?.kind === "rounds" ? (done ?? event.count) : null,
    from: f > 0 ? (events[k - 1] ?? events[0]).at : (event?.at ?? null),
    t: f > 0 && !inRounds ? ease(part(f, 0, MOVE)) : 1,
    call: event?.call ?? 0,
    region: event?.region ?? null,
    end: p >= events.length,
  };
}

/** The p at which a rounds beat shows its round number `round`, counted from 1. */
export const roundAt = (trace, k, round) => k + (round - 0.5) / trace.events[k].count;

/** The number of the rounds beat that p is in, or -1. */
export function roundsBeat(trace, p) {
  const k = beatOf(p);
  const near = p > k ? k : k - 1;
  return trace.events[near]?.kind === "rounds" ? near : -1;
}

// ---- where things stand -------------------------------------------------------------------------

/** The rows from a region's first line to its last, in each listing: what it needs of a column. */
const spans = ({ runs }) =>
  runs.reduce((all, [code, a, b]) => {
    const [low, high] = all[code] ?? [a, b];
    return { ...all, [code]: [Math.min(low, a), Math.max(high, b)] };
  }, {});

function meet(one, other) {
  const [mine, theirs] = [spans(one), spans(other)];
  return Object.keys(mine).some(
    (code) => theirs[code] && mine[code][0] <= theirs[code][1] && theirs[code][0] <= mine[code][1],
  );
}

/** Regions that cover the same lines stand beside each other: {region: column}, for one call. */
export function columnsOf(trace, call) {
  const ids = new Set(trace.events.filter((e) => e.call === call).map((e) => e.region));
  const columns = [];
  const at = {};
  for (const region of trace.regions.filter((r) => ids.has(r.id))) {
    let column = columns.findIndex((others) => !others.some((other) => meet(region, other)));
    if (column < 0) column = Math.min(columns.length, COLUMNS - 1);
    (columns[column] ??= []).push(region);
    at[region.id] = column;
  }
  return at;
}

/** The rows of the source: lines, a heading for each further function, folds in long ones. */
export function rowsOf(trace, unfolded = []) {
  return trace.listings.flatMap(({ name, first, lines }, code) => {
    const rows = code === 0 ? [] : [{ kind: "head", code, line: first, text: name }];
    const short = lines.length <= (code === 0 ? LONG : LONG_CALLEE) || unfolded.includes(code);
    const keep = short ? null : kept(trace, code, first);
    lines.forEach((text, n) => {
      const line = first + n;
      const last = rows.at(-1);
      if (!keep || keep.has(line)) rows.push({ kind: "line", code, line, text });
      else if (last?.kind === "fold") last.hidden.push(line);
      else rows.push({ kind: "fold", code, line, hidden: [line] });
    });
    return rows;
  });
}

/** Lines near the ends of regions and near breaks. */
function kept(trace, code, first) {
  const marked = trace.breaks.filter((b) => b.code === code).map((b) => b.line);
  for (const region of trace.regions)
    for (const [c, a, b] of region.runs) if (c === code) marked.push(a, b);
  return new Set([first, ...marked.flatMap((line) => [line - 1, line, line + 1])]);
}

/** The number of the row that shows a line, or hides it. */
export function rowAt(rows, code, line) {
  return rows.findIndex(
    (row) =>
      row.code === code &&
      (row.kind === "fold" ? row.hidden.includes(line) : row.kind === "line" && row.line === line),
  );
}

// ---- the sentences ------------------------------------------------------------------------------

const sentence = (t) => t.replace(/[.。]$/, "");
export const operators = (region) =>
  region.nodes.filter((node) => node.op === "call").map((node) => node.text);

/** At most `most` names, and how many more there are. */
export function some(names, words, most = 3) {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length > most)
    return words("more", {
      names: quoted.slice(0, most - 1).join(", "),
      count: quoted.length - most + 1,
    });
  if (quoted.length < 2) return quoted.join("");
  return words("pair", { first: quoted.slice(0, -1).join(", "), last: quoted.at(-1) });
}

const regionOf = (trace, id) => trace.regions.find((r) => r.id === id);

const NOW = {
  call: ({ e, trace, words }) =>
    words("map_call", {
      n: e.call + 1,
      count: trace.calls.length,
      fn: trace.function,
      inputs: trace.calls[e.call].inputs,
    }),
  enter({ e, trace, words }) {
    const region = regionOf(trace, e.region);
    const { code, guards } = region;
    if (!e.new) return words("map_hit", { region: e.region, code });
    const ops = operators(region);
    if (!ops.length) return words("map_found_none", { region: e.region, line: e.at.line });
    const found = words("map_found", { region: e.region, ops: some(ops, words), guards });
    if (e.graph) return found;
    const { reused } = region;
    return `${found}${words.gap}${words("map_reused", { reused })}`;
  },
  run({ e, trace, words }) {
    const ops = operators(regionOf(trace, e.region));
    const { line } = e.at;
    if (!ops.length) return words("map_run_none", { region: e.region, line });
    return words("map_run", { region: e.region, line, ops: words.some("n_ops", ops.length) });
  },
  break({ e, trace, words }) {
    const { what, line } = trace.breaks[e.break];
    const names = e.handed.at(-1).variables.map(([name]) => name);
    const handed = names.length ? words("map_handed", { names: some(names, words) }) : "";
    const told = e.rest && !what ? words("map_rest_why") : what;
    return `${words("map_break", { line, what: sentence(told) })}${words.gap}${handed}`.trim();
  },
  python({ e, trace, words }) {
    const { instruction } = trace.breaks[e.break];
    const key = /^raised/.test(e.result) ? "map_python_raised" : "map_python";
    const came = e.result && e.result !== "None" ? words("map_result", { result: e.result }) : "";
    return `${words(key, { instruction, line: e.at.line })}${words.gap}${came}`.trim();
  },
  rest: ({ e, trace, words }) =>
    words("map_rest", { fn: trace.breaks[e.break].chain.at(-1).function }),
  rounds({ e, st, words }) {
    const values = e.values[st.round - 1] ?? [];
    const told = words("map_rounds", { round: st.round + 1, of: e.of, regions: e.regions });
    return values.length
      ? `${told}${words.gap}${words("map_values", { values: some(values, words) })}`
      : told;
  },
  whole: ({ trace, words }) => words("map_whole", { fn: trace.function }),
  return: ({ e, words }) =>
    e.result === "raised"
      ? words("now_raised", { n: e.call + 1, error: e.error || words("an_error") })
      : words("map_return", { n: e.call + 1 }),
};

/** The one sentence for the event on stage. */
export function narrate(trace, p, words) {
  const st = stateAt(trace, p);
  if (!st.event) return begin(trace, words);
  if (st.end) return ending(trace, st, words);
  return NOW[st.event.kind]({ e: st.event, trace, st, words });
}

function begin(trace, words) {
  const count = trace.calls.length;
  const labels = [...new Set(trace.calls.map((call) => `\`${call.label}\``))];
  const about = { fn: trace.function, count, inputs: labels.join(", ") };
  const called = words(count > 1 ? "map_called_times" : "map_called", about);
  return question(trace, words) ? `${called}${words.gap}${words("map_ask")}` : called;
}

function ending(trace, { count, event }, words) {
  if (!count.breaks && count.graphs) return words("map_end_whole", { fn: trace.function });
  const raised = event.result === "raised" ? NOW.return({ e: event, words }) : "";
  const told = words("map_end", {
    graphs: words.some("n_graphs", count.graphs),
    regions: words.some("n_regions", trace.regions.length),
    breaks: words.some("n_breaks", trace.breaks.length),
    met: words.some("n_times", count.breaks),
  });
  return `${raised} ${told}`.trim();
}

/** How many graphs? Up to four answers, among them the truth; null where nothing breaks. */
export function question(trace, words) {
  if (!trace.breaks.length) return null;
  const { count } = stateAt(trace, trace.events.length);
  const answer = count.graphs;
  const beliefs = { 0: words("belief_all_python"), 1: words("belief_one_graph") };
  if (trace.breaks.length !== answer) beliefs[trace.breaks.length] ??= words("belief_breaks");
  if (count.breaks >= 4) beliefs[count.breaks] ??= words("belief_each_time");
  delete beliefs[answer];
  const near = [answer, ...Object.keys(beliefs).map(Number).reverse(), answer + 1, answer + 2];
  const options = [...new Set(near)].slice(0, 4).sort((a, b) => a - b);
  return { options: options.map(String), answer: String(answer), beliefs };
}
