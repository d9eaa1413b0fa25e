// LaunchTimeline without its picture: when launches are made and kernels run, and which sentence
// tells it.
// In: trace {function, figures: {of, operator, call, launch, replay, shortest, bandwidth,
// arithmetic}, variants: [{count, elements, eager: [{name, bytes, work, first}], compiled: [...]}], card, measured: [[{elements,
// plans: {eager: {host, device, names} | {refused}, ...}}]]}. Times are in seconds, figures those of
// `labcore/measure/lanes.py`, whose model this is: a kernel starts when its launch is over and the
// kernel before it has ended. `measured` has a list for each variant, and nothing without a card.
// Out: plain data.
// Invariant: pure, the same choice and p give the same state.

import { plain, time } from "./amortize.js";
import { clamp, part } from "./dom.js";

export const PLANS = ["eager", "eager_replayed", "compiled", "compiled_replayed"];
export const BEATS = 24; // the whole time in equal parts, so that all bars grow at one speed
const FACTOR = 4; // from one size of the slider to the next
const MOST = 2 ** 28; // elements
const BUSY = 0.5; // who is busy for less than this is waiting

/** Sizes that can be chosen: those that were measured, or the recorded one and larger ones. */
export function sizesOf(trace, { variant, source }) {
  if (source === "measured") return trace.measured[variant].map(({ elements }) => elements);
  const found = [Math.max(1, trace.variants[variant].elements)];
  while (found.at(-1) * FACTOR <= MOST) found.push(found.at(-1) * FACTOR);
  return found;
}

/** A choice with nothing in it that the trace does not have. */
export function settled(trace, { variant = 0, size = 0, source = "measured" }) {
  const v = clamp(variant, 0, trace.variants.length - 1);
  const from = trace.measured.length ? source : "model";
  const last = sizesOf(trace, { variant: v, source: from }).length - 1;
  return { variant: v, source: from, size: clamp(size, 0, last) };
}

function launched(kernels, launches) {
  const [host, device] = [[], []];
  let now = 0;
  let free = 0;
  kernels.forEach((kernel, k) => {
    host.push([now, now + launches[k]]);
    now += launches[k];
    const start = Math.max(now, free);
    free = start + kernel;
    device.push([start, free]);
  });
  return { host, device };
}

function replayed(kernels, launch) {
  const device = [];
  let free = launch;
  for (const kernel of kernels) {
    device.push([free, free + kernel]);
    free += kernel;
  }
  return { host: [[0, launch]], device };
}

/** The lanes of a plan by the model, all tensors being `grown` times as large as recorded. */
export function modelled(plan, kernels, figures, grown = 1) {
  const seconds = kernels.map(({ bytes, work }) => {
    const [moving, computing] = [bytes / figures.bandwidth, work / figures.arithmetic];
    return Math.max(figures.shortest, moving * grown, computing * grown);
  });
  const each = {
    eager: ({ first }) => (first ? figures.operator : figures.launch),
    compiled: (_, k) => figures.launch + (k === 0 ? figures.call : 0),
  }[plan];
  if (each) return launched(seconds, kernels.map(each));
  return replayed(seconds, figures.replay + (plan === "compiled_replayed" ? figures.call : 0));
}

const sum = (intervals) => intervals.reduce((all, [from, to]) => all + to - from, 0);

function summed(id, lanes, names) {
  const end = Math.max(0, ...[...lanes.host, ...lanes.device].map(([, to]) => to));
  const busy = end ? sum(lanes.device) / end : 0;
  return { id, ...lanes, names, end, busy };
}

/** All rows of a choice: {rows: [{id, host, device, names, end, busy} | {id, refused}], most,
 *  elements}. */
export function rowsOf(trace, choice) {
  const { variant, size, source } = settled(trace, choice);
  const elements = sizesOf(trace, { variant, source })[size];
  const made = trace.variants[variant];
  const rows = PLANS.map((id) => {
    if (source === "measured") {
      const found = trace.measured[variant][size].plans[id];
      return found.refused ? { id, refused: found.refused } : summed(id, found, found.names);
    }
    const kernels = id.startsWith("eager") ? made.eager : made.compiled;
    const grown = elements / Math.max(1, made.elements);
    const lanes = modelled(id, kernels, trace.figures, grown);
    return summed(
      id,
      lanes,
      kernels.map(({ name }) => name),
    );
  });
  const most = Math.max(...rows.map(({ end }) => end ?? 0));
  return { rows, most, elements };
}

/** How far a row has come at t: what was launched, what has ended, what the card does. */
export function progress(row, t) {
  const launched_ = row.host.filter(([, to]) => to <= t + 1e-12).length;
  const ended = row.device.filter(([, to]) => to <= t + 1e-12).length;
  const on = row.device.findIndex(([from, to]) => from <= t && t < to - 1e-12);
  const state = t >= row.end - 1e-12 ? "done" : on >= 0 ? "busy" : "waits";
  return { launched: launched_, ended, on, state };
}

/** The time of a playhead. */
export const timeAt = ({ most }, p) => most * part(p, 0, BEATS);

/** The part of an interval that has passed at t. */
export const grown = ([from, to], t) => clamp(t, from, to) - from;

// ---- the sentences ------------------------------------------------------------------------------

const row = (shown, id) => shown.rows.find((each) => each.id === id);
const ok = (each) => each && !each.refused;

/** Is it the CPU that eager mode waits for? */
export const isHostBound = (shown) => row(shown, "eager").busy < BUSY;

/** What happens at t in the rows that are not done yet. */
function now(shown, t, words) {
  const going = shown.rows.filter((each) => ok(each) && progress(each, t).state !== "done");
  const said = going.map((each) => {
    const { state, launched: made, on } = progress(each, t);
    const launches = each.host.length;
    const about = { name: words(`lt_${each.id}`), launched: made, launches, kernel: each.names[on] };
    return words(launches === 1 ? `lt_${state}_one` : `lt_${state}`, about);
  });
  const done = shown.rows.filter(ok).length - going.length;
  if (done) said.push(words.some("lt_done", done));
  return `${time(t)}${words("lt_colon")}${said.join(words("lt_and"))}${words("lt_stop")}`;
}

function ending(shown, words) {
  const eager = row(shown, "eager");
  const faster = (id) => `${plain(eager.end / row(shown, id).end)}×`;
  const told = ["compiled", "eager_replayed", "compiled_replayed"]
    .filter((id) => ok(row(shown, id)))
    .map((id) => words(`lt_gain_${id}`, { by: faster(id) }));
  const sums = words("lt_end", {
    total: time(eager.end),
    busy: time(sum(eager.device)),
    gains: told.join(words("lt_comma")),
  });
  return sums + words.gap + words(isHostBound(shown) ? "lt_host_bound" : "lt_card_bound");
}

/** The one sentence at p. */
export function narrate(shown, p, words) {
  if (p <= 0) {
    const { device } = row(shown, "eager");
    return words("lt_ask", {
      kernels: words.some("lt_n_kernels", device.length),
      elements: shown.elements.toLocaleString("en-US"),
    });
  }
  return p >= BEATS ? ending(shown, words) : now(shown, timeAt(shown, p), words);
}

/** How much of eager mode's time does the card compute? */
export function question(shown, words) {
  const { busy } = row(shown, "eager");
  const options = [words("lt_little"), words("lt_half"), words("lt_most")];
  const answer = options[busy < 1 / 3 ? 0 : busy <= 2 / 3 ? 1 : 2];
  const beliefs = {
    [options[0]]: words("lt_belief_little"),
    [options[2]]: words("lt_belief_most"),
  };
  delete beliefs[answer];
  return { options, answer, beliefs };
}
