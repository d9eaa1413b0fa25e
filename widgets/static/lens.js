// KernelLens without its picture: which operation is lit at a beat, which lines of every level are
// kin to it, which sentence tells its way down, and what to ask before.
// In: trace {function, kernels: [kernel]}; a kernel is {phase, graph, name, library?, kin: [{id,
// role: "read" | "live" | "write", word, of, node, line}], stages}; stages are {source, graph, loops,
// run, plain: [row]}.  A row is {text, kin: [id], no?, pieces?: [{text, kin}], elsewhere?}.  And
// machines {number of a kernel: {run, plain}}: a machine is {none} or {same, known, instructions, sections: [{body, loop,
// turn, lanes, bits, count, each: {load, store, fma, other, constant}, rows: [{text, times, op,
// lanes, access, line, kin}]}]}.
// Out: plain data.  Invariant: pure; one beat is one operation, and within it the ribbon grows from
// the source to the machine.

import { clamp, part } from "./dom.js";

/** In a beat the ribbon grows until here, then it rests. */
export const GROW = 0.6;
const NEAR = 1e-6;

/** The kernel that is shown, with its machine code, as far as it has been made. */
export function chosen(trace, number, machines = {}) {
  const at = clamp(number ?? 0, 0, trace.kernels.length - 1);
  const kernel = trace.kernels[at];
  const { run, plain } = machines[at] ?? {};
  const missing = trace.machine && !kernel.library && !run;
  const stages = { ...kernel.stages, run_machine: run, plain_machine: plain };
  return { ...kernel, stages, missing };
}

/** The levels that are shown: {id, rows}, and for the machine {id, machine, rows}. */
export function levels(kernel, form) {
  const { stages } = kernel;
  const found = [
    { id: "source", rows: stages.source },
    { id: "graph", rows: stages.graph },
    { id: "loops", rows: stages.loops },
    { id: "kernel", rows: stages[form] },
  ];
  const machine = stages[`${form}_machine`];
  if (machine) found.push({ id: "machine", machine, rows: machineRows(machine) });
  return found;
}

/** Every row of machine code, with its section; the bodies of the loops come first. */
function machineRows({ sections = [] }) {
  return sections.flatMap((section, at) => section.rows.map((row) => ({ ...row, at })));
}

/** Operations in the order in which they are told: as the kernel has them. */
export function order(kernel, form) {
  const place = new Map();
  kernel.stages[form].forEach((row, n) =>
    row.kin.forEach((id) => place.has(id) || place.set(id, n)),
  );
  return kernel.kin
    .filter(({ id }) => place.has(id))
    .sort((a, b) => place.get(a.id) - place.get(b.id));
}

/** Which operation is lit at p, and how far its ribbon has come (0..1). A whole beat shows the one
 *  just reached. */
export function stateAt(ops, p) {
  const at = clamp(Math.ceil(p - NEAR) - 1, -1, ops.length - 1);
  return { at, op: ops[at] ?? null, grown: at < 0 ? 0 : clamp(part(p - at, 0, GROW)) };
}

/** The role in which a row is lit by these operations, or null. Of several, the one that computes. */
export function roleOf(row, ids, kernel) {
  const mine = kernel.kin.filter(({ id }) => ids.includes(id) && row.kin.includes(id));
  return (mine.find(({ role }) => role === "live") ?? mine[0])?.role ?? null;
}

/** Rows that lie together as [first, last]: they share one end of a ribbon. */
export function runs(numbers) {
  const found = [];
  for (const n of numbers) {
    const last = found.at(-1);
    if (last && n === last[1] + 1) last[1] = n;
    else found.push([n, n]);
  }
  return found;
}

// ---- words --------------------------------------------------------------------------------------

/** "load x", "mul", "store y" */
export const nameOf = ({ word, of }) => (of ? `${word} ${of}` : word);

/** To a tenth: what comes once a row is little for each number. */
const number = (n) => Math.round(n * 10) / 10;

/** What one instruction does. */
export function instruction(row, words) {
  const [mnemonic] = row.text.split(" ");
  const does = words(`kl_op_${row.op}`);
  const what = row.access ? words(`kl_access_${row.access}`, { does }) : does;
  const lanes = row.lanes ? words(row.lanes === 1 ? "kl_lane" : "kl_lanes", { n: row.lanes }) : "";
  const times = row.times > 1 ? words("kl_times", { n: row.times }) : "";
  return words("kl_instruction", { mnemonic, what, lanes, times });
}

/** "64 numbers a turn, 8 an instruction; for each: 2 loads, 1 store, 3 operations" */
export function facts(section, words) {
  const { turn, lanes, bits, each } = section;
  const head = words(section.loop ? "kl_loop" : "kl_straight");
  if (!turn) return head;
  const wide = bits
    ? words("kl_wide", { lanes, bits })
    : words(lanes === 1 ? "kl_single" : "kl_several", { lanes });
  const counts = ["load", "store", "other", "fma", "constant"]
    .map((key) => [key, number(each[key] ?? 0)])
    .filter(([, n]) => n)
    .map(([key, n]) => words(n === 1 ? `kl_each_${key}_one` : `kl_each_${key}`, { n }));
  const told = { head, turn: words.some("kl_turn", turn), wide };
  return words("kl_facts", { ...told, counts: counts.join(words("kl_comma")) });
}

/** What the user wrote for an operation: its piece of the line, or the line. */
function written(kernel, { id, line }) {
  const row = kernel.stages.source.find(({ kin }) => kin.includes(id));
  const piece = row?.pieces?.filter(({ kin }) => kin.includes(id)).map(({ text }) => text.trim());
  const text = piece?.join(" … ") || row?.text.trim();
  return text ? { text, no: row.no ?? line } : null;
}

/** The way of one operation from the source to the machine. */
export function way(kernel, form, op, words) {
  const { id } = op;
  const source = written(kernel, op);
  const from = source
    ? words("kl_from", source)
    : words("kl_from_nowhere", { node: op.node ?? nameOf(op) });
  if (kernel.library) return `${from}${words.gap}${words("kl_library", { name: kernel.name })}`;
  const lines = kernel.stages[form].filter(({ kin }) => kin.includes(id));
  const texts = lines.map(({ text }) => `\`${text.trim()}\``);
  const told = [from, words(`kl_becomes_${op.role}`, { node: op.node, text: texts.join(", ") })];
  const machine = kernel.stages[`${form}_machine`];
  if (machine && !machine.none) told.push(below(machine, id, words));
  return told.join(words.gap);
}

function below(machine, id, words) {
  const body = machineRows(machine).filter(
    (row) => machine.sections[row.at].body && row.kin.includes(id),
  );
  const rows = body.length ? body : machineRows(machine).filter((row) => row.kin.includes(id));
  if (!rows.length) return words("kl_no_instruction");
  if (rows.length > 4) {
    const count = rows.reduce((sum, { times }) => sum + times, 0);
    return words("kl_many", { count, kinds: rows.length });
  }
  return words("kl_machine", { told: rows.map((row) => instruction(row, words)).join("; ") });
}

/** The sentence for what is pointed at: an operation, several, or an instruction that is nobody's. */
export function tell(kernel, form, pointed, words) {
  const { ids, row } = pointed;
  const ops = kernel.kin.filter(({ id }) => ids.includes(id));
  if (row?.op && !ops.length) {
    const why = row.line ? "kl_frame" : "kl_merged";
    return `${words("kl_sentence", { told: instruction(row, words) })}${words.gap}${words(why)}`;
  }
  if (row?.op) {
    const told = words("kl_sentence", { told: instruction(row, words) });
    return `${told}${words.gap}${way(kernel, form, ops[0], words)}`;
  }
  if (row?.elsewhere) return words("kl_elsewhere", { text: row.text });
  const op = ops.find(({ role }) => role === "live") ?? ops[0];
  if (!op) return "";
  const more = ops.length > 1 ? words("kl_kin", { n: ops.length }) : "";
  return `${way(kernel, form, op, words)}${more && words.gap}${more}`;
}

// ---- the prediction -----------------------------------------------------------------------------

const LANES = [1, 4, 8, 16];

/** The widest section in which the loops' work is done. */
export function mainSection(machine) {
  const bodies = (machine?.sections ?? []).filter(({ body, turn }) => body && turn);
  return bodies.sort((a, b) => b.turn * b.lanes - a.turn * a.lanes)[0] ?? null;
}

/** How many numbers does one instruction of the loop work on? null where nobody knows. */
export function question(kernel, form, words) {
  const section = mainSection(kernel.stages[`${form}_machine`]);
  if (!section) return null;
  const answer = section.lanes;
  const options = [...new Set([...LANES, answer])].sort((a, b) => a - b);
  const beliefs = Object.fromEntries(
    options
      .filter((n) => n !== answer)
      .map((n) => [
        n,
        n === 1
          ? words("kl_belief_one", { n: answer })
          : words("kl_belief_wide", { n: answer, bits: section.bits || "" }),
      ]),
  );
  if (form === "plain") for (const n of Object.keys(beliefs)) beliefs[n] = words("kl_belief_plain");
  return { options: options.map(String), answer: String(answer), beliefs };
}

/** The first sentence: a question where there is one. */
export function opening(trace, kernel, form, words) {
  const name = trace.function;
  if (question(kernel, form, words)) return words("kl_ask", { name, kernel: kernel.name });
  return words(kernel.library ? "kl_open_library" : "kl_open", { name, kernel: kernel.name });
}
