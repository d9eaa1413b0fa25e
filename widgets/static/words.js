// Every word a widget says, one row an entry, one column a language. {name} is filled in; `code`
// becomes code. Trace text (names, guards, reasons, stage notes) is the compiler's and is shown as
// it is.

import { AMORTIZE_WORDS } from "./words_amortize.js";
import { BODIES_WORDS } from "./words_bodies.js";
import { COURT_WORDS } from "./words_court.js";
import { GRID_WORDS } from "./words_grid.js";
import { LAUNCH_WORDS } from "./words_launches.js";
import { LENS_WORDS } from "./words_lens.js";
import { MAP_WORDS } from "./words_map.js";
import { MATRIX_WORDS } from "./words_matrix.js";
import { SAVE_WORDS } from "./words_save.js";
import { STEPPER_WORDS } from "./words_stepper.js";
import { THEATER_WORDS } from "./words_theater.js";

const COLUMN = { en: 0, zh: 1 };

export const WORDS = {
  ...AMORTIZE_WORDS,
  ...BODIES_WORDS,
  ...COURT_WORDS,
  ...GRID_WORDS,
  ...LAUNCH_WORDS,
  ...LENS_WORDS,
  ...MAP_WORDS,
  ...SAVE_WORDS,
  ...STEPPER_WORDS,
  ...THEATER_WORDS,
  ...MATRIX_WORDS,

  // the frame and the player
  animation: ["{title}: animation", "{title}：动画"],
  prediction: ["Your prediction", "你的预测"],
  playback: ["Playback", "播放控制"],
  play: ["Play", "播放"],
  pause: ["Pause", "暂停"],
  again: ["Play again", "重新播放"],
  start: ["Back to start", "回到开头"],
  back: ["Step back", "后退一步"],
  step: ["Step", "前进一步"],
  position: ["Position", "位置"],
  speed: ["Speed", "速度"],
  beat_of: ["beat {at} of {total}", "第 {at} 拍，共 {total} 拍"],
  said_right: ["You said {guess}: right.", "你猜的是 {guess}：对。"],
  said_wrong: ["You said {guess}; it is {answer}.", "你猜的是 {guess}，实际是 {answer}。"],
  none: ["none", "无"],
  one_graph: [
    "This call has {count} graphs, 0 to {last}: here is graph={number}.",
    "这次调用有 {count} 张图，这里是 graph={number}，编号 0 到 {last}。",
  ],

  // AccessRace
  race_title: ["Separate passes or one?", "分开跑几遍，还是合成一遍？"],
  race_claim: [
    "Fusion computes the same values; what it saves is the trip to memory and back.",
    "融合算出的值不变，省下的是往返内存的路。",
  ],
  key_read: ["read: the value leaves memory", "读：值离开内存"],
  key_write: ["write: the value enters memory", "写：值进入内存"],
  key_register: ["register: no array access", "寄存器：不访问数组"],
  key_never: ["array that is never allocated", "从未分配的数组"],
  elements: ["elements N", "元素个数 N"],
  separate: ["{count} separate passes", "分开的 {count} 遍"],
  separate_one: ["One pass an operation", "每个运算一遍"],
  fused: ["One fused pass", "融合后的一遍"],
  fused_many: ["{count} fused passes", "融合后的 {count} 遍"],
  accesses: ["array accesses", "次数组访问"],
  registers: ["registers", "寄存器"],
  memory: ["memory", "内存"],
  code_of: ["{title}: code", "{title}：代码"],
  never: ["never allocated", "从未分配"],
  never_saved: ["never allocated: {count} accesses saved", "从未分配：省下 {count} 次访问"],
  ready: ["ready", "就绪"],
  finished: ["finished", "完成"],
  finished_early: ["finished, {count} accesses fewer", "完成，少 {count} 次访问"],
  at_before: ["before the loop", "循环之前"],
  at_element: ["i = {i}", "i = {i}"],
  counted: ["{title}: {count} accesses so far", "{title}：到目前为止 {count} 次访问"],
  race_ask: [
    "Same function, same N = {n}. The separate passes make {total} array accesses. " +
      "How many will the fused pass make?",
    "函数一样，N = {n} 也一样。分开跑共有 {total} 次数组访问。融合后的一遍有几次？",
  ],
  race_ask_fixed: [
    "Same function, same inputs. The separate passes make {total} array accesses. " +
      "How many will the fused loops make?",
    "函数一样，输入也一样。分开跑共有 {total} 次数组访问。融合后的循环有几次？",
  ],
  race_end_fixed: [
    "{total} accesses against {few}, {outputs}. {why}",
    "{total} 次对 {few} 次，{outputs}。{why}",
  ],
  reads: ["reads `{cell}` into `{reg}`", "把 `{cell}` 读进 `{reg}`"],
  writes: ["writes `{reg}` to `{cell}`", "把 `{reg}` 写入 `{cell}`"],
  race_now: ["Separate: `{pass}` {verb}{why}.", "分开：`{pass}` {verb}{why}。"],
  race_fused_now: ["Fused: {verb}{why}.", "融合：{verb}{why}。"],
  why_written: [", which an earlier pass had to store", "，那是前面一遍不得不存下的"],
  why_to_read: [", only for a later pass to read it back", "，只为让后面一遍再读回来"],
  why_register: ["; what came between stayed in registers", "；中间的值都留在寄存器里"],
  race_fused_done: [
    "The fused pass finished after {few}.",
    "融合的一遍已在第 {few} 次访问后完成。",
  ],
  race_first_done: ["The separate passes are done.", "分开的几遍已完成。"],
  race_end: [
    "{total} accesses against {few}, {outputs}: {per} against {fewPer}. {why}",
    "{total} 次对 {few} 次，{outputs}：{per} 对 {fewPer}。{why}",
  ],
  outputs_same: ["same output", "输出相同"],
  outputs_differ: ["but the outputs differ", "但输出不同"],
  saved_both: [
    "The {count} that went away are the writes and reads of {arrays}, and second " +
      "reads of {inputs}; those values stayed in registers.",
    "消失的 {count} 次，是 {arrays} 的写和读，以及对 {inputs} 的重复读；这些值一直留在寄存器里。",
  ],
  saved_arrays: [
    "The {count} that went away are the writes and reads of {arrays}; fused, those " +
      "values stay in registers.",
    "消失的 {count} 次，是 {arrays} 的写和读；融合后这些值留在寄存器里。",
  ],
  saved_inputs: [
    "The {count} that went away are second reads of {inputs}: the register still had the value.",
    "消失的 {count} 次，是对 {inputs} 的重复读：值还在寄存器里。",
  ],
  saved_none: [
    "Nothing was written only to be read back, so there was nothing to save.",
    "没有写完又读回的中间结果，所以无可节省。",
  ],
  pair: ["{first} and {last}", "{first} 和 {last}"],
  more: ["{names} and {count} more", "{names} 和另外 {count} 个"],
  belief_separate: [
    "That would be so if each result went to memory and came back.",
    "如果每个结果都要写回内存再读出来，才是这个数。",
  ],
  belief_reads: ["Results are written too, and a write counts.", "结果也要写回，写也算一次访问。"],
  belief_one: [
    "One pass is not one access an element: each input is read, each output written.",
    "一遍不等于每个元素访问一次：每个输入要读，每个输出要写。",
  ],
};

/** The speaker of one language: words("key", {name: value}); words.some(key, n) picks the
 *  singular for 1. */
export function tongue(language) {
  const column = COLUMN[language] ?? 0;
  const words = (key, values = {}) => {
    const row = WORDS[key];
    if (!row) throw new Error(`no word: ${key}`);
    return row[column].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  };
  words.some = (key, count) => words(count === 1 ? `${key}_one` : key, { count });
  words.has = (key) => key in WORDS;
  words.gap = column === 1 ? "" : " "; // between sentences
  words.language = column === 1 ? "zh-Hans" : "en";
  return words;
}
