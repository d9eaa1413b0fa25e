// AccessRace: one function as separate passes and as one. One beat is one memory access in each
// lane.
// In: traits trace (see race.js), n, beat, language.  Out: n, when the slider moves it. The loop
// bodies are run here, for any n, so the picture lives without a kernel.

import { clamp } from "./dom.js";
import { frame, slider, widget } from "./lab.js";
import {
  CODE_WIDTH,
  columnsFit,
  columnsWanted,
  layoutLane,
  makeLane,
  measure,
  paintLane,
} from "./lane.js";
import { roomOf } from "./ledger.js";
import { player } from "./player.js";
import { formula, question, run, sameOutputs, savedSteps, stateAt } from "./race.js";

export const MOST = 16;

/** Run every lane for n elements: what the picture and the sentence need to know. */
export function prepare(trace, n) {
  const runs = trace.lanes.map((lane) => run(trace, lane, n));
  const [separate, fused] = runs;
  const saved = savedSteps(separate.steps, fused.steps);
  const gone = separate.steps.filter((_, j) => saved[j]);
  const temporary = new Set(
    trace.buffers.filter((b) => b.role === "intermediate").map((b) => b.name),
  );
  const names = (wanted) =>
    trace.buffers
      .map((b) => b.name)
      .filter((name) => temporary.has(name) === wanted)
      .filter((name) => gone.some((step) => step.buf === name));
  return {
    n,
    runs,
    saved,
    gone,
    arrays: names(true),
    inputs: names(false),
    same: sameOutputs(trace, separate.memory, fused.memory),
  };
}

/** Names for a sentence: all when few, else three and a count. */
function list(names, words) {
  const quoted = names.map((name) => `\`${name}\``);
  if (names.length > 3)
    return words("more", { names: quoted.slice(0, 3).join(", "), count: names.length - 3 });
  if (names.length < 2) return quoted.join("");
  return words("pair", { first: quoted.slice(0, -1).join(", "), last: quoted.at(-1) });
}

function ending(trace, race, words) {
  const [separate, fused] = trace.lanes;
  const [total, few] = race.runs.map((lane) => lane.steps.length);
  const kind = race.arrays.length
    ? race.inputs.length
      ? "saved_both"
      : "saved_arrays"
    : race.inputs.length
      ? "saved_inputs"
      : "saved_none";
  return words(trace.fixed ? "race_end_fixed" : "race_end", {
    total,
    few,
    per: formula(separate),
    fewPer: formula(fused),
    outputs: words(race.same ? "outputs_same" : "outputs_differ"),
    why: words(kind, {
      count: total - few,
      arrays: list(race.arrays, words),
      inputs: list(race.inputs, words),
    }),
  });
}

/** The one sentence: what happens now, and why. */
export function narrate(trace, race, p, words) {
  const [a, b] = race.runs.map(({ steps }) => stateAt(steps, Math.min(p, steps.length)));
  const few = race.runs[1].steps.length;
  if (p <= 0) {
    const key = trace.fixed ? "race_ask_fixed" : "race_ask";
    return words(key, { n: race.n, total: race.runs[0].steps.length });
  }
  if (a.done && b.done) return ending(trace, race, words);
  const verb = ({ kind, buf, cell, reg }) =>
    words(kind === "read" ? "reads" : "writes", { reg, cell: `${buf}[${cell}]` });
  const because = ({ kind, buf }) => {
    if (race.arrays.includes(buf)) return words(kind === "read" ? "why_written" : "why_to_read");
    return "";
  };
  const stayed = (step) =>
    step.kind === "write" && race.arrays.length ? words("why_register") : "";
  const name = () => trace.lanes[0].passes[a.now.pass].name;
  const left = a.done
    ? words("race_first_done")
    : words("race_now", { pass: name(), verb: verb(a.now), why: because(a.now) });
  const right = b.done
    ? words("race_fused_done", { few })
    : words("race_fused_now", { verb: verb(b.now), why: stayed(b.now) });
  return words.language === "en" ? `${left} ${right}` : left + right;
}

/** Give each lane its run, and what only the separate one has: which of its accesses were saved. */
function adopt(lanes, trace, race) {
  const savedIn = {};
  for (const { buf } of race.gone) savedIn[buf] = (savedIn[buf] ?? 0) + 1;
  lanes.forEach((lane, k) => {
    const { steps, memory } = race.runs[k];
    const saved = k === 0 && race.gone.length ? race.saved : [];
    const dtypes = lane.spec.passes.map((pass) =>
      Object.fromEntries(
        pass.body.filter((line) => line.reg).map((line) => [line.reg, line.dtype]),
      ),
    );
    Object.assign(lane, { steps, memory, saved, savedIn, dtypes });
  });
}

/** Lay both lanes out for their width: same rows, code beside memory where there is room. */
function arrange(lanes, stage, n, total) {
  const width = roomOf(lanes[0]);
  const wanted = Math.max(...lanes.map(columnsWanted));
  const wired = wanted <= columnsFit(width - CODE_WIDTH) || wanted > columnsFit(width);
  const beside = stage.clientWidth >= 900 && n <= 8 && wired;
  const room = beside ? width - CODE_WIDTH : width;
  const geometry = lanes.map((lane) => measure(lane, n, room));
  const stacked = lanes[0].root.clientWidth > stage.clientWidth / 2;
  const rows = Math.max(...geometry.map((geo) => geo.rows));
  lanes.forEach((lane, k) => {
    lane.root.toggleAttribute("data-beside", beside);
    layoutLane(lane, n, stacked ? geometry[k] : { ...geometry[k], rows }, total);
  });
}

const LEGEND = { read: "key_read", write: "key_write", live: "key_register", never: "key_never" };

const mount = (el, words) =>
  frame(el, {
    widget: "access_race",
    words,
    name: "race",
    legend: LEGEND,
  });

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const ui = mount(el, words);
  const lanes = trace.lanes.map((lane) => makeLane(trace, lane, words));
  ui.stage.classList.add("ar-stage");
  ui.stage.append(...lanes.map((lane) => lane.root));
  let race = null;
  let drawn = "";
  const widest = Math.max(...trace.buffers.map((buffer) => buffer.size ?? 1));
  function setN(n) {
    race = prepare(trace, trace.fixed ? widest : n);
    adopt(lanes, trace, race);
    drawn = "";
  }
  const total = () => Math.max(...race.runs.map(({ steps }) => steps.length));
  const knob = slider("n", words("elements"), 1, MOST, model.get("n"), (n) => {
    model.set("n", n);
    model.save_changes();
  });
  if (!trace.fixed) ui.tools.append(knob.root);
  setN(model.get("n"));
  const play = player(ui, {
    words,
    total,
    signal,
    beatMs: () => clamp(17000 / total(), 130, 650),
    say: (p) => narrate(trace, race, p, words),
    ask: () => question(trace, race.n, words),
    draw(p) {
      const key = `${race.n}:${ui.stage.clientWidth}:${lanes[0].root.clientWidth}`;
      if (key !== drawn) arrange(lanes, ui.stage, race.n, total());
      drawn = key;
      for (const lane of lanes) paintLane(lane, p, total());
    },
  });
  play.n = (n) => {
    knob.show(n);
    setN(n);
    play.seek(0);
  };
  play.paint();
  return play;
}
export default widget(build, { follow: ["n"] });
