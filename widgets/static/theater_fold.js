// The guards of a model are dozens: too many for a card, and too many beats. Of a long list those
// stay that fail, and those that tell the variants apart; what stands between them is one row,
// asked in one beat.
// In: a play (see theater.js).  Out: the same play, in which a guard may stand for several, {all:
// [texts]}, and its event too, {count}.  Invariant: a guard that fails has a row of its own.

const ROOM = 10; // guards of a card
const [MOST, LEAST] = [8, 3]; // of a long list: guards that stay

export function folded(trace) {
  const rows = new Map(trace.variants.map((variant) => [variant.id, rowsOf(trace, variant)]));
  if ([...rows.values()].every((known) => known === null)) return trace;
  const variants = trace.variants.map((variant) => withRows(variant, rows.get(variant.id)));
  return { ...trace, variants, events: merged(trace.events, rows) };
}

/** The rows of a long list as [first, end) of its guards; null for a short one. */
function rowsOf({ variants, events }, { id, guards }) {
  if (guards.length <= ROOM) return null;
  const fails = (index) =>
    events.some((e) => e.kind === "guard" && !e.ok && e.variant === id && e.guard === index);
  const common = (text) => variants.every((v) => v.guards.some((guard) => guard.text === text));
  const all = guards.map((guard, index) => ({ index, fails: fails(index), text: guard.text }));
  const failing = all.filter((each) => each.fails);
  const telling = all.filter((each) => !each.fails && !common(each.text));
  const stay = new Set([...failing, ...telling.slice(0, Math.max(0, MOST - failing.length))]);
  for (const each of all) if (stay.size < LEAST) stay.add(each);
  const rows = [];
  for (const each of all) {
    const last = rows.at(-1);
    if (last && !last.stays && !stay.has(each)) last.end++;
    else rows.push({ first: each.index, end: each.index + 1, stays: stay.has(each) });
  }
  return rows;
}

function withRows(variant, rows) {
  if (!rows) return variant;
  const guards = rows.map(({ first, end }) =>
    end - first === 1
      ? variant.guards[first]
      : { kind: "", text: "", all: variant.guards.slice(first, end).map(({ text }) => text) },
  );
  return { ...variant, guards };
}

/** One beat a row, when the last of its guards has answered. */
function merged(events, rows) {
  return events.flatMap((e) => {
    const known = e.kind === "guard" && rows.get(e.variant);
    if (!known) return [e];
    const guard = known.findIndex(({ end }) => e.guard < end);
    const { first, end } = known[guard];
    if (end - first === 1) return [{ ...e, guard }];
    return e.guard === end - 1 ? [{ ...e, guard, count: end - first }] : [];
  });
}
