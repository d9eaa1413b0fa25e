// LoopStepper without its picture: which question is asked at a beat, of whom, what has been
// answered so far, which sentence tells it, and what to ask before.
// In: trace {function, source: {first, lines} | null, before: [body], after: [body]}; a body is
// {title, turns, sections: [{head, pass, level, first}], questions: [{text, word, args, line}],
// handlers} or {title, extern}, a handler {id, name, steps: [{answer, note, adds?}], lines: [{text,
// since, mark?} | {table, buf, n, since}]}, the interpreter {id, name, turns: [{at, steps}]}.
// `since`: the question with which a line is there.
// Out: plain data.  Invariant: pure; one beat is one question, and the body is asked whole by one
// handler before the next begins.

import { clamp, ease, part } from "./dom.js";
import { beatOf } from "./player.js";

/** In a beat the question moves until here, then its answer is shown. */
export const MOVE = 0.62;
const COUNTED = ["loads", "stores"]; // what the ledger calls an access
const OPERATIONS = ["operation", "heavy"]; // what Reads keeps of a question that is no access

/** The body that is chosen; of steps without one the nearest that has one. */
export function chosen(trace, when, number) {
  const bodies = trace[when];
  const at = clamp(number, 0, bodies.length - 1);
  if (!bodies[at].extern) return bodies[at];
  return bodies.slice(at).find((body) => !body.extern) ?? bodies.find((body) => !body.extern);
}

export const totalOf = (body) => body.handlers.length * body.questions.length;

/** Answers and lines of one handler; those of the interpreter belong to one turn of the loops. */
export function toldBy(handler, turn) {
  if (!handler.turns) return handler;
  const { at, steps } = handler.turns[clamp(turn, 0, handler.turns.length - 1)];
  const lines = steps.map(({ note, mark }, since) => ({ text: note, mark, since }));
  return { ...handler, at, steps, lines };
}

/** What is true at p: `h` the handler that is asked, `q` the question (-1: none yet), `done` how
 *  many questions each handler has answered, `t` how far the question has come. */
export function stateAt(body, p) {
  const n = body.questions.length;
  const k = clamp(beatOf(p), 0, totalOf(body));
  const f = k < totalOf(body) ? Math.max(0, p - k) : 0;
  const at = f > 0 ? k : k - 1;
  const shown = k + (f >= MOVE ? 1 : 0);
  return {
    h: Math.floor(Math.max(0, at) / n),
    q: at < 0 ? -1 : at % n,
    done: body.handlers.map((_, h) => clamp(shown - h * n, 0, n)),
    t: f > 0 ? ease(part(f, 0, MOVE)) : 1,
    asking: f > 0 && f < MOVE,
    end: p >= totalOf(body),
  };
}

/** What stands in the table for one answer. */
export function cellOf(handler, step, words) {
  if (handler.id === "count") {
    const [add] = step.adds;
    return add ? words("ls_adds", { n: add.n, table: words(`ls_${add.table}`) }) : "·";
  }
  if (handler.id !== "reads") return step.answer || "–";
  return OPERATIONS.includes(step.note) ? words(`ls_is_${step.note}`) : step.note || "·";
}

/** The line of the panel as it is read. */
export function lineOf(line, words) {
  if (!line.table) return line.text;
  return words("ls_ledger", { n: line.n, table: words(`ls_${line.table}`), buf: line.buf });
}

/** What a handler has come to after `done` questions: {value, noun}. */
export function resultOf(handler, done, words) {
  const lines = handler.lines.filter((line) => line.since < done);
  if (handler.id === "interpret") {
    const last = handler.steps.slice(0, done).findLast((step) => step.note);
    const value = last ? last.note.split(" = ").at(-1) : "";
    return { value, noun: "" };
  }
  const count = lines
    .filter((line) => COUNTED.includes(line.table))
    .reduce((sum, line) => sum + line.n, 0);
  const value = handler.id === "count" ? count : lines.length;
  const noun = words.some(`ls_result_${handler.id}`, value);
  return { value, noun };
}

// ---- the sentences ------------------------------------------------------------------------------

const ACCESSES = ["load", "store", "reduce", "scan", "scatter"];
const PLAIN = [...ACCESSES, "constant", "to_dtype", "index", "place"];

/** "load `x` at `i0`" */
export function askOf({ word, args }, words) {
  if (!PLAIN.includes(word)) return words("ls_ask_op", { call: `${word}(${args.join(", ")})` });
  const [a, b, c, d] = args.map((text) => text.replaceAll('"', ""));
  return words(`ls_ask_${word}`, { a, b, c, d });
}

const EFFECTS = {
  show: printing,
  numba: printing,
  cuda: printing,
  reads(step, question, words) {
    const { word } = question;
    if (step.note.includes("[")) return words("ls_did_place", { place: step.note });
    if (PLAIN.includes(word)) return words("ls_did_nothing");
    return words(step.note === "heavy" ? "ls_did_heavy" : "ls_did_operation");
  },
  count(step, question, words, body) {
    const access = ACCESSES.includes(question.word);
    if (!step.adds.length) return words(access ? "ls_did_in_hand" : "ls_did_no_access");
    const told = step.adds.map(({ table, n, buf }) =>
      words("ls_ledger", { n, table: words(`ls_${table}`), buf: `\`${buf}\`` }),
    );
    return words("ls_did_count", { told: told.join(", "), turns: body.turns });
  },
  interpret: (step, question, words) => words("ls_did_compute", { note: step.note }),
};

function printing(step, question, words) {
  const { answer, note } = step;
  if (note && answer) return words("ls_did_print", { note, answer });
  if (note) return words("ls_did_store", { note });
  if (!answer) return words("ls_did_keep");
  return words(question.word === "load" ? "ls_did_have" : "ls_did_know", { answer });
}

export function narrate(trace, body, turn, p, words) {
  const st = stateAt(body, p);
  if (st.q < 0)
    return words("ls_ask", { title: body.title, n: body.turns, accesses: accessesOf(body) });
  if (st.end) return ending(body, turn, words);
  const handler = toldBy(body.handlers[st.h], turn);
  const question = body.questions[st.q];
  const step = handler.steps[st.q];
  const where = handler.at ? words("ls_where", { at: handler.at }) : "";
  const asked = words("ls_asked", { who: handler.name, ask: askOf(question, words), where });
  return `${asked}${words.gap}${EFFECTS[handler.id](step, question, words, body)}`;
}

export const accessesOf = (body) =>
  body.handlers
    .find((handler) => handler.id === "count")
    .lines.filter((line) => COUNTED.includes(line.table))
    .reduce((sum, line) => sum + line.n, 0);

function ending(body, turn, words) {
  const n = body.questions.length;
  const told = (id) => toldBy(body.handlers.find((handler) => handler.id === id), turn);
  const result = (id) => {
    const { value, noun } = resultOf(told(id), n, words);
    return noun ? `${value} ${noun}` : value;
  };
  return words("ls_end", {
    n,
    shown: result("show"),
    places: result("reads"),
    accesses: result("count"),
    value: told("interpret").steps.findLast((step) => step.note).note,
    at: told("interpret").at ? words("ls_where", { at: told("interpret").at }) : "",
    kernel: result("numba"),
    cuda: result("cuda"),
  });
}

/** How often must the body run, to count its accesses? */
export function question(body, words) {
  const beliefs = {
    [body.turns]: words("ls_belief_data"),
    [accessesOf(body)]: words("ls_belief_access"),
    0: words("ls_belief_parsed"),
  };
  delete beliefs[1];
  const options = [...new Set([1, ...Object.keys(beliefs).map(Number)])].sort((a, b) => a - b);
  return { options: options.map(String), answer: "1", beliefs };
}
