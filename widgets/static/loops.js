// A loop body as a picture and as code: where its registers stand, and how its lines read.
// In: a body or a lane of the race (see race.js).  Out: plain data, places and lines of segments.

import { show, spell } from "./ops.js";

/** Where the registers of one body stand: {at: {reg: [column, row]}, order, edges, columns,
 *  rows}. A column is the longest way from a load, a load stands just before its first use, and a
 *  long wire keeps its row free. `order` is the order of computing, for a picture without wires. */
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

/** The lane as code: {lines, at} with at[pass][statement] = line number (1-based). A pass of the
 *  separate lane is one line, as the user wrote it; the fused lane shows each statement, what
 *  runs once before the loop. */
export function listing(trace, lane) {
  if (lane.steps) return nested(lane);
  const single = new Set(trace.buffers.filter((b) => b.one).map((b) => b.name));
  const cell = (name) => ({ t: single.has(name) ? `${name}[0]` : `${name}[i]`, k: name });
  const print = lane.id === "separate" ? oneLine : eachLine;
  const lines = [];
  const at = lane.passes.map((pass) => {
    const { rows, row } = print(pass.body, cell);
    const number = {};
    const add = (k, indent) => {
      lines.push([indent, ...rows[k].parts]);
      number[k] = lines.length;
    };
    const keys = rows.map((_, k) => k);
    keys.filter((k) => rows[k].once).forEach((k) => add(k, ""));
    lines.push(["for i in range(N):"]);
    keys.filter((k) => !rows[k].once).forEach((k) => add(k, "  "));
    return row.map((k) => number[k]);
  });
  return { lines, at };
}

/** A lane that has been run already: every statement in its loops, as deep as they are. */
function nested(lane) {
  const lines = [];
  const at = lane.passes.map((pass) => {
    if (pass.extern) lines.push([`${pass.name}(…)`]);
    const pieces = {};
    return pass.body.map((line) => {
      for (const head of line.heads ?? []) lines.push([head]);
      if (line.op === "const") pieces[line.reg] = [constant(line)];
      else lines.push(["  ".repeat(line.depth), ...statement(line, pieces)]);
      return Math.max(1, lines.length);
    });
  });
  return { lines, at };
}

/** `v2 = v0 + v1`, and which piece lights when an array is touched. */
function statement(line, pieces) {
  const { op, reg, buf, index, dtype } = line;
  const cell = { t: `${buf}[${index}]`, k: buf };
  const named = (name) => pieces[name] ?? [name];
  if (op === "store") return [cell, " = ", ...named(reg)];
  pieces[reg] = [reg];
  if (op === "fold") {
    const more = named(line.args[0]);
    return [{ t: reg, k: buf }, ` = ${line.kind}(${reg}, `, ...more, ")"];
  }
  if (op === "load") return [`${reg} = `, cell];
  if (op === "index") return [`${reg} = ${line.text}`];
  return [`${reg} = `, ...spell(op, line.args.map(named), dtype).parts];
}

const constant = (line) => show(Number(line.value), 9, line.dtype).replace("−", "-");

/** One statement a line; constants stand where they are used. */
function eachLine(body, cell) {
  const pieces = {};
  const rows = [];
  const row = body.map((line) => {
    const { op, reg, buf, once } = line;
    if (op === "const") {
      pieces[reg] = [constant(line)];
      return Math.max(0, rows.length - 1);
    }
    if (op === "store") rows.push({ parts: [cell(buf), " = ", ...pieces[reg]] });
    else {
      const args = (line.args ?? []).map((a) => pieces[a]);
      const right = op === "load" ? [cell(buf)] : spell(op, args, line.dtype).parts;
      rows.push({ parts: [`${reg} = `, ...right], once });
      pieces[reg] = [reg];
    }
    return rows.length - 1;
  });
  return { rows, row };
}

/** One line a stored array: the whole expression, in brackets only where they are needed. */
function oneLine(body, cell) {
  const pieces = {};
  const whole = {};
  const rows = [];
  const row = body.map((line) => {
    const { op, reg } = line;
    const here = rows.length;
    if (op === "store") rows.push({ parts: [cell(line.buf), " = ", ...whole[reg]] });
    else if (op === "const") whole[reg] = pieces[reg] = [constant(line)];
    else if (op === "load") whole[reg] = pieces[reg] = [cell(line.buf)];
    else {
      const { parts, closed } = spell(
        op,
        line.args.map((a) => pieces[a]),
        line.dtype,
      );
      whole[reg] = parts;
      pieces[reg] = closed ? parts : ["(", ...parts, ")"];
    }
    return here;
  });
  return { rows, row: row.map((k) => Math.min(k, rows.length - 1)) };
}
