// The board of FusionCourt: operators at fixed places, loops as shapes around them.
// In: nodes of the trace, which operators are in which loop, who is in court, who is picked.  Out:
// an SVG; `paint` sets one moment. Operators can be dragged onto one another, or picked by key.

import { h, lerp, own, put, s } from "./dom.js";
import { graphPicture } from "./graph.js";
import { inHand, loopsOf, spanning } from "./court.js";

const [PAD, BAND, LINE] = [8, 26, 1.5];

/** `choose(name)` is told of a click or key on an operator, `drop(a, b)` of a on b. */
export function makeBoard(trace, words, choose, drop) {
  const drawn = graphPicture(trace.nodes, "", { air: 30 });
  const svg = drawn.root.firstChild;
  const hulls = s("g", { class: "fc-hulls" });
  const marks = new Map(trace.nodes.map((node, n) => [node.name, drawn.marks[n]]));
  const tag = s("g", { class: "fc-cross", visibility: "hidden" });
  tag.append(s("circle", { r: 9 }), s("path", { d: "M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5" }));
  svg.prepend(hulls);
  svg.append(tag);
  put(svg, { role: "group" });
  const board = { root: drawn.root, svg, hulls, marks, edges: drawn.edges, at: drawn.at, tag };
  for (const node of trace.nodes.filter((each) => each.op === "call")) {
    const mark = own(marks.get(node.name));
    const label = words("fc_card", { name: node.name, code: node.code });
    const outside = "extern" in node;
    put(mark, { tabindex: 0, role: "button", "aria-label": label, "data-extern": outside });
    mark.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      choose(node.name);
    });
    drag(board, node.name, mark, choose, drop);
  }
  return board;
}

/** A pointer that hardly moves is a click; one that ends over another operator is a drop. */
function drag(board, name, mark, choose, drop) {
  mark.addEventListener("pointerdown", (down) => {
    if (down.button) return;
    mark.setPointerCapture(down.pointerId);
    const from = [down.clientX, down.clientY];
    const away = (event) => [event.clientX - from[0], event.clientY - from[1]];
    const over = (event) =>
      [...board.marks].find(([other, each]) => {
        const box = each.getBoundingClientRect();
        const inside =
          event.clientX > box.left && event.clientX < box.right &&
          event.clientY > box.top && event.clientY < box.bottom;
        return inside && other !== name && each.getAttribute("role") === "button";
      })?.[0];
    const move = (event) => {
      put(mark, { transform: `translate(${away(event).join(" ")})`, "data-dragged": true });
      for (const [other, each] of board.marks) put(each, { "data-target": other === over(event) });
    };
    const up = (event) => {
      mark.removeEventListener("pointermove", move);
      put(mark, { transform: null, "data-dragged": null });
      for (const each of board.marks.values()) put(each, { "data-target": null });
      const target = event.type === "pointerup" ? over(event) : null;
      if (target) drop(name, target);
      else if (event.type === "pointerup" && Math.hypot(...away(event)) < 5) choose(name);
    };
    mark.addEventListener("pointermove", move);
    mark.addEventListener("pointerup", up, { once: true });
    mark.addEventListener("pointercancel", up, { once: true });
  });
}

/** One shape a loop: its operators and the lines between them, first as outline, then filled. */
function hull(board, { names, tint }, lines) {
  const boxes = names.map(board.at);
  const layer = (grow, kind) =>
    s(
      "g",
      { class: `fc-${kind}` },
      ...boxes.map(({ left, top, width, height }) =>
        s("rect", {
          x: left - PAD - grow,
          y: top - PAD - grow,
          width: width + 2 * (PAD + grow),
          height: height + 2 * (PAD + grow),
          rx: 12 + grow,
        }),
      ),
      ...lines.map(([a, b]) =>
        s("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, "stroke-width": BAND + 2 * grow }),
      ),
    );
  return s("g", { "data-tint": String(tint) }, layer(LINE, "edge"), layer(0, "fill"));
}

/** `moment`: {groups, sides: [[names], [names]], pair: [names], join: {ends: [a, b], t} | null,
 *  cross: [a, b] | null}. */
export function paintBoard(board, trace, moment) {
  const { groups, sides, pair, join, cross } = moment;
  const key = JSON.stringify([groups, join]);
  if (board.svg.dataset.key !== key) {
    board.svg.dataset.key = key;
    const held = (names) => spanning(names, board.at).map((line) => line.map(board.at));
    const shapes = loopsOf(trace, groups).map((loop) => hull(board, loop, held(loop.names)));
    if (join) shapes.push(growing(board, trace, sides, join, held));
    board.hulls.replaceChildren(...shapes);
    for (const edge of board.edges) {
      const { from, to } = edge.dataset;
      put(edge, { "data-kind": inHand(groups, from, to) ? "register" : "memory" });
    }
  }
  for (const [name, mark] of board.marks)
    put(mark, {
      "data-side": sides[0].includes(name) ? "a" : sides[1].includes(name) ? "b" : null,
      "data-on": pair.includes(name),
      "aria-pressed": mark.getAttribute("role") === "button" ? String(pair.includes(name)) : null,
    });
  put(board.tag, { visibility: cross ? "visible" : "hidden" });
  if (!cross) return;
  const [a, b] = cross.map(board.at);
  put(board.tag, { transform: `translate(${(a.x + b.x) / 2} ${(a.y + b.y) / 2})` });
}

/** Two loops that grow together, as the one that they become. */
function growing(board, trace, sides, { ends, t }, held) {
  const [a, b] = ends.map(board.at);
  const end = { x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t) };
  const [loop] = loopsOf(trace, [[...new Set(sides.flat())]]);
  return hull(board, loop, [...sides.flatMap(held), [a, end]]);
}

/** How to ask for a verdict. */
export const hint = (words) => h("p", { class: "fc-hint" }, words("fc_pick"));
