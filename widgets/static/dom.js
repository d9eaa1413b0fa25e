// Building and updating DOM, easing, and where things stand. Nothing here knows about widgets.

const NS = "http://www.w3.org/2000/svg";

function build(element, attrs, kids) {
  for (const [key, value] of Object.entries(attrs)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...kids.flat().filter((kid) => kid != null));
  return element;
}
/** An HTML element: attributes, `on...` listeners, children (strings are text, never markup). */
export const h = (tag, attrs = {}, ...kids) => build(document.createElement(tag), attrs, kids);
/** The same for SVG. */
export const s = (tag, attrs = {}, ...kids) =>
  build(document.createElementNS(NS, tag), attrs, kids);

const copy = Math.random().toString(36).slice(2, 10);
let serial = 0;
/** A name for a radio group, or an id, that nothing else on the page has. A counter alone would not
 *  do: each widget brings its own copy of this module. */
export const unique = (name) => `${name}-${copy}-${serial++}`;

export const clamp = (x, low = 0, high = 1) => Math.max(low, Math.min(high, x));
export const lerp = (a, b, t) => a + (b - a) * t;
/** Progress of t inside [a, b], clamped: stages one beat into "move", then "change". */
export const part = (t, a, b) => clamp((t - a) / (b - a));
export const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - (-2 * t + 2) ** 3 / 2);

/** Set attributes only where they changed: repainting a frame must not thrash the DOM. */
export function put(element, attrs) {
  for (const [key, value] of Object.entries(attrs)) {
    const old = element.getAttribute(key);
    if (value == null || value === false) {
      if (old !== null) element.removeAttribute(key);
    } else {
      const next = value === true ? "" : String(value);
      if (old !== next) element.setAttribute(key, next);
    }
  }
}

export function text(element, value) {
  const next = String(value);
  if (element.textContent !== next) element.textContent = next;
}

/** Narration with `code` in backticks: a string in, DOM out, never innerHTML. */
export function rich(element, value) {
  if (element.dataset.src === value) return;
  element.dataset.src = value;
  const pieces = value.split(/(`[^`]+`)/).filter(Boolean);
  element.replaceChildren(
    ...pieces.map((piece) => (piece[0] === "`" ? h("code", {}, piece.slice(1, -1)) : piece)),
  );
}

/** JupyterLab's command mode takes bare keys unless the focused control itself opts out. */
export function own(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
  return element;
}

/** A point of an element (its centre by default) in the coordinates of `base`. */
export function spot(element, base, across = 0.5, down = 0.5) {
  const a = element.getBoundingClientRect();
  const o = base.getBoundingClientRect();
  return { x: a.left - o.left + a.width * across, y: a.top - o.top + a.height * down };
}
