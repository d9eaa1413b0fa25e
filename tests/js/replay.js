// Runs races in the widget's own JavaScript for a test in Python: {traces, sizes} in, accesses and
// memory out.
import { readFileSync } from "node:fs";

import { run } from "../../widgets/static/race.js";

const { traces, sizes } = JSON.parse(readFileSync(0, "utf8"));
const lanes = (trace, n) =>
  trace.lanes.map((lane) => {
    const { steps, memory } = run(trace, lane, n);
    return { accesses: steps.map(({ kind, buf, cell }) => [kind, buf, cell]), memory };
  });
const bySize = (trace) => Object.fromEntries(sizes.map((n) => [n, lanes(trace, n)]));
const told = Object.fromEntries(
  Object.entries(traces).map(([name, trace]) => [name, bySize(trace)]),
);
process.stdout.write(JSON.stringify(told));
