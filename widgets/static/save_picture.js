// The joint graph of SaveOrRecompute as SVG: forward on the left, backward on the right, the cut
// between them. In: the trace and a cut (see save.js).  Out: elements; a pick is told by name.

import { own, put, s } from "./dom.js";
import { layout, marksOf, onPill, pathOf, size, told } from "./save.js";

const HEAD = 24; // room for the names of the sides

/** A mark that can be picked by mouse and keyboard. */
function pickable(attrs, name, said, pick, ...kids) {
  const chosenBy = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    pick(name);
  };
  return own(
    s(
      "g",
      {
        ...attrs,
        role: "button",
        tabindex: 0,
        "aria-label": said,
        "data-name": name,
        onclick: () => pick(name),
        onkeydown: chosenBy,
      },
      s("title", {}, said),
      kids,
    ),
  );
}

function pillMark(plan, { node, place, kind }, forced, pick) {
  const [x, y] = [plan.x[place], plan.y.get(node.name) - plan.tall / 2];
  const io = node.side === "input" || node.side === "tangent";
  const shape = { x, y, width: plan.pill, height: plan.tall, rx: io ? plan.tall / 2 : 5 };
  const said = onPill(node, plan.pill - 12);
  const attrs = { class: "sr-pill", "data-kind": kind, "data-place": place, "data-io": io };
  const pin = forced && place === "left";
  return pickable(
    attrs,
    node.name,
    `${told(node)}: ${node.meta}`,
    pick,
    s("rect", shape),
    s("text", { x: x + plan.pill / 2, y: y + plan.tall / 2 + 4 }, said),
    pin ? s("circle", { class: "sr-pin", cx: x + plan.pill - 4, cy: y + 2, r: 5 }) : null,
  );
}

function cellMark(plan, node, pick) {
  const [x, y] = [plan.x.cell, plan.y.get(node.name) - plan.tall / 2];
  return pickable(
    { class: "sr-cell" },
    node.name,
    `${told(node)}: ${size(node.bytes)}`,
    pick,
    s("rect", { x, y, width: plan.cell, height: plan.tall, rx: 4 }),
    s("text", { x: x + plan.cell / 2, y: y + plan.tall / 2 + 4 }, size(node.bytes)),
  );
}

/** All of it, as wide as the room. */
export function picture(trace, cut, room, { forced, words, pick }) {
  const plan = layout(trace, room);
  const { pills, cells, edges } = marksOf(trace, cut);
  const total = { width: plan.width, height: plan.height + HEAD };
  const label = words("joint_label", {
    saved: cells.length,
    bytes: size(cut.bytes),
    again: cut.again.length,
  });
  const middle = plan.x.cell + plan.cell / 2;
  const name = (key, x) => s("text", { class: "sr-side", x, y: 13 }, words(key));
  const edge = (each) =>
    s("path", {
      class: "sr-edge",
      d: pathOf(plan, each),
      "data-kind": each.kind,
      "data-from": each.from[1],
      "data-to": each.to[1],
    });
  const line = s("path", { class: "sr-line", d: `M${middle} 0V${plan.height}` });
  return s(
    "svg",
    { class: "sr-graph", role: "group", "aria-label": label, ...total },
    name("forward", plan.x.left + plan.pill / 2),
    name("the_cut", middle),
    name("backward", (plan.x.again + plan.x.right + plan.pill) / 2),
    s(
      "g",
      { transform: `translate(0 ${HEAD})` },
      line,
      edges.map(edge),
      pills.map((each) => pillMark(plan, each, each.node.name in forced, pick)),
      cells.map((node) => cellMark(plan, node, pick)),
    ),
  );
}

/** The value that was picked, in all its marks, and the edges at them. */
export function light(graph, picked) {
  for (const mark of graph.querySelectorAll("[data-name]")) {
    const on = mark.dataset.name === picked;
    put(mark, { "data-on": on, "aria-pressed": String(on) });
  }
  for (const edge of graph.querySelectorAll(".sr-edge"))
    put(edge, { "data-on": edge.dataset.from === picked || edge.dataset.to === picked });
}
