// Every word a widget says, one row an entry, one column a language. {name} is filled in; `code`
// becomes code. Trace text (names, guards, reasons, stage notes) is the compiler's and is shown as
// it is.

import { MAP_WORDS } from "./words_map.js";
import { STEPPER_WORDS } from "./words_stepper.js";

const COLUMN = { en: 0, zh: 1 };

export const WORDS = {
  ...MAP_WORDS,
  ...STEPPER_WORDS,

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

  // VariantTheater
  theater_title: ["Which variant answers this call?", "这次调用由哪个版本来答？"],
  theater_claim: [
    "A variant is compiled code plus the guards under which it is right. Guards are " +
      "asked in order; the first that fails ends it.",
    "版本是编译好的代码，加上保证它正确的守卫。守卫按顺序检查，第一个不成立的就让这个版本出局。",
  ],
  key_call: ["a call", "一次调用"],
  key_holds: ["guard holds", "守卫成立"],
  key_fails: ["guard fails", "守卫不成立"],
  key_variant: ["compiled variant", "编译出的版本"],
  key_break: ["graph break", "断图"],
  hits: ["hits", "命中"],
  misses: ["misses", "未命中"],
  recompiles: ["recompiles", "重新编译"],
  variants: ["variants", "版本"],
  calls: ["calls", "调用"],
  compile: ["compile", "编译"],
  run: ["run", "运行"],
  execute: ["execute", "执行"],
  execute_rest: ["the variant's code", "版本的代码"],
  executing: ["code of {variant}", "{variant} 的代码"],
  executing_python: ["Python, uncompiled", "未编译的 Python"],
  output: ["output", "输出"],
  output_rest: ["for the caller", "交给调用者"],
  output_of: ["call {n} is answered", "第 {n} 次调用已返回"],
  output_raised: ["an error instead", "抛出了错误"],
  leg_hit: ["hit", "命中"],
  leg_run: ["run", "运行"],
  leg_miss: ["miss", "未命中"],
  leg_new: ["new", "新版本"],
  leg_python: ["Python", "Python"],
  capture: ["bytecode → graph", "字节码 → 图"],
  autodiff: ["forward, backward", "前向、反向"],
  fusion: ["loops → fewer", "循环 → 更少"],
  codegen: ["kernel on disk", "内核写到磁盘"],
  unused_stage: ["not used here", "这里没有用到"],
  no_variant: ["no variant yet", "还没有版本"],
  room: ["room for another variant", "留给下一个版本"],
  asked_order: ["asked in this order", "按这个顺序检查"],
  nth: ["asked {nth}", "第{nth}个检查"],
  ordinals: ["first second third fourth fifth sixth seventh eighth", "一 二 三 四 五 六 七 八"],
  hit_count: ["{count} hits", "命中 {count} 次"],
  hit_count_one: ["1 hit", "命中 1 次"],
  runs: ["runs {kernels}", "运行 {kernels}"],
  runs_graph: ["runs the captured graph", "运行捕获的图"],
  runs_python: ["runs the function in Python", "用 Python 运行函数本身"],
  variant_label: ["variant {id}", "版本 {id}"],
  expected_actual: ["expected {expected}, actual {actual}", "应为 {expected}，实为 {actual}"],
  because_line: ["asked because of your line {line}:", "这条守卫来自你的第 {line} 行："],
  break_line: ["capture stopped at your line {line}:", "捕获停在你的第 {line} 行："],
  ticket_here: ["now", "正在处理"],
  ticket_hit: ["✓ hit {variant}", "✓ 命中 {variant}"],
  ticket_compiled: ["compiled {variant}", "编译出 {variant}"],
  ticket_eager: ["ran in Python", "由 Python 运行"],
  ticket_raised: ["raised", "抛出错误"],
  theater_ask: [
    "`{fn}` will be called {count} times: {inputs}. How many variants will it need?",
    "`{fn}` 将被调用 {count} 次：{inputs}。需要几个版本？",
  ],
  theater_rest: [
    "`{fn}` will be called {count} times: {inputs}.",
    "`{fn}` 将被调用 {count} 次：{inputs}。",
  ],
  now_call: [
    "Call {n} of {count}: `{fn}({inputs})`.",
    "第 {n} 次调用，共 {count} 次：`{fn}({inputs})`。",
  ],
  now_holds: [
    "Variant `{variant}` asks: `{guard}`. It holds.",
    "版本 `{variant}` 问：`{guard}`。成立。",
  ],
  now_fails: [
    "Variant `{variant}` asks: `{guard}`. {actual}: this variant is out, its other " +
      "guards are not asked.",
    "版本 `{variant}` 问：`{guard}`。{actual}：这个版本出局，余下的守卫不再检查。",
  ],
  does_not_hold: ["It does not hold", "不成立"],
  now_first_miss: ["Nothing is compiled yet: a miss.", "还没有编译过：未命中。"],
  now_miss: ["No variant fits: a miss, and a recompile.", "没有合适的版本：未命中，要重新编译。"],
  now_miss_full: [
    "No variant fits, and there are as many as may be made: nothing is compiled.",
    "没有合适的版本，版本数也到了上限：不再编译。",
  ],
  now_miss_error: [
    "No variant fits: a miss. But capture meets an error, so Python runs the call and raises it.",
    "没有合适的版本：未命中。但捕获时遇到错误，于是由 Python 运行这次调用并抛出错误。",
  ],
  now_stage: ["{stage}: {note}.", "{stage}：{note}。"],
  now_stage_late: [
    "{stage} of `{variant}`, later: {note}.",
    "`{variant}` 的 {stage}，稍后进行：{note}。",
  ],
  stage_done: ["done", "完成"],
  now_break: [
    "Capture stops at line {line}, a graph break: {what}. {why}",
    "捕获停在第 {line} 行，断图：{what}。{why}",
  ],
  now_variant: [
    "A new variant `{variant}`, guarded by what capture took for granted. It will be asked first.",
    "新版本 `{variant}`，由捕获时当作前提的事实来守卫。下次先问它。",
  ],
  now_variant_eager: [
    "What is kept as `{variant}` has no compiled code: its guards say when Python " +
      "runs the function itself.",
    "记下的 `{variant}` 没有编译代码：它的守卫说明何时由 Python 运行函数本身。",
  ],
  now_hit: [
    "All guards hold: a hit. `{variant}` runs, and moves to the front.",
    "守卫全部成立：命中。`{variant}` 运行，并移到最前。",
  ],
  now_held_eager: [
    "All guards hold, and `{variant}` says: Python runs this call, nothing is compiled.",
    "守卫全部成立，`{variant}` 说：这次由 Python 运行，不编译。",
  ],
  now_execute: [
    "`{variant}` runs for the call that paid for it.",
    "`{variant}` 为付出编译代价的这次调用运行。",
  ],
  now_execute_eager: ["Python runs the function itself.", "Python 运行函数本身。"],
  now_return: [
    "Call {n} is answered by `{variant}` ({result}).",
    "第 {n} 次调用由 `{variant}` 返回（{result}）。",
  ],
  now_return_eager: ["Call {n} is answered by plain Python.", "第 {n} 次调用由普通 Python 返回。"],
  now_raised: ["Call {n} ends with an error: {error}", "第 {n} 次调用以错误结束：{error}"],
  an_error: ["an exception.", "一个异常。"],
  result_hit: ["hit", "命中"],
  result_compiled: ["compiled", "已编译"],
  theater_end: [
    "{calls} calls, {hits}, {misses}, {recompiles}, {variants}. {why}",
    "{calls} 次调用，{hits}，{misses}，{recompiles}，{variants}。{why}",
  ],
  n_hits: ["{count} hits", "命中 {count} 次"],
  n_hits_one: ["1 hit", "命中 1 次"],
  n_misses: ["{count} misses", "未命中 {count} 次"],
  n_misses_one: ["1 miss", "未命中 1 次"],
  n_recompiles: ["{count} recompiles", "重新编译 {count} 次"],
  n_recompiles_one: ["1 recompile", "重新编译 1 次"],
  n_variants: ["{count} variants", "{count} 个版本"],
  n_variants_one: ["1 variant", "1 个版本"],
  end_guard: ["A recompile began with `{guard}`.", "重新编译起于 `{guard}`。"],
  end_break: ["Python ran what capture could not: {what}.", "捕获不了的由 Python 运行：{what}。"],
  end_regions: [
    "What follows the break is compiled in regions of its own, which are not on this stage.",
    "断图之后的部分编译成各自的区域，不在这个舞台上。",
  ],
  end_fits: ["One compilation was right for all of them.", "一次编译对所有调用都正确。"],
  belief_every: [
    "A call whose guards all hold runs code that is already there.",
    "守卫全部成立的调用，运行的是已有的代码。",
  ],
  belief_single: [
    "A variant is right only while its guards hold.",
    "一个版本只在守卫成立时才正确。",
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
  words.gap = column === 1 ? "" : " "; // between sentences
  words.language = column === 1 ? "zh-Hans" : "en";
  return words;
}
