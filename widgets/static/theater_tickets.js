// The theater's calls, each with what is guessed of it: chosen before it starts, judged when it
// ends.
// In: a play, the guesses (one a call, changed here), a state of theater.js.  Out: elements, painted.

import { h, own, put, text } from "./dom.js";
import { GUESSES, guessName, isOver, outcomes, scored } from "./theater_guesses.js";

export function makeTickets(trace, guesses, words, repaint) {
  const truths = outcomes(trace);
  const name = (n, id) => guessName(trace, n, id, words);
  const ticket = (call, n) => {
    const option = (id) => h("option", { value: id }, id ? name(n, id) : words("guess_none"));
    const select = own(
      h(
        "select",
        {
          class: "vt-guess",
          "aria-label": words("guess_of", { n: n + 1 }),
          "data-testid": `guess-${n + 1}`,
          onchange: () => {
            guesses[n] = select.value || null;
            repaint();
          },
        },
        ["", ...GUESSES].map(option),
      ),
    );
    select.value = guesses[n] ?? "";
    const came = h("span", { class: "vt-came" });
    const said = h("span", { class: "vt-said" });
    const number = h("b", {}, words("call_n", { n: n + 1 }));
    const root = h(
      "li",
      { class: "vt-ticket", title: call.inputs, "data-testid": `ticket-${n + 1}` },
      h("div", { class: "vt-named" }, number, h("code", {}, call.label)),
      h("div", { class: "vt-fate" }, select, came, said),
    );
    return { root, select, came, said };
  };
  const all = trace.calls.map(ticket);
  const many = trace.calls.length > 6;
  const score = h("span", { class: "vt-score", "data-testid": "score" });
  const list = h(
    "ol",
    { class: "vt-tickets", "data-many": many },
    all.map(({ root }) => root),
  );
  return {
    list,
    score,
    roots: all.map(({ root }) => root),
    paint(st) {
      st.tickets.forEach((now, n) => {
        const { root, select, came, said } = all[n];
        const over = isOver(now);
        const guess = guesses[n];
        put(root, { "data-status": now.status });
        put(select, { hidden: now.status !== "waiting" });
        text(came, cameOf(now, words));
        text(
          said,
          guess && now.status !== "waiting" ? words("guessed", { guess: name(n, guess) }) : "",
        );
        put(said, { "data-right": over && guess ? String(truths[n].includes(guess)) : null });
      });
      const { right, of } = scored(trace, guesses, st);
      text(score, of ? words("score", { right, of }) : "");
    },
  };
}

function cameOf({ status, variant }, words) {
  return status === "waiting" ? "" : words(`ticket_${status}`, { variant });
}
