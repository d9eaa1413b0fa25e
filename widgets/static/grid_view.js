// GridView: what the warps of one block ask of memory, request after request.
// In: traits trace (see grid.js), beat, language.  In and out: kernel, which of them is shown.
// The pure half is grid.js; this is the picture: the kernel's text, the grid, the 32 threads of the
// warp whose turn it is, and the sectors or banks that its request touches.

import { clamp, h, own, put, text } from "./dom.js";
import { SECTOR, chosen, narrate, question, sumsOf, stateAt } from "./grid.js";
import { chooser, code, counters, flyer, frame, keepInView, widget } from "./lab.js";
import { player } from "./player.js";

const LEGEND = { read: "gv_key_read", write: "gv_key_write", never: "gv_key_never" };
const LANES = 32;
const MOST = 64; // blocks, or warps, that are drawn

// ---- what is chosen, and the sums ---------------------------------------------------------------

function tools(ui, trace, kernel, words, model) {
  const names = trace.kernels.map(({ name }, n) => [String(n), name]);
  const at = String(trace.kernels.indexOf(kernel));
  if (names.length > 1) {
    const pick = chooser("kernel", words("gv_kernel"), names, at, (key) => {
      model.set("kernel", Number(key));
      model.save_changes();
    });
    ui.tools.append(pick.root);
  }
  const lost = kernel.shared.length ? { lost: "gv_lost" } : {};
  return counters(ui, words, {
    requests: "gv_requests",
    sectors: "gv_sectors",
    fewest: "gv_least",
    ...lost,
  });
}

// ---- the text -----------------------------------------------------------------------------------

function makeText(kernel, words) {
  const made = code(
    kernel.lines.map(([, line]) => [line || " "]),
    { tabindex: 0, "aria-label": words("gv_code") },
  );
  own(made.root);
  made.rows.forEach((row, n) => text(row.firstChild, kernel.lines[n][0]));
  const numbers = kernel.lines.map(([number]) => number);
  return { ...made, numbers };
}

function paintText(made, event) {
  made.rows.forEach((row, n) => put(row, { "data-on": made.numbers[n] === event?.line }));
  const on = made.rows[made.numbers.indexOf(event?.line)];
  if (on) keepInView(made.root, on);
}

// ---- the grid -----------------------------------------------------------------------------------

const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
const sizes = (values) => (values.length === 1 ? String(values[0]) : `(${values.join(", ")})`);

/** Squares for blocks or warps; more than fit are counted. */
function squares(count, label) {
  const cells = Array.from({ length: Math.min(count, MOST) }, (_, n) =>
    h("i", { class: "gv-square", "data-n": n }),
  );
  const more = count > MOST ? h("small", {}, `+${count - MOST}`) : null;
  const root = h("div", { class: "gv-squares", role: "img", "aria-label": label }, cells, more);
  return { root, cells };
}

function makeGrid(trace, kernel, words) {
  const blocks = product(kernel.grid);
  const count = words(blocks === 1 ? "gv_blocks_one" : "gv_blocks", {
    count: sizes(kernel.grid),
    threads: sizes(kernel.block),
  });
  const watched = words("gv_watched", { block: trace.watched });
  const grid = squares(blocks, `${count}; ${watched}`);
  grid.cells.forEach((cell, n) => put(cell, { "data-on": n === trace.watched }));
  const warps = squares(Math.ceil(kernel.threads / LANES), words("gv_warps"));
  const occupancy = words("gv_occupancy", { percent: kernel.occupancy });
  const title = (...parts) => h("h4", { class: "lab-h" }, parts);
  const root = h(
    "section",
    { class: "lab-panel gv-grid" },
    h("p", { class: "gv-reason" }, h("b", {}, kernel.form), `: ${kernel.reason}`),
    title(count, h("span", { class: "gv-quiet" }, watched)),
    grid.root,
    title(words("gv_warps")),
    warps.root,
    h("p", { class: "gv-quiet" }, occupancy),
  );
  return { root, warps, first: trace.watched * Math.ceil(kernel.threads / LANES) };
}

// ---- one request --------------------------------------------------------------------------------

/** A row of cells that is as long as it ever gets, so that nothing jumps. */
function cellsOf(count, kind) {
  return Array.from({ length: count }, () =>
    h("i", { class: `gv-cell gv-${kind}` }, h("b", {}), h("span", {})),
  );
}

function makeRequest(kernel, words) {
  const most = Math.max(LANES, ...kernel.events.map((e) => e.parts.length));
  const lanes = cellsOf(LANES, "lane");
  const parts = cellsOf(most, "part");
  const lanesTitle = h("h4", { class: "lab-h" });
  const partsTitle = h("h4", { class: "lab-h" });
  const list = (cells) => h("div", { class: "gv-cells" }, cells);
  const root = h(
    "section",
    { class: "lab-panel gv-request", role: "img", "data-testid": "request" },
    lanesTitle,
    list(lanes),
    partsTitle,
    list(parts),
  );
  return { root, lanes, parts, lanesTitle, partsTitle, words };
}

function paintRequest(view, st) {
  const { event, over } = st;
  const { words } = view;
  const shared = event?.space === "shared";
  const anyway = event ? words("gv_lanes", { warp: event.warp }) : words("gv_lanes_any");
  const title = event
    ? words(shared ? "gv_shared" : "gv_memory", { array: event.array })
    : words("gv_memory_any");
  text(view.lanesTitle, anyway);
  text(view.partsTitle, title);
  put(view.root, { "aria-label": event ? `${anyway}; ${title}` : anyway });
  view.lanes.forEach((cell, n) => {
    const active = event?.lanes.includes(n) ?? false;
    const lit = active && (over || event.kind === "write");
    put(cell, { "data-kind": active ? event.kind : null, "data-lit": lit });
    text(cell.lastChild, n % 8 === 0 ? String(n) : "");
  });
  view.parts.forEach((cell, n) => {
    const value = event?.parts[n] ?? 0;
    const there = shared ? n < LANES : value > 0;
    put(cell, {
      "data-there": there,
      "data-kind": there && value ? event.kind : null,
      "data-lit": there && value > 0 && (over || event?.kind === "read"),
      "data-vain": there && !shared && value < SECTOR,
      "data-bad": shared && value > 1,
      "data-gap": !shared && n > 0 && (event?.gaps?.[n - 1] ?? 1) > 1,
    });
    const share = shared ? Math.min(1, value) : value / SECTOR;
    cell.firstChild.style.height = `${(100 * share).toFixed(0)}%`;
    text(cell.lastChild, shared && value > 1 ? String(value) : "");
  });
}

// ---- the widget ---------------------------------------------------------------------------------

function build({ model, el, signal, words }) {
  const trace = model.get("trace");
  const kernel = chosen(trace, model.get("kernel"));
  const ui = frame(el, { widget: "grid_view", words, name: "gv", legend: LEGEND });
  const count = tools(ui, trace, kernel, words, model);
  const listing = makeText(kernel, words);
  const grid = makeGrid(trace, kernel, words);
  const request = makeRequest(kernel, words);
  ui.stage.classList.add("gv-stage");
  const title = h("h4", { class: "lab-h gv-name" }, kernel.name);
  ui.stage.append(
    h("section", { class: "lab-panel gv-text" }, title, listing.root),
    h("div", { class: "gv-side" }, grid.root, request.root),
  );
  const fly = flyer(ui.stage);
  const total = () => kernel.events.length;
  const middle = (cells, n) => cells[clamp(n, 0, cells.length - 1)];
  const play = player(ui, {
    words,
    signal,
    total,
    beatMs: () => clamp(20000 / total(), 250, 1000),
    say: (p) => narrate(kernel, p, words),
    ask: () => question(kernel, words),
    draw(p) {
      const st = stateAt(kernel, p);
      paintText(listing, st.event);
      paintRequest(request, st);
      grid.warps.cells.forEach((cell, n) =>
        put(cell, { "data-on": st.event ? grid.first + n === st.event.warp : false }),
      );
      count(st);
      const { event } = st;
      const own_ = event && middle(request.lanes, event.lanes[0]);
      const far = event && middle(request.parts, event.of[0]);
      const [from, to] = event?.kind === "write" ? [own_, far] : [far, own_];
      fly(st.over ? null : from, to, st.t);
    },
  });
  put(ui.root, { "data-requests": sumsOf(kernel).length - 1 });
  play.paint();
  return play;
}

export default widget(build, { anew: ["kernel"] });
