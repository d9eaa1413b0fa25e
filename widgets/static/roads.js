// The theater's roads between its zones, and the token of a call that moves along them.
// In: the elements that stand on the stage (`set`), a state of theater.js.
// Out: painted legs and token.

import { clamp, ease, lerp, part, put, s, spot, text } from "./dom.js";
import { MOVE } from "./theater.js";

const HALF = 24; // of the token's width

/** Do the zones stand below each other? The style sheet decides, by the width of the frame. */
const stacked = (set) => set.variants.offsetTop > set.calls.offsetTop;

/** The roads between the zones; the one the call takes now is thick. */
export function paintLegs(set, stage, trace, st, words) {
  const narrow = stacked(set);
  const at = (element, x, y) => spot(element, stage, x, y);
  const e = st.event;
  const kind = e?.kind;
  const leave = kind === "execute" || kind === "return";
  const warm = leave && (e.hit || e.result === "hit");
  const lit = {
    call: kind === "call" && "call",
    run: leave && (e.result === "raised" ? "fail" : warm ? "ok" : "live"),
    miss: ["miss", "stage", "break"].includes(kind) && e.instead !== "python" && "fail",
    fresh: kind === "variant" && "live",
  };
  const here = set.tickets[e?.call ?? 0];
  const { slots: v, compile: c } = set;
  const [miss0, miss1, new0, new1] = narrow ? [0.14, 0.25, 0.75, 0.44] : [0.18, 0.18, 0.86, 0.86];
  const ticket = narrow ? at(here, 0.5, 1) : at(here, 1, 0.5);
  const door = narrow
    ? { x: ticket.x, y: at(set.variants, 0, 0).y }
    : { x: at(v, 0, 0).x, y: Math.min(ticket.y, at(v, 0, 1).y - 12) };
  const goal = narrow ? at(set.running, 0.5, 0) : at(set.run, 0, 0.5);
  const exit = narrow ? { x: goal.x, y: at(v, 0, 1).y } : { x: at(v, 1, 0).x, y: goal.y };
  const hitWord = leave && !warm ? "leg_run" : "leg_hit";
  const full = trace.events.some((b) => b.call === e?.call && b.instead === "python");
  const past = full && (leave || kind === "miss") ? detour(set, at, narrow) : null;
  set.legs.replaceChildren(
    arrowhead(set.headId),
    leg(set.headId, ticket, door, lit.call),
    leg(set.headId, exit, goal, !past && lit.run),
    label(exit, words(hitWord), narrow ? 17 : -8),
    leg(set.headId, at(v, miss0, 1), at(c, miss1, 0), lit.miss),
    leg(set.headId, at(c, new0, 0), at(v, new1, 1), lit.fresh),
    label(at(v, miss0, 1), words("leg_miss"), narrow ? 17 : 20),
    label(at(c, new0, 0), words("leg_new"), narrow ? -8 : -10),
    ...(past
      ? [leg(set.headId, ...past, "python"), label(past[0], words("leg_python"), narrow ? 17 : -6)]
      : []),
  );
}

/** Past the limit: nothing is compiled, the call goes from the variants straight to where Python
 *  runs it. */
const detour = ({ slots, run }, at, narrow) =>
  narrow
    ? [at(slots, 0.66, 1), at(run, 0.35, 0)]
    : [{ ...at(slots, 1, 0), y: at(run, 0, 2.2).y }, at(run, 0, 0.75)];

const label = (at, word, down) => s("text", { x: at.x + 8, y: at.y + down }, word);

function leg(head, a, b, kind) {
  const [mx, my] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  const flat = Math.abs(a.y - b.y) < Math.abs(a.x - b.x);
  const bend = flat ? `${mx} ${a.y} ${mx} ${b.y}` : `${a.x} ${my} ${b.x} ${my}`;
  const d = `M${a.x} ${a.y} C${bend} ${b.x} ${b.y}`;
  return s("path", { class: "vt-leg", "data-kind": kind, "marker-end": `url(#${head})`, d });
}

function arrowhead(id) {
  const size = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 10, markerHeight: 10 };
  const marker = { id, ...size, markerUnits: "userSpaceOnUse", orient: "auto" };
  return s("marker", marker, s("path", { d: "M0 0L8 4L0 8z" }));
}

/** Where the token stands once an event has happened. */
function anchor(set, stage, e) {
  const narrow = stacked(set);
  const at = (element, x, y) => spot(element, stage, x, y);
  if (!e) return at(set.tickets[0], 0, 0.5);
  switch (e.kind) {
    case "call":
      return at(set.tickets[e.call], narrow ? 0.5 : 1, narrow ? 1 : 0.5);
    case "guard": {
      const row = at(set.cards[e.variant].rows[e.guard], 1, 0.5);
      return { x: row.x - 16, y: row.y };
    }
    case "miss":
      if (e.instead === "python") return detour(set, at, narrow)[0];
      return at(set.compile, narrow ? 0.25 : 0.18, 0);
    case "stage":
    case "break":
      return at(set.stations[e.stage] ?? set.stations.capture, 0.84, 0);
    case "variant":
      return at(set.cards[e.variant].root, 0.5, 1);
    default:
      return at(e.kind === "execute" ? set.run : set.out, 0.9, 0);
  }
}

export function paintToken(set, stage, trace, st, words) {
  const next = trace.events[st.k];
  const was = trace.events[st.k - 1];
  const moving = st.f > 0 ? next : was;
  const failed = moving?.kind === "guard" && !moving.ok && st.shown > trace.events.indexOf(moving);
  put(set.token, {
    hidden: !moving,
    "data-kind": failed || moving?.kind === "break" ? "fail" : null,
  });
  if (!moving) return;
  const leaving = st.f > 0 && next.kind === "call";
  const from = leaving ? spot(set.tickets[next.call], stage) : anchor(set, stage, was);
  const to = anchor(set, stage, moving);
  const t = st.f > 0 ? ease(part(st.f, 0, MOVE)) : 1;
  const lift =
    Math.sin(Math.PI * t) * Math.min(24, Math.hypot(to.x - from.x, to.y - from.y) * 0.08);
  const edge = HALF + 2;
  const x = clamp(lerp(from.x, to.x, t), edge, stage.clientWidth - edge);
  const y = lerp(from.y, to.y, t) - lift;
  set.token.style.transform = `translate(${x}px, ${y}px)`;
  text(set.token, words("call_n", { n: moving.call + 1 }));
}
