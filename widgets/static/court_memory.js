// Buffers' lives as bars: one row a piece of memory, one column a step.
// In: a plan {steps: [name], lives: [{buffer, nbytes, first, last, place, how}], peak, total}; a life
// that ends with the number of steps is returned.  Out: rows, and an SVG for one moment.

import { lerp, s } from "./dom.js";
import { clip, size } from "./save.js";

const [ROW, BAR, TOP] = [22, 18, 16];

/** The lives that take memory that was there before, in the order in which they begin. */
export const reuses = (plan) => plan.lives.filter((life) => life.how !== "new");

/** Whose memory a life takes: the one before it in the same place. */
export function before(plan, life) {
  const at = plan.lives.indexOf(life);
  const same = plan.lives.filter((each, n) => each.place === life.place && n < at);
  return same.reduce((latest, each) => (latest && latest.last > each.last ? latest : each), null);
}

export const placesOf = (plan) => [...new Set(plan.lives.map((life) => life.place))];

/** The row of each life, one a place. */
export const packed = (plan) => plan.lives.map((life) => placesOf(plan).indexOf(life.place));

/** The row of each life when the first `moved` reuses have happened, and `t` of the next one. */
export function rowsAt(plan, moved, t = 0) {
  const later = reuses(plan);
  return plan.lives.map((life, own) => {
    const turn = later.indexOf(life);
    if (turn < 0 || turn > moved) return own;
    const home = plan.lives.findIndex((each) => each.place === life.place);
    return turn < moved ? home : lerp(own, home, t);
  });
}

/** Columns from and to; in the step that writes one buffer over another each has half. */
export function spanOf(plan, life) {
  const over = plan.lives.some((next) => next.how === "in place" && before(plan, next) === life);
  const end = Math.min(life.last, plan.steps.length) + (over ? 0.5 : 1);
  return [life.first + (life.how === "in place" ? 0.5 : 0), end];
}

/** `gone`: buffers that no loop leaves in memory any more; `rows`: where each life is drawn. */
export function lifePicture(plan, width, { rows, gone = new Set(), now = null }, label) {
  const column = width / (plan.steps.length + 1);
  const height = TOP + ROW * Math.max(1, ...rows.map((row) => Math.ceil(row) + 1));
  const left = (step) => step * column;
  const bars = plan.lives.map((life, n) => {
    const [from, to] = spanOf(plan, life);
    const [x, y, wide] = [left(from), TOP + rows[n] * ROW, (to - from) * column];
    const away = gone.has(life.buffer);
    const said = clip(`${life.buffer} ${size(life.nbytes)}`, wide - 6);
    return s(
      "g",
      { class: "fc-life", "data-gone": away, "data-how": life.how, "data-now": life === now },
      s("title", {}, `${life.buffer}: ${life.nbytes} B`),
      s("rect", { x: x + 1, y, width: Math.max(3, wide - 2), height: BAR, rx: 4 }),
      s("text", { x: x + wide / 2, y: y + 13 }, said),
    );
  });
  const rules = plan.steps.map((_, step) =>
    s("line", { class: "fc-step", x1: left(step), x2: left(step), y1: TOP - 4, y2: height }),
  );
  const heads = [...plan.steps, "return"].map((name, step) =>
    s("text", { class: "fc-head", x: left(step) + 3, y: 9 }, clip(name, column - 4)),
  );
  const view = { viewBox: `0 0 ${width} ${height}`, width, height };
  const attrs = { class: "fc-lives", role: "img", "aria-label": label, ...view };
  return s("svg", attrs, rules, heads, bars);
}
