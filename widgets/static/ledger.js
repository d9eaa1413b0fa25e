// The ledger over a lane: one mark an access, in order, and a brace under each pass with its count.
// In: a lane with its steps.  Out: drawn marks, and which of them have happened at a moment.

import { put, s, text } from "./dom.js";

/** The room inside a lane; before it is on the page it has none, and is drawn again later. */
export const roomOf = (lane) => Math.max(280, lane.root.clientWidth - 24);

/** At most `room` characters; the end says that something was cut. */
export const short = (name, room) => (name.length <= room ? name : `${name.slice(0, room - 1)}…`);

export function layoutLedger(lane, total) {
  const width = roomOf(lane);
  const unit = width / total;
  const fine = unit < 8;
  const mark = fine ? Math.max(0.8, unit - 0.6) : Math.min(unit - 2, 16);
  lane.unit = unit;
  lane.ticks = lane.steps.map((step, j) => {
    const x = j * unit + (fine ? 0 : 1);
    const frame = { x, y: 1.5, width: mark, height: 13, rx: fine ? 0 : Math.min(3, mark / 3) };
    return s("rect", {
      class: fine ? "ar-tick ar-fine" : "ar-tick",
      "data-kind": step.kind,
      ...frame,
    });
  });
  const busy = lane.spec.passes.map((pass, k) => [pass, k]).filter(([pass]) => !pass.extern);
  lane.braces = busy.map(([pass, k]) => {
    const mine = lane.steps.flatMap((step, j) => (step.pass === k ? [j] : []));
    const room = Math.floor((mine.length * unit - 28) / 6);
    return {
      name: pass.name.length <= room || room >= 8 ? short(pass.name, room) : "",
      first: mine[0],
      end: mine.at(-1) + 1,
      path: s("path", { class: "ar-brace" }),
      label: s("text", { class: "ar-pass", y: 36 }),
    };
  });
  put(lane.ledger, { viewBox: `0 0 ${width} 40`, width, height: 40 });
  lane.ledger.replaceChildren(
    s("rect", { class: "ar-track", x: 0, y: 0, width, height: 16, rx: 4 }),
    ...lane.ticks,
    ...lane.braces.flatMap((brace) => [brace.path, brace.label]),
  );
}

export function paintLedger(lane, { count, f }, finished) {
  for (const brace of lane.braces) {
    const end = Math.min(count, brace.end);
    const on = end > brace.first;
    const left = brace.first * lane.unit + 1;
    const right = Math.max(left + 1, end * lane.unit - 1);
    put(brace.path, { d: on ? `M${left} 19v4H${right}v-4` : "M0 0" });
    const name = on && brace.name ? `${brace.name} ${end - brace.first}` : "";
    put(brace.label, { x: Math.max((left + right) / 2, left + 3.2 * name.length) });
    text(brace.label, name);
  }
  lane.ticks.forEach((tick, j) =>
    put(tick, {
      "data-aside": finished && lane.saved.length > 0 && !lane.saved[j],
      "data-on": j < count ? "past" : j === count && f > 0 ? "now" : null,
    }),
  );
}
