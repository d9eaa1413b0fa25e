// A loop body as a picture and as code: where its registers stand, and how its lines read.
// In: a body or a lane of the race trace (see race.js).  Out: plain data, places and lines of segments.

import { show, spell } from "./ops.js";

/** Where the registers of one body stand: {at: {reg: [column, row]}, order, edges, columns, rows}.
 *  A column is the longest way from a load, a load stands just before its first use, and a long wire keeps its
 *  row free. `order` is the order of computing, for a picture without wires. */
export function wires(body) {
  const made = body.filter((line) => line.op !== "store" && line.op !== "const");
  const names = new Set(made.map((line) => line.reg));
  const inputs = Object.fromEntries(
    made.map((line) => [line.reg, (line.args ?? []).filter((a) => names.has(a))]),
  );
  const users = Object.fromEntries(made.map((line) => [line.reg, []]));
  for (const line of made) for (const a of inputs[line.reg]) users[a].push(line.reg);
  const column = {};
  for (const { reg } of made) column[reg] = Math.max(-1, ...inputs[reg].map((a) => column[a])) + 1;
  for (const { reg, op } of made)
    if (op === "load" && users[reg].length)
      column[reg] = Math.max(0, Math.min(...users[reg].map((u) => column[u])) - 1);
  const at = {};
  const taken = new Set();
  for (const { reg } of [...made].sort((a, b) => column[a.reg] - column[b.reg])) {
    let row = inputs[reg].length ? Math.min(...inputs[reg].map((a) => at[a][1])) : 0;
    while (taken.has(`${column[reg]}:${row}`)) row++;
    at[reg] = [column[reg], row];
    const end = Math.max(column[reg], ...users[reg].map((u) => column[u] - 1));
    for (let c = column[reg]; c <= end; c++) taken.add(`${c}:${row}`);
  }
  const places = Object.values(at);
  return {
    at,
    order: made.map(({ reg }) => reg),
    edges: made.flatMap(({ reg }) => inputs[reg].map((a) => [a, reg])),
    columns: 1 + Math.max(0, ...places.map(([c]) => c)),
    rows: 1 + Math.max(0, ...places.map(([, r]) => r)),
  };
}

/** The lane as code: {lines, at} with at[pass][statement] = line number (1-based). A pass of the separate lane
 *  is one line, as the user wrote it; the fused lane shows each statement. */
export function listing(trace, lane) {
  const single = new Set(trace.buffers.filter((b) => b.one).map((b) => b.name));
  const cell = (name) => ({ t: single.has(name) ? `${name}[0]` : `${name}[i]`, k: name });
  const print = lane.id === "separate" ? oneLine : eachLine;
  const lines = [];
  const at = lane.passes.map((pass) => {
    lines.push(["for i in range(N):"]);
    const first = lines.length + 1;
    const printed = print(pass.body, cell);
    for (const row of printed.lines) lines.push(["  ", ...row]);
    return printed.at.map((row) => first + row);
  });
  return { lines, at };
}

const constant = (line) => show(Number(line.value), 9, line.dtype).replace("−", "-");

/** One statement a line; constants stand where they are used. */
function eachLine(body, cell) {
  const pieces = {};
  const lines = [];
  const at = body.map((line) => {
    if (line.op === "const") {
      pieces[line.reg] = [constant(line)];
      return Math.max(0, lines.length - 1);
    }
    if (line.op === "store") lines.push([cell(line.buf), " = ", ...pieces[line.reg]]);
    else {
      const args = (line.args ?? []).map((a) => pieces[a]);
      const right = line.op === "load" ? [cell(line.buf)] : spell(line.op, args, line.dtype).parts;
      lines.push([`${line.reg} = `, ...right]);
      pieces[line.reg] = [line.reg];
    }
    return lines.length - 1;
  });
  return { lines, at };
}

/** One line a stored array: the whole expression, in brackets only where they are needed. */
function oneLine(body, cell) {
  const pieces = {};
  const whole = {};
  const lines = [];
  const at = body.map((line) => {
    const row = lines.length;
    if (line.op === "store") lines.push([cell(line.buf), " = ", ...whole[line.reg]]);
    else if (line.op === "const") whole[line.reg] = pieces[line.reg] = [constant(line)];
    else if (line.op === "load") whole[line.reg] = pieces[line.reg] = [cell(line.buf)];
    else {
      const { parts, closed } = spell(line.op, line.args.map((a) => pieces[a]), line.dtype);
      whole[line.reg] = parts;
      pieces[line.reg] = closed ? parts : ["(", ...parts, ")"];
    }
    return row;
  });
  return { lines, at: at.map((row) => Math.min(row, lines.length - 1)) };
}
