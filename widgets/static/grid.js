// GridView without its picture: what has been asked of memory by a beat, which sentence tells it.
// In: trace {function, watched, kernels: [{name, form, reason, grid, block, threads, sharedBytes,
// occupancy, barriers, lines: [[number, text]], traffic: [{array, reads, writes, sectors, fewest}],
// shared: [{array, requests, lost}], hidden, events: [{line, array, kind: "read" | "write", space:
// "global" | "shared", warp, lanes, width, parts, of, gaps?}]}]}. One event is one request of one
// warp, and one beat. In global memory `parts` are the sectors it touches, in order, with the bytes
// wanted of each, and `gaps` how far apart they lie; in shared memory the 32 banks, with the turns
// that each takes. `of` says for each lane which part is its own.
// Out: plain data.
// Invariant: pure, the same p gives the same state.

import { clamp, ease, part } from "./dom.js";
import { beatOf } from "./player.js";

export const MOVE = 0.62; // in a beat something moves until here, then what it caused is shown
export const SECTOR = 32;

/** The kernel that is chosen, or the last one. */
export const chosen = (trace, n) => trace.kernels[clamp(n ?? 0, 0, trace.kernels.length - 1)];

/** The fewest sectors that could carry what a request wants. */
export const fewest = ({ parts }) =>
  Math.ceil(parts.reduce((sum, bytes) => sum + bytes, 0) / SECTOR);

/** How many turns a request of shared memory takes. */
export const turnsOf = ({ parts }) => Math.max(1, ...parts);

function next(before, e) {
  const global = e.space === "global";
  return {
    requests: before.requests + 1,
    sectors: before.sectors + (global ? e.parts.length : 0),
    fewest: before.fewest + (global ? fewest(e) : 0),
    lost: before.lost + (global ? 0 : turnsOf(e) - 1),
  };
}

const told = new WeakMap();

/** The sums after each number of events. */
export function sumsOf(kernel) {
  if (!told.has(kernel)) {
    const sums = [{ requests: 0, sectors: 0, fewest: 0, lost: 0 }];
    for (const e of kernel.events) sums.push(next(sums.at(-1), e));
    told.set(kernel, sums);
  }
  return told.get(kernel);
}

/** What is shown at p: the sums, the request on stage, how far it has come. */
export function stateAt(kernel, p) {
  const { events } = kernel;
  const k = clamp(beatOf(p), 0, events.length);
  const f = k < events.length ? Math.max(0, p - k) : 0;
  const at = f > 0 ? k : k - 1;
  const over = f === 0 || f >= MOVE;
  return {
    ...sumsOf(kernel)[k + (f >= MOVE ? 1 : 0)],
    k,
    at,
    event: events[at] ?? null,
    over,
    t: f > 0 ? ease(part(f, 0, MOVE)) : 1,
    end: p >= events.length,
  };
}

// ---- the sentences ------------------------------------------------------------------------------

function requestSentence(e, words) {
  const about = { warp: e.warp, array: e.array, lanes: words.some("n_threads", e.lanes.length) };
  const what = words(`gv_${e.kind}`, about);
  if (e.space === "shared") {
    const turns = turnsOf(e);
    const key = turns > 1 ? "gv_conflict" : "gv_banks";
    return what + words.gap + words(key, { turns });
  }
  const [sectors, least] = [e.parts.length, fewest(e)];
  const bytes = e.parts.reduce((sum, wanted) => sum + wanted, 0);
  const same = new Set(e.of).size === 1 && e.lanes.length > 1 && bytes === e.width;
  const key = same ? "gv_same" : sectors > least ? "gv_scattered" : "gv_coalesced";
  return what + words.gap + words(key, { bytes, sectors: words.some("n_sectors", sectors), least });
}

/** The one sentence for the request on stage. */
export function narrate(kernel, p, words) {
  const st = stateAt(kernel, p);
  if (!st.event) {
    const key = question(kernel, words) ? "gv_ask" : "gv_rest";
    const first = kernel.events[0];
    return words(key, { array: first?.array ?? "", warp: first?.warp ?? 0, name: kernel.name });
  }
  const said = requestSentence(st.event, words);
  return st.end ? said + words.gap + ending(kernel, words) : said;
}

function ending(kernel, words) {
  const { sectors, fewest: least, lost } = sumsOf(kernel).at(-1);
  const sums = words(sectors > least ? "gv_end_more" : "gv_end", {
    sectors: words.some("n_sectors", sectors),
    least,
  });
  const more = [
    lost ? words("gv_end_lost", { lost }) : "",
    kernel.hidden ? words("gv_hidden", { count: kernel.hidden }) : "",
  ];
  return [sums, ...more].filter(Boolean).join(words.gap);
}

/** How many sectors carry the first request? Up to four answers, among them the truth. */
export function question(kernel, words) {
  const first = kernel.events[0];
  if (first?.space !== "global") return null;
  const answer = first.parts.length;
  const beliefs = { 32: words("belief_sector_each"), 1: words("belief_one_sector") };
  delete beliefs[answer];
  const near = [answer, ...Object.keys(beliefs).map(Number), 4, 8];
  const options = [...new Set(near)].slice(0, 4).sort((a, b) => a - b);
  return { options: options.map(String), answer: String(answer), beliefs };
}
