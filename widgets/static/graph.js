// A captured graph as a picture: nodes in layers, edges down free columns.
// In: nodes [{name, op: "input" | "call" | "output", text, args: [names], code, line}] in
// topological order.  Out: places, and an SVG of fixed size that scrolls rather than shrinks.

import { h, put, s } from "./dom.js";

const WIDTH = 104;
const ROOM = 15; // characters in a node

/** Layered layout: {name: {row, col}}. A row is the longest path from an input, an input sits just
 *  above its first use, and a column stays free where a long edge passes. */
export function layered(nodes, cols = 3) {
  const at = {};
  const users = Object.fromEntries(nodes.map((n) => [n.name, []]));
  for (const n of nodes) {
    at[n.name] = { row: Math.max(-1, ...n.args.map((a) => at[a].row)) + 1, col: 0 };
    for (const a of n.args) users[a].push(n.name);
  }
  for (const n of nodes)
    if (!n.args.length && users[n.name].length)
      at[n.name].row = Math.min(...users[n.name].map((u) => at[u].row)) - 1;
  const order = [...nodes].sort(
    (a, b) => at[a.name].row - at[b.name].row || b.args.length - a.args.length,
  );
  const taken = new Set();
  for (const n of order) {
    const me = at[n.name];
    me.col = nearest(n, at, (col) => taken.has(`${me.row}:${col}`), cols + nodes.length, cols);
    const end = Math.max(me.row, ...users[n.name].map((u) => at[u].row - 1));
    for (let row = me.row; row <= end; row++) taken.add(`${row}:${me.col}`);
  }
  return at;
}

/** The free column nearest to the middle of what a node reads. */
function nearest(node, at, isTaken, most, cols) {
  const mean = (xs) => xs.reduce((a, b) => a + b, 0) / xs.length;
  const want = node.args.length ? mean(node.args.map((a) => at[a].col)) : (cols - 1) / 2 - 0.6;
  let best = -1;
  for (let col = 0; col < most; col++)
    if (!isTaken(col) && (best < 0 || Math.abs(col - want) < Math.abs(best - want))) best = col;
  return best;
}

/** `pick(node | null)` is told which node is pointed at, `air` is what lies between nodes;
 *  `at(name)` is the box of a node. */
export function graphPicture(nodes, label, { pick = () => {}, air = 8 } = {}) {
  const place = layered(nodes);
  const rows = Math.max(0, ...Object.values(place).map((p) => p.row)) + 1;
  const cols = Math.max(1, ...Object.values(place).map((p) => p.col + 1));
  const [low, height] = rows > 9 ? [12, 22] : [20, 26];
  const [column, step] = [WIDTH + air, height + Math.max(low, air)];
  const at = (name) => ({ x: place[name].col * column + 4, y: place[name].row * step + 2 });
  const size = { width: cols * column, height: (rows - 1) * step + height + 4 };
  const edges = nodes.flatMap((n) =>
    n.args.map((a) => edge(at(a), at(n.name), step, height, a, n)),
  );
  const marks = nodes.map((n) => mark(n, at(n.name), height, pick));
  const view = { viewBox: `0 0 ${size.width} ${size.height}`, ...size };
  const root = s(
    "svg",
    { class: "lab-graph", role: "img", "aria-label": label, ...view },
    edges,
    marks,
  );
  const box = (name) => {
    const { x: left, y: top } = at(name);
    return { left, top, width: WIDTH, height, x: left + WIDTH / 2, y: top + height / 2 };
  };
  return { root: h("div", { class: "lab-graph-room" }, root), marks, edges, at: box };
}

/** Down the source's own column, which the layout kept free, then across just above the target. */
function edge(p, q, step, height, from, to) {
  const [x0, x1] = [p.x + WIDTH / 2, q.x + WIDTH / 2];
  const y0 = Math.max(p.y + height, q.y - (step - height));
  const half = (q.y - y0) / 2;
  const bend = `C${x0} ${y0 + half} ${x1} ${q.y - half} ${x1} ${q.y}`;
  const d = `M${x0} ${p.y + height}V${y0}${bend}`;
  return s("path", { class: "lab-edge", "data-from": from, "data-to": to.name, d });
}

function mark(node, { x, y }, height, pick) {
  const io = node.op !== "call";
  const said = node.op === "output" ? `return ${node.text}` : node.text;
  const text = said.length <= ROOM ? said : `${said.slice(0, ROOM - 1)}…`;
  return s(
    "g",
    {
      class: "lab-node",
      "data-name": node.name,
      "data-code": node.code,
      "data-line": node.line,
      "data-io": io,
      onmouseenter: () => pick(node),
      onmouseleave: () => pick(null),
    },
    s("title", {}, [node.text, node.meta].filter(Boolean).join(": ")),
    s("rect", { x, y, width: WIDTH, height, rx: io ? height / 2 : 5 }),
    s("text", { x: x + WIDTH / 2, y: y + height / 2 + 4 }, text),
  );
}

/** Light the nodes for which `lit(dataset)` is true. */
export function lightNodes(root, lit) {
  for (const node of root.querySelectorAll(".lab-node"))
    put(node, { "data-on": lit(node.dataset) });
}
