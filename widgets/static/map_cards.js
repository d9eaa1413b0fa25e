// What the map tells beside the source: a card for each region (graph or bytecode) and for each
// break (why, what would flip it, the state handed over).
// In: a trace.  Out: cards, built once, painted at each moment.

import { h, own, put, rich, text } from "./dom.js";
import { graphPicture, lightNodes } from "./graph.js";
import { excerpt, segmented } from "./lab.js";
import { operators, tintOf } from "./map.js";

const paragraph = (value) => {
  const element = h("p", {});
  rich(element, value);
  return element;
};

/** `pick(place | null)`: which line is pointed at; `form` is shared by all regions' cards. */
export function regionCard(trace, region, words, pick, form) {
  const tint = tintOf(trace, region.id);
  const ops = operators(region);
  const counts = words(region.kernels.length ? "counts_kernels" : "counts_region", {
    ops: words.some("n_ops", ops.length),
    guards: words.some("n_guards", region.guards),
    kernels: words.some("n_kernels", region.kernels.length),
  });
  const label = words("graph_label", { id: region.id, ops: ops.join(", ") });
  const drawn = ops.length ? graphPicture(region.nodes, label, { pick }).root : null;
  const listing = bytecode(trace, region, words, pick);
  const forms = segmented("form", words("form_of"), names(words), form.value, (value) =>
    form.pick(value),
  );
  const same = region.reused ? paragraph(words("same_graph", { region: region.reused })) : null;
  const body = [drawn ?? paragraph(words("no_operators")), same, kernels(region, words)];
  const graph = h("div", { class: "bm-pair" }, body.filter(Boolean));
  const head = h(
    "div",
    { class: "bm-meta" },
    h("span", { class: "lab-tag", "data-tint": tint }, region.code),
    h("code", {}, region.title),
    h("span", {}, counts),
  );
  const root = h("div", { class: "bm-card" }, head, forms.root, graph, listing);
  return {
    root,
    paint(st, line) {
      forms.show(form.value);
      put(graph, { hidden: form.value !== "graph" });
      put(listing, { hidden: form.value !== "bytecode" });
      lightNodes(root, (node) => at(node, line));
      for (const row of listing.querySelectorAll("tr"))
        put(row, { "data-on": Boolean(line) && at(row.dataset, line) });
    },
  };
}

const names = (words) => ["graph", "bytecode"].map((id) => [id, words(`as_${id}`)]);
const at = ({ code, line }, place) =>
  Boolean(place) &&
  line !== undefined &&
  Number(code ?? 0) === place.code &&
  Number(line) === place.line;

/** The instructions in the order in which they were walked. */
function bytecode(trace, region, words, pick) {
  let before = null;
  const row = ({ code = 0, line, offset, text: said, of }) => {
    const number = line === before ? "" : line;
    before = line;
    const place = { code, line };
    return h(
      "tr",
      {
        "data-code": code,
        "data-line": line,
        onmouseenter: () => pick(place),
        onmouseleave: () => pick(null),
      },
      h("td", {}, number),
      h("td", {}, offset),
      h("td", {}, h("code", {}, said), of ? h("small", {}, of) : null),
    );
  };
  const rows = region.bytecode.map(row);
  const label = `${words("as_bytecode")}: ${region.title}`;
  const table = h("table", {}, h("tbody", {}, rows));
  const room = { class: "bm-bytecode", tabindex: 0, role: "group", "aria-label": label };
  return own(h("div", room, table));
}

/** The kernels that a region launches, in order. */
function kernels(region, words) {
  if (!region.kernels.length) return null;
  const list = region.kernels.map((name) =>
    h("li", {}, h("code", {}, name.replaceAll("_", "_\u200b"))),
  );
  return h("div", {}, h("h5", {}, words("kernels_of")), h("ol", { class: "bm-kernels" }, list));
}

export function breakCard(trace, stop, number, words) {
  const listing = trace.listings[stop.code];
  const line = listing.lines[stop.line - listing.first] ?? "";
  const source = excerpt(line, stop.at, h("span", {}, stop.line));
  const tag = stop.id ? h("span", { class: "lab-tag" }, stop.id) : null;
  const title = h(
    "h4",
    {},
    h("i", { class: "lab-key lab-key-break" }),
    stop.what ?? words("rest_title"),
  );
  const part = (key, value) => (value ? [h("h5", {}, words(key)), paragraph(value)] : []);
  const met = h("span", { class: "bm-met" });
  const handed = h("div", { class: "bm-handed" });
  const ran = h("p", { class: "bm-ran" });
  const root = h(
    "div",
    { class: "bm-card bm-break" },
    title,
    h("p", { class: "bm-meta" }, [tag, met].filter(Boolean)),
    source,
    part("why", stop.why),
    part("flips", stop.hint),
    h("h5", {}, words("handed_over")),
    handed,
    ran,
  );
  let shown = null;
  return {
    root,
    paint(st) {
      text(met, words.some("met_times", st.met[number] ?? 0));
      const state = JSON.stringify(st.handed[number] ?? null);
      if (state === shown) return;
      shown = state;
      const { frames = [], rest, result } = st.handed[number] ?? {};
      handed.replaceChildren(...frames.map((frame) => frameOf(frame, frames.length > 1, words)));
      const gives = result && result !== "None" ? [" → ", h("b", {}, result)] : [];
      ran.replaceChildren(
        words(rest ? "rest_of_it" : "runs_one"),
        " ",
        h("code", {}, stop.instruction),
        ...gives,
      );
    },
  };
}

/** One frame with its variables and its value stack. */
function frameOf({ function: name, variables, stack }, named, words) {
  const pill = (key, value) => h("li", {}, h("code", {}, key), value ? h("span", {}, value) : null);
  const values = variables.map(([key, value]) => pill(key, value));
  const piled = stack.map((value) => h("li", { "data-stack": true }, h("code", {}, value)));
  const pile = piled.length ? [h("li", { class: "bm-label" }, words("on_stack")), ...piled] : [];
  const nothing =
    values.length + piled.length ? [] : [h("li", { class: "bm-label" }, words("no_state"))];
  const title = named ? h("h6", {}, `${name}()`) : null;
  return h("div", {}, ...[title, h("ul", {}, values, pile, nothing)].filter(Boolean));
}
