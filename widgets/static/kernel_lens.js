// KernelLens: one operation on five levels, joined by a ribbon. One beat is one operation.
// In: traits trace, machines (see lens.js), beat, language.  In and out: kernel, which one is shown; form, as
// it runs or for reading.  The pure half is lens.js; this is the picture: operations, columns, the
// ribbons between them. What is pointed at (hovered, focused, pinned by a click) goes before the
// beat.

import { clamp, ease, h, own, put, s, unique } from "./dom.js";
import { chooser, frame, keepInView, segmented, widget } from "./lab.js";
import {
  chosen,
  facts,
  levels,
  mainSection,
  nameOf,
  opening,
  order,
  question,
  roleOf,
  runs,
  stateAt,
  tell,
  way,
} from "./lens.js";
import { player } from "./player.js";

const LEGEND = { read: "kl_key_read", live: "kl_key_live", write: "kl_key_write" };

function tools(ui, trace, number, form, words, model) {
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const phases = new Set(trace.kernels.map(({ phase }) => phase));
  const named = (kernel, n) => {
    const name = kernel.library ? words("kl_call", { name: kernel.name }) : kernel.name;
    const phase = words(`kl_${kernel.phase}`);
    return [String(n), phases.size > 1 ? words("kl_part", { phase, name }) : name];
  };
  const forms = ["run", "plain"].map((key) => [key, words(`kl_${key}`)]);
  const kinds = segmented("form", words("kl_form"), forms, form, (key) => set("form", key));
  const menu = chooser("kernel", words("kl_kernel_menu"), trace.kernels.map(named), String(number),
    (key) => set("kernel", Number(key)));
  ui.tools.append(...(trace.kernels.length > 1 ? [menu.root] : []), kinds.root);
}

// ---- columns ------------------------------------------------------------------------------------

/** What is printed as it fits a column: half the indentation, and no widths of memory, which
 *  registers and mnemonics tell as well. */
const shortened = ({ text: said, op, no }) => {
  if (op !== undefined) return said.replace(/\b\w+ ptr /g, "");
  return no === undefined ? said.replace(/^ +/, (spaces) => spaces.slice(spaces.length / 2)) : said;
};

/** A line of code that can be pointed at: `point({row, ids}, by)`, `point(null)`. */
function makeRow(row, no, point, pin) {
  const piece = ({ text: said, kin }) => {
    const mark = h("span", { class: "lab-tok", "data-kin": kin.join(" ") }, said);
    if (kin.length) {
      mark.addEventListener("mouseenter", () => point({ row, ids: kin }, "mouse"));
      mark.addEventListener("mouseleave", () => point({ row, ids: row.kin }, "mouse"));
    }
    return { mark, kin };
  };
  const pieces = (row.pieces ?? []).map(piece);
  const times = row.times > 1 ? h("small", { class: "kl-times" }, `×${row.times}`) : null;
  const said = pieces.length ? pieces.map(({ mark }) => mark) : [shortened(row) || " "];
  const live = row.kin.length > 0 || row.op !== undefined || row.elsewhere;
  const root = h(
    "div",
    { class: "lab-line kl-row", "data-live": live, "data-elsewhere": row.elsewhere },
    h("span", { class: "lab-no", "aria-hidden": "true" }, no),
    h("span", { class: "lab-src" }, said),
    times,
  );
  if (live) {
    put(own(root), { role: "button", tabindex: -1 });
    const here = { row, ids: row.kin };
    root.addEventListener("mouseenter", () => point(here, "mouse"));
    root.addEventListener("mouseleave", () => point(null, "mouse"));
    root.addEventListener("focus", () => point(here));
    root.addEventListener("blur", () => point(null));
    root.addEventListener("click", (event) => {
      const found = pieces.find(({ mark }) => mark === event.target);
      pin({ row, ids: found?.kin.length ? found.kin : row.kin });
    });
  }
  return { root, row, pieces, live };
}

/** One tab stop for a column; up and down go from row to row, Enter and Space pin. */
function roving(box, rows, pin) {
  const stops = rows.filter(({ live }) => live);
  if (stops.length) stops[0].root.tabIndex = 0;
  box.addEventListener("keydown", (event) => {
    const at = stops.findIndex(({ root }) => root === event.target);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (at < 0 || (!step && !["Enter", " "].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) return pin({ row: stops[at].row, ids: stops[at].row.kin });
    const shown = stops.filter(({ root }) => root.getClientRects().length);
    const now = shown.indexOf(stops[at]);
    const next = shown[clamp(now + step, 0, shown.length - 1)];
    stops[at].root.tabIndex = -1;
    next.root.tabIndex = 0;
    next.root.focus();
  });
}

function makeColumn(level, n, kernel, form, words, point, pin) {
  const { id, machine } = level;
  const rows = level.rows.map((row, k) => makeRow(row, row.no ?? (machine ? "" : k + 1), point, pin));
  const kids = machine ? machineKids(machine, rows, kernel, form, words) : rows.map((r) => r.root);
  const title = words(machine ? "kl_machine_code" : `kl_${id}`);
  const label = `${n + 1}. ${title}`;
  const box = h("div", { class: "lab-code kl-code", role: "group", "aria-label": label }, kids);
  roving(box, rows, pin);
  const count = machine
    ? words.some("kl_instructions", machine.instructions ?? 0)
    : words.some("kl_lines", level.rows.length);
  const head = h("header", {}, h("i", {}, n + 1), h("h4", { class: "lab-h" }, title),
    h("small", {}, count));
  const notes = machine ? notesOn(machine, form, words) : [];
  const root = h("section", { class: "lab-panel kl-col", "data-level": id }, head, notes, box);
  return { root, rows, box };
}

function notesOn(machine, form, words) {
  const said = [];
  if (machine.none) said.push(words("kl_none", { why: machine.none }));
  else {
    if (!machine.known) said.push(words("kl_unknown"));
    if (form === "plain") said.push(words("kl_scalar"));
    else if (!machine.same) said.push(words("kl_other"));
  }
  return said.map((note) => h("p", { class: "kl-note" }, note));
}

/** The loops' bodies under their facts; what lies around them in a box that opens. */
function machineKids(machine, rows, kernel, form, words) {
  const bodies = [];
  const rest = [];
  (machine.sections ?? []).forEach((section, at) => {
    const mine = rows.filter(({ row }) => row.at === at).map(({ root }) => root);
    if (!section.body) return rest.push(...mine);
    bodies.push(h("p", { class: "kl-facts" }, facts(section, words)), ...mine);
  });
  if (!rest.length) return bodies;
  const outside = (machine.sections ?? []).filter(({ body }) => !body);
  const n = outside.reduce((sum, { count }) => sum + count, 0);
  const fold = h("summary", {}, words("kl_rest", { n }));
  return [...bodies, h("details", { class: "kl-rest" }, own(fold), rest)];
}

function noMachine(kernel, words) {
  const note = kernel.missing
    ? words("kl_later")
    : words("kl_no_own", { name: kernel.name, why: kernel.library });
  const head = h("header", {}, h("i", {}, 5), h("h4", { class: "lab-h" }, words("kl_machine_code")));
  return h("section", { class: "lab-panel kl-col" }, head, h("p", { class: "kl-note" }, note));
}

function paintColumns(columns, kernel, ids, grown, quiet) {
  columns.forEach(({ root, rows, box }, n) => {
    const reached = Boolean(ids) && grown * (columns.length - 1) >= n - 0.02;
    const moved = root.dataset.ids !== String(ids);
    let first = null;
    for (const { root: line, row, pieces } of rows) {
      const role = reached ? roleOf(row, ids, kernel) : null;
      put(line, { "data-role": role, "data-off": reached && !role });
      for (const { mark, kin } of pieces) {
        const lit = role && kin.some((id) => ids.includes(id));
        put(mark, { "data-role": lit ? role : null });
      }
      if (role) first ??= line;
    }
    put(root, { "data-reached": reached, "data-ids": reached ? String(ids) : null });
    if (first && moved && !box.contains(document.activeElement) && !box.matches(":hover"))
      keepInView(box, first);
    put(root, { "data-quiet": quiet });
  });
}

/** How columns share the width: by their longest lines, within limits. */
function shares(columns, more) {
  const widths = columns.map(({ rows }) =>
    Math.max(...rows.map(({ row }) => (row.pieces ? row.text : shortened(row)).length)),
  );
  return [...widths, ...Array(more).fill(0)].map((n) => `${clamp(n, 22, 38) + 4}fr`).join(" ");
}

const stacked = ([first, second]) => first.root.offsetTop !== second.root.offsetTop;

// ---- ribbons ------------------------------------------------------------------------------------

/** Where the lit rows of a column meet its edges: [top, bottom] in the stage, what is scrolled away
 *  at the edge of the box. */
function bands({ rows, box, root }, id, stage) {
  const base = stage.getBoundingClientRect();
  const edge = box.getBoundingClientRect();
  const panel = root.getBoundingClientRect();
  const numbers = rows.flatMap(({ row, root: line }, n) =>
    row.kin.includes(id) && line.getClientRects().length ? [n] : [],
  );
  return runs(numbers).map(([a, b]) => {
    const top = rows[a].root.getBoundingClientRect().top + 2;
    const bottom = rows[b].root.getBoundingClientRect().bottom - 2;
    return {
      left: panel.left - base.left,
      right: panel.right - base.left,
      top: clamp(top, edge.top, edge.bottom - 1) - base.top,
      bottom: clamp(bottom, edge.top + 1, edge.bottom) - base.top,
    };
  });
}

function paintRibbons(svg, columns, stage, kernel, ids, grown) {
  const made = [];
  for (const id of ids && !stacked(columns) ? ids : []) {
    const role = kernel.kin.find((op) => op.id === id)?.role;
    const reach = grown * (columns.length - 1);
    for (let n = 0; n < columns.length - 1 && reach > n; n++) {
      const t = ease(clamp(reach - n));
      const ends = [columns[n], columns[n + 1]].map((column) => bands(column, id, stage));
      for (const a of ends[0]) for (const b of ends[1]) made.push(ribbon(a, b, t, role));
    }
  }
  svg.replaceChildren(...made);
}

function ribbon(a, b, t, role) {
  const [from, to] = [a.right, b.left];
  const middle = (from + to) / 2;
  const d =
    `M${from} ${a.top}C${middle} ${a.top} ${middle} ${b.top} ${to} ${b.top}V${b.bottom}` +
    `C${middle} ${b.bottom} ${middle} ${a.bottom} ${from} ${a.bottom}Z`;
  const clip = `clip-path:inset(-400px ${(100 * (1 - t)).toFixed(1)}% -400px 0)`;
  return s("path", { d, class: "kl-ribbon", "data-role": role, style: t < 1 ? clip : null });
}

// ---- the widget ---------------------------------------------------------------------------------

function makeChips(ops, point, pin, words) {
  const chips = ops.map((op) => {
    const here = { row: null, ids: [op.id] };
    const chip = own(
      h("button", { type: "button", class: "kl-chip", "data-role": op.role, "data-testid": `op-${op.id}` },
        nameOf(op)),
    );
    chip.addEventListener("click", () => pin(here));
    chip.addEventListener("mouseenter", () => point(here, "mouse"));
    chip.addEventListener("mouseleave", () => point(null, "mouse"));
    return chip;
  });
  const label = words("kl_operations");
  return { root: h("div", { class: "kl-chips", role: "group", "aria-label": label }, chips), chips };
}

function build({ model, el, signal, words }, before) {
  const trace = model.get("trace");
  const number = clamp(model.get("kernel") ?? 0, 0, trace.kernels.length - 1);
  const form = model.get("form") ?? "run";
  const kernel = chosen(trace, number, model.get("machines"));
  const ops = order(kernel, form);
  const ui = frame(el, { widget: "kernel_lens", words, name: "kl", legend: LEGEND });
  tools(ui, trace, number, form, words, model);
  let [hovered, pinned, now, play] = [null, null, 0, null];
  const point = (at, by) => {
    if (by === "mouse" && stacked(columns)) return; // lines would fold away from under it
    hovered = at;
    play?.paint();
  };
  const pin = (at) => {
    pinned = String(pinned?.ids) === String(at.ids) ? null : at;
    play?.paint();
  };
  const pointed = () => hovered ?? pinned;
  const strip = makeChips(ops, point, pin, words);
  const columns = levels(kernel, form).map((level, n) =>
    makeColumn(level, n, kernel, form, words, point, pin),
  );
  const missing = kernel.library || kernel.missing ? [noMachine(kernel, words)] : [];
  const grid = h("div", { class: "kl-grid" }, columns.map(({ root }) => root), missing);
  grid.style.setProperty("--kl-columns", shares(columns, missing.length));
  const ribbons = s("svg", { class: "kl-ribbons", "aria-hidden": "true" });
  ui.say.id = unique("kl-say");
  for (const { rows } of columns)
    for (const { root, live } of rows) if (live) put(root, { "aria-describedby": ui.say.id });
  ui.stage.classList.add("kl-stage");
  ui.stage.append(strip.root, grid, ribbons);
  for (const { box, root } of columns) {
    box.addEventListener("scroll", () => play?.paint());
    root.addEventListener("toggle", () => play?.paint(), true);
  }

  const say = (p) => {
    const at = pointed();
    const told = at && tell(kernel, form, at, words);
    if (told) return told;
    const { op } = stateAt(ops, p);
    return op ? way(kernel, form, op, words) : opening(trace, kernel, form, words);
  };
  play = player(ui, {
    words,
    signal,
    total: () => ops.length,
    beatMs: () => 2400,
    say,
    ask: () => question(kernel, form, words),
    asking: () => !pointed(),
    draw(p) {
      if (p !== now) pinned = null; // time goes on: it is the beat's operation again
      now = p;
      const { op, grown } = stateAt(ops, p);
      const at = pointed();
      const ids = at?.ids.length ? at.ids : at ? null : op && [op.id];
      const reach = at ? 1 : grown;
      const asking = p === 0 && !at && mainSection(kernel.stages[`${form}_machine`]) !== null;
      paintColumns(columns, kernel, ids, reach, asking);
      strip.chips.forEach((chip, n) => {
        const mine = Boolean(ids?.includes(ops[n].id));
        put(chip, { "aria-pressed": String(mine), "data-pin": pinned && mine });
      });
      paintRibbons(ribbons, columns, ui.stage, kernel, ids, reach);
    },
  });
  play.shown = `${number} ${form}`;
  play.paint();
  if (before?.shown === play.shown && before.at()) play.seek(before.at()); // machine code has come
  return play;
}

export default widget(build, { anew: ["kernel", "form", "machines"] });
