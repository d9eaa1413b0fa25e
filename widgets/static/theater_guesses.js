// What is guessed of the theater's calls: what may be, what came, and which belief a wrong guess has.
// In: a play, guesses (one of GUESSES, or nothing, a call), a state of theater.js.  Out: plain data.

/** What may be guessed of a call. */
export const GUESSES = ["hit", "compile", "break", "python"];

/** What came of each call, as it is guessed; null for one that has not ended. A call that leaves
 *  its variant at a break came to two things, and either is right. */
export function outcomes(trace) {
  return trace.calls.map((_, n) => {
    const mine = trace.events.filter((e) => e.call === n);
    if (!mine.some((e) => e.kind === "return")) return null;
    const ran = mine.find((e) => e.kind === "execute");
    const variant = trace.variants.find(({ id }) => id === ran?.variant);
    const ended = variant?.result !== "graph" ? "python" : ran.hit ? "hit" : "compile";
    return variant?.stop ? ["break", ended] : [ended];
  });
}

/** How many guesses are right, of those whose calls have ended by now. */
export function scored(trace, guesses, st) {
  const judged = outcomes(trace).map((truth, n) => ({ truth, guess: guesses[n], n }));
  const over = judged.filter(({ guess, n }) => guess && isOver(st.tickets[n]));
  return { right: over.filter(({ truth, guess }) => truth.includes(guess)).length, of: over.length };
}

export const isOver = ({ status }) => status !== "waiting" && status !== "here";

/** Which belief is answered: {what is true: {what was guessed: word}}. */
const BELIEFS = {
  hit: { compile: "belief_every", break: "belief_every", python: "belief_every" },
  compile: { hit: "belief_single", break: "belief_whole", python: "belief_limit" },
  break: { hit: "belief_single", compile: "belief_stop", python: "belief_stop" },
  python: { hit: "belief_single", compile: "belief_limit", break: "belief_limit" },
};

/** The name of a guess: what a first call may be is no recompile. */
export const guessName = (trace, call, id, words) =>
  words(id === "compile" && call === 0 && !trace.earlier.length ? "guess_first" : `guess_${id}`);

/** What is said of a guess when its call has ended. */
export function judge(trace, guesses, call, words) {
  const [guess, truth] = [guesses[call], outcomes(trace)[call]];
  const name = (id) => guessName(trace, call, id, words);
  if (truth.includes(guess)) return words("said_right", { guess: name(guess) });
  const why = BELIEFS[truth[0]]?.[guess];
  const answer = truth.map(name).join(words("and"));
  const wrong = words("said_wrong", { guess: name(guess), answer });
  return why ? `${wrong}${words.gap}${words(why)}` : wrong;
}
