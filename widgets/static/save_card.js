// What SaveOrRecompute says of one value, and of all that are saved or computed again.
// In: a view {trace, answers, choice, cut, picked}.  Out: elements; choices are told by name.

import { h, own, unique } from "./dom.js";
import { alternatives, size, told } from "./save.js";

const LISTED = 8; // names in a list; the picture has them all

function verdict(node, cut, words) {
  if (node.side === "backward" || node.side === "tangent") return words("verdict_gradient");
  if (cut.saved.includes(node.name)) return words("verdict_saved", { bytes: size(node.bytes) });
  if (node.view) return words("verdict_view");
  if (cut.again.includes(node.name)) return words("verdict_again");
  return words(cut.second.includes(node.name) ? "verdict_late" : "verdict_gone");
}

function facts(node, words) {
  const said = [node.meta, size(node.bytes)];
  if (node.line) said.push(words("at_line", { line: node.line }));
  if (node.returned) said.push(words("returned"));
  if (node.gradient_of) said.push(words("gradient_of", { names: node.gradient_of.join(", ") }));
  return said.join(" · ");
}

/** The three ways of treating a value, each with what it would come to. */
function ways(node, view, words, force) {
  const found = alternatives(view.trace, view.answers, view.choice, node.name);
  const group = unique("sr-force");
  const now = view.choice.forced[node.name] ?? "free";
  const rows = ["free", "save", "again"].map((way) => {
    const cut = found[way];
    const refused = refusal(view, node.name, way);
    const comes = cut
      ? words("force_comes", { bytes: size(cut.bytes), cost: cut.cost })
      : words(refused ? "force_cannot" : "force_ask");
    const input = own(
      h("input", {
        type: "radio",
        name: group,
        value: way,
        disabled: Boolean(refused),
        "data-testid": `force-${way}`,
        onchange: () => force(node.name, way),
      }),
    );
    input.checked = way === now;
    const title = h("span", {}, words(`force_${way}`));
    return h("label", { class: "sr-way" }, input, title, h("small", {}, comes));
  });
  const label = words("force", { name: node.text });
  return h("fieldset", { class: "sr-ways" }, h("legend", { class: "lab-sr" }, label), rows);
}

function refusal(view, name, way) {
  if (way === "free") return null;
  return view.trace.answers[`${name}:${way}`]?.refused ?? null;
}

/** The value that was picked: why, and what else could become of it. */
export function card(view, words, force) {
  const node = view.trace.nodes.find((each) => each.name === view.picked);
  if (!node) return h("p", { class: "sr-hint" }, words("pick_hint"));
  const [rule, detail, flip] = view.cut.why[node.name] ?? [];
  const row = (key, said) =>
    said ? [h("dt", {}, words(key)), h("dd", {}, said)] : [];
  return h(
    "article",
    { class: "sr-card", "data-testid": "card" },
    h("h5", {}, h("code", {}, told(node)), h("span", {}, verdict(node, view.cut, words))),
    h("p", { class: "sr-facts" }, facts(node, words)),
    h(
      "dl",
      { class: "sr-why" },
      row("rule", rule && `${rule}: ${detail}`),
      row("would_flip", flip),
    ),
    node.free && view.choice.partitioner === "min_cut" ? ways(node, view, words, force) : null,
  );
}

/** What is forced, and the way back. */
export function forcing(view, words, release) {
  const names = Object.keys(view.choice.forced);
  if (!names.length) return null;
  const button = h(
    "button",
    { type: "button", class: "lab-bet", "data-testid": "release", onclick: release },
    words("release"),
  );
  const list = names.flatMap((name, n) => [n ? ", " : "", h("code", {}, name)]);
  const said = h("span", {}, `${words("is_forced")}: `, list);
  return h("p", { class: "sr-forcing" }, said, own(button));
}

/** What crosses the cut, and what is computed again. */
export function lists(view, words, pick) {
  const byName = new Map(view.trace.nodes.map((node) => [node.name, node]));
  const item = (name, said) =>
    h(
      "li",
      {},
      own(
        h(
          "button",
          { type: "button", class: "sr-name", onclick: () => pick(name) },
          told(byName.get(name)),
        ),
      ),
      h("small", {}, said),
    );
  const column = (key, kind, names, said) =>
    h(
      "div",
      { class: "sr-list", "data-kind": kind },
      h("h4", { class: "lab-h" }, words(key)),
      h("ul", {}, names.slice(0, LISTED).map((name) => item(name, said(name)))),
      rest(names.length),
    );
  const rest = (count) => {
    const more = count > LISTED ? words("and_more", { count: count - LISTED }) : "";
    return h("p", { class: "sr-hint" }, count ? more : words("nothing"));
  };
  const why = (name) => view.cut.why[name]?.[0] ?? "";
  return h(
    "div",
    { class: "sr-lists" },
    column("crosses", "saved", view.cut.saved, (n) => `${size(byName.get(n).bytes)} · ${why(n)}`),
    column("is_again", "again", view.cut.again, why),
  );
}
