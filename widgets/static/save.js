// The pure half of SaveOrRecompute: which cut is chosen, and where everything stands.
//
// trace = {version, function, nodes, default: cut, answers: {key: {cuts} | {refused}}}
// node = {name, text, args, side: "input" | "forward" | "either" | "tangent" | "backward", meta,
//         bytes, view, free, line?, returned?, gradient_of?}; free: it may be forced
// cut = {saved, again, first, second, bytes, cost, why: {name: [rule, detail, flip]}}; first and
//       second are the operators of forward and backward graph, cost counts scalar operations
// A key is what is forced, "mul:again,sin:save"; its cuts are for all budgets, from 1 to 0.

export const keyOf = (forced) =>
  Object.keys(forced)
    .sort()
    .map((name) => `${name}:${forced[name]}`)
    .join(",");

/** The largest cut that keeps to the budget: what `min_cut_partition(joint, budget)` gives. */
export function within(cuts, budget) {
  const [high, low] = [cuts[0].bytes, cuts.at(-1).bytes];
  return cuts.find((cut) => cut.bytes <= low + budget * (high - low));
}

/** The smallest budget that still allows this cut. */
export function budgetOf(cuts, cut) {
  const [high, low] = [cuts[0].bytes, cuts.at(-1).bytes];
  return high > low ? (cut.bytes - low) / (high - low) : 1;
}

/** A budget in whole percents, rounded up: what is read here and typed elsewhere allows no less. */
export const percent = (budget) => Math.ceil(Math.max(0, 100 * budget - 1e-9));

/** {cut, cuts} of a choice {partitioner, budget, forced}; {refused} or {waiting} beside the cut
 *  without anything forced, where there is no answer. */
export function chosen(trace, answers, { partitioner, budget, forced }) {
  if (partitioner === "default") return { cut: trace.default, cuts: [trace.default] };
  const key = keyOf(forced);
  const answer = trace.answers[key] ?? answers[key];
  const free = trace.answers[""].cuts;
  const cuts = answer?.cuts ?? free;
  const found = { cut: within(cuts, budget), cuts };
  if (!answer) return { ...found, waiting: true };
  return answer.refused ? { ...found, refused: answer.refused } : found;
}

/** What each way of treating a value would come to: {free, save, again}, each a cut, or null where
 *  that cannot be or is not known. */
export function alternatives(trace, answers, choice, name) {
  const { [name]: _, ...others } = choice.forced;
  const at = (forced) => {
    const found = chosen(trace, answers, { ...choice, partitioner: "min_cut", forced });
    return found.waiting || found.refused ? null : found.cut;
  };
  return {
    free: at(others),
    save: at({ ...others, [name]: "save" }),
    again: at({ ...others, [name]: "again" }),
  };
}

const LATE = new Set(["tangent", "backward"]);

/** The values left of the cut, from top to bottom: an input just before its first reader, and what
 *  only the backward reads below what it is computed from. */
export function leftOf(nodes) {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const order = [];
  const add = (node) => {
    for (const name of node.args) {
      const source = byName.get(name);
      if (source?.side === "input" && !order.includes(source)) order.push(source);
    }
    if (!order.includes(node)) order.push(node);
  };
  for (const node of nodes) if (node.side === "forward") add(node);
  for (const node of nodes) {
    if (node.side !== "either") continue;
    const after = Math.max(-1, ...node.args.map((name) => order.indexOf(byName.get(name))));
    order.splice(after + 1, 0, node);
  }
  for (const node of nodes) {
    const read = nodes.some((other) => other.args.includes(node.name));
    if (node.side === "input" && read && !order.includes(node)) order.push(node);
  }
  return order;
}

/** The gradients, from bottom to top. */
export const rightOf = (nodes) => nodes.filter((node) => LATE.has(node.side));

const [STEP, HEIGHT, CELL, LEAST] = [32, 24, 58, 56];

/** Where everything stands in `width`: {width, height, pill, x: {left, cell, again, right}, y}. */
export function layout(trace, width) {
  const [left, right] = [leftOf(trace.nodes), rightOf(trace.nodes)];
  const [gap, side] = width >= 520 ? [26, 32] : [10, 18];
  const third = Math.floor((width - 2 * side - CELL - 3 * gap) / 3);
  const pill = Math.max(LEAST, Math.min(190, third));
  const height = Math.max(left.length, right.length) * STEP;
  const y = new Map();
  left.forEach((node, n) => y.set(node.name, ((n + 0.5) * height) / left.length));
  right.forEach((node, n) => y.set(node.name, height - ((n + 0.5) * height) / right.length));
  const x = { left: side };
  x.cell = x.left + pill + gap;
  x.again = x.cell + CELL + gap;
  x.right = x.again + pill + gap;
  const size = { height, width: x.right + pill + side };
  return { left, right, y, x, pill, side, cell: CELL, tall: HEIGHT, ...size };
}

/** The marks of a cut: {pills: [{node, place, kind}], cells: [node], edges: [{from, to, kind}]}.
 *  An end of an edge is [place, name]; kinds are "forward", "saved", "again", "backward". */
export function marksOf(trace, cut) {
  const byName = new Map(trace.nodes.map((node) => [node.name, node]));
  const [first, second, saved] = [cut.first, cut.second, cut.saved].map((names) => new Set(names));
  const again = new Set(cut.again);
  const pills = [];
  const edges = [];
  const here = (name) => !LATE.has(byName.get(name).side);
  const source = (name) => {
    if (!here(name)) return [["right", name], "backward"];
    if (saved.has(name)) return [["cell", name], "saved"];
    if (second.has(name)) return [["again", name], "again"];
    return [["left", name], "saved"];
  };
  for (const node of trace.nodes) {
    if (!here(node.name)) {
      pills.push({ node, place: "right", kind: "backward" });
      for (const name of node.args) {
        const [from, kind] = source(name);
        edges.push({ from, to: ["right", node.name], kind });
      }
      continue;
    }
    const early = node.side === "input" || first.has(node.name);
    if (early) {
      pills.push({ node, place: "left", kind: again.has(node.name) ? "again" : node.side });
      for (const name of node.args)
        edges.push({ from: ["left", name], to: ["left", node.name], kind: "forward" });
    }
    if (saved.has(node.name))
      edges.push({ from: ["left", node.name], to: ["cell", node.name], kind: "saved" });
    if (!second.has(node.name)) continue;
    pills.push({ node, place: "again", kind: again.has(node.name) ? "again" : "late" });
    for (const name of node.args) {
      const [from, kind] = source(name);
      edges.push({ from, to: ["again", node.name], kind });
    }
  }
  const cells = trace.nodes.filter((node) => saved.has(node.name));
  return { pills, cells, edges };
}

/** The path of an edge: around the outside within a column, across between columns. */
export function pathOf(plan, { from, to }) {
  const wide = { left: plan.pill, again: plan.pill, right: plan.pill, cell: plan.cell };
  const [y0, y1] = [plan.y.get(from[1]), plan.y.get(to[1])];
  if (from[0] !== to[0]) {
    const [x0, x1] = [plan.x[from[0]] + wide[from[0]], plan.x[to[0]]];
    const half = Math.max(6, (x1 - x0) / 2);
    return `M${x0} ${y0}C${x0 + half} ${y0} ${x1 - half} ${y1} ${x1} ${y1}`;
  }
  const [x, down] = [plan.x[from[0]], Math.sign(y1 - y0)];
  const near = Math.abs(y1 - y0) <= nearest(plan, from[0]) * 1.1;
  if (near) {
    const middle = x + plan.pill / 2;
    const reach = (down * plan.tall) / 2;
    return `M${middle} ${y0 + reach}V${y1 - reach}`;
  }
  const edge = from[0] === "right" ? x + plan.pill : x;
  const bulge = Math.min(plan.side - 4, 8 + Math.abs(y1 - y0) / 12);
  const out = edge + (from[0] === "right" ? bulge : -bulge);
  return `M${edge} ${y0}C${out} ${y0} ${out} ${y1} ${edge} ${y1}`;
}

const nearest = (plan, place) =>
  plan.height / (place === "right" ? plan.right.length : plan.left.length);

/** Text that fits in so many pixels of the code font at 11 px. */
export function clip(said, room) {
  const most = Math.max(1, Math.floor(room / 6.7));
  return said.length <= most ? said : `${said.slice(0, most - 1)}…`;
}

/** What a pill says in so many pixels: name and text, or the one of them that fits. */
export function onPill(node, room) {
  const fits = (said) => clip(said, room) === said;
  const io = node.side === "input" || node.side === "tangent";
  return [told(node), node.text, io ? node.text : node.name].find(fits) ?? clip(node.text, room);
}

/** "mul = x * w"; of an input its name alone. */
export const told = ({ name, text: said, side }) =>
  side === "input" || side === "tangent" ? said : `${name} = ${said}`;

/** "512 B", "9216 B", "12 KB", "1.5 MB": never more than seven characters. */
export function size(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let [value, unit] = [bytes, 0];
  const tooLong = () => value >= (unit ? 1000 : 10000) && unit < units.length - 1;
  while (tooLong()) [value, unit] = [value / 1024, unit + 1];
  const shown = Number.isInteger(value) || value >= 100 ? Math.round(value) : value.toFixed(1);
  return `${shown} ${units[unit]}`;
}

/** The opening question: what the default saves is told, what the min-cut saves is asked. */
export function question(trace) {
  const best = trace.answers[""].cuts[0].bytes;
  const inputs = trace.nodes.filter((node) => node.side === "input");
  const all = trace.nodes.filter((node) => node.side === "forward" && !node.view);
  const sum = (nodes) => nodes.reduce((total, node) => total + node.bytes, 0);
  const guesses = [best, trace.default.bytes, sum(inputs), sum(all), 0];
  const options = [...new Set(guesses)].slice(0, 4).sort((a, b) => a - b);
  return options.length < 2 ? null : { options: options.map(size), answer: size(best) };
}

/** The one sentence: what crosses the cut now, and what it costs. */
export function narrate(trace, answers, choice, words) {
  const found = chosen(trace, answers, choice);
  const { cut } = found;
  if (choice.partitioner === "default")
    return words(cut.saved.length ? "cut_default" : "cut_none", { bytes: size(cut.bytes) });
  if (found.waiting) return words("cut_waiting");
  if (found.refused) return words("cut_refused", { why: found.refused });
  const budget = percent(choice.budget);
  const fewer = trace.default.bytes - cut.bytes;
  const compare = { bytes: size(cut.bytes), budget, fewer: size(Math.abs(fewer)) };
  const kind = fewer > 0 ? "cut_fewer" : fewer < 0 ? "cut_more" : "cut_same";
  const parts = [words(kind, compare), again(trace, cut, words)];
  if (Object.keys(choice.forced).length) parts.push(forcedBy(trace, answers, choice, cut, words));
  return parts.join(words.gap);
}

function again(trace, cut, words) {
  if (!cut.again.length) return words("again_none");
  const names = cut.again.slice(0, 3).map((name) => `\`${name}\``);
  const more = cut.again.length - names.length;
  const list = names.join(", ") + (more ? words("and_more", { count: more }) : "");
  return words(cut.again.length === 1 ? "again_one" : "again_some", { list, cost: cut.cost });
}

/** What forcing costs beside the partitioner's own choice at the same budget. */
function forcedBy(trace, answers, choice, cut, words) {
  const free = chosen(trace, answers, { ...choice, forced: {} }).cut;
  const signed = (n, said) => (n < 0 ? "−" : n > 0 ? "+" : "") + said;
  const bytes = cut.bytes - free.bytes;
  const cost = cut.cost - free.cost;
  if (!bytes && !cost) return words("forced_nothing");
  return words("forced_costs", {
    bytes: signed(bytes, size(Math.abs(bytes))),
    cost: signed(cost, Math.abs(cost)),
  });
}
