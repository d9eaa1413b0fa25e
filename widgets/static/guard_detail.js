// What a chosen guard asks, what it saw, and the user's line that made it, with carets under the
// piece.
// In: a guard matrix's trace and state (see matrix.js).  Out: an element, painted.

import { h, put, rich, text } from "./dom.js";
import { listing } from "./lab.js";
import { cellAt, sawAt } from "./matrix.js";

function makeListing({ lines, first }) {
  const made = listing({ lines, first });
  const caret = h(
    "div",
    { class: "lab-line gm-carets", "aria-hidden": "true" },
    h("span", { class: "lab-no" }),
    h("span", { class: "lab-src" }),
  );
  made.root.append(caret);
  return { ...made, caret, first };
}

/** A line whose function is not known as a whole. */
function makeLine({ source, line }) {
  return makeListing({ lines: [source], first: line });
}

export function makeDetail(trace, words) {
  const listings = trace.listings.map(makeListing);
  const lines = new Map();
  const name = h("h4", { class: "lab-h" });
  const room = h("div", { class: "gm-source" });
  const source = h("section", { class: "lab-panel gm-left" }, name, room);
  const asks = h("p", { class: "gm-guard" });
  const kind = h("span", { class: "lab-tag" });
  const state = h("p", { class: "gm-state" });
  const row = (key) => {
    const value = h("code", {});
    return { value, root: h("li", {}, h("span", {}, words(key)), value) };
  };
  const [expected, actual, place] = ["expected", "actual", "your_line"].map(row);
  const facts = h("ul", { class: "gm-facts" }, expected.root, actual.root, place.root);
  const heading = h("h4", { class: "lab-h" }, words("the_guard"), kind);
  const told = h("section", { class: "lab-panel gm-right" }, heading, asks, state, facts);
  const root = h("div", { class: "gm-detail", "data-testid": "detail" }, source, told);

  function listingOf(at) {
    if (!at) return listings[0] ?? null;
    if (at.code !== undefined) return listings[at.code];
    const key = JSON.stringify(at);
    if (!lines.has(key)) lines.set(key, makeLine(at));
    return lines.get(key);
  }

  let shown = null;
  function paintSource(at) {
    const here = listingOf(at);
    if (here !== shown) room.replaceChildren(...(here ? [here.root] : []));
    shown = here;
    const title = at?.code !== undefined || !at ? trace.listings[at?.code ?? 0]?.name : null;
    text(name, title ?? words("your_source"));
    if (!here) return;
    const on = at ? at.line - here.first : -1;
    here.rows.forEach((line, n) => put(line, { "data-on": n === on }));
    const line = here.rows[on];
    const said = line ? line.lastChild.textContent : "";
    const [a, b] = at?.at ?? [said.length - said.trimStart().length, said.length];
    text(here.caret.lastChild, line ? " ".repeat(a) + "^".repeat(Math.max(1, b - a)) : " ");
    const after = line ?? here.rows.at(-1);
    if (after.nextSibling !== here.caret) after.after(here.caret);
  }

  return {
    root,
    paint(st, chosen, all) {
      const guard = chosen ? trace.rows[chosen.variant][chosen.index] : null;
      paintSource(guard?.place ?? null);
      put(kind, { hidden: !guard });
      put(facts, { hidden: !guard });
      if (!guard) {
        rich(asks, words("choose_guard"));
        put(state, { hidden: true });
        return;
      }
      const cell = cellAt(trace, st, chosen.variant, chosen.index, all);
      const failed = cell === "fail" || cell === "would-fail";
      const saw = failed ? sawAt(trace, st, chosen.variant) : null;
      text(kind, trace.columns[guard.column].kind);
      rich(asks, `\`${chosen.variant}\`: \`${guard.text}\``);
      put(state, { hidden: false, "data-state": cell });
      const said = words(`cell_${cell.replace("-", "_")}`, { actual: saw?.actual ?? "" });
      text(state, saw?.reason || said);
      text(expected.value, guard.expected || guard.text);
      put(actual.root, { hidden: !saw });
      text(actual.value, saw?.actual ?? "");
      text(place.value, guard.place ? String(guard.place.line) : words("no_line"));
    },
  };
}
