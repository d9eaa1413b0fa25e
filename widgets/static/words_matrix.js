// What GuardMatrix says, one row an entry, one column a language (see words.js).

export const MATRIX_WORDS = {
  matrix_title: ["Which guard fails first?", "哪条守卫先不成立？"],
  matrix_claim: [
    "A row is a variant, a column a guard. A call asks row by row, from left to right: the first " +
      "guard that fails ends the row, the first row without one answers.",
    "一行是一个版本，一列是一条守卫。调用逐行、从左到右地检查：第一条不成立的守卫结束这一行，" +
      "第一行全部成立的版本来答。",
  ],
  matrix_label: ["guards of each variant", "各版本的守卫"],
  key_unasked: ["not asked", "没有检查"],
  key_new: ["made by this call", "由这次调用产生"],
  key_would: ["what it would say, asked on demand", "若要检查，会这样回答"],
  more_guards: ["{count} guards more on the right →", "右边还有 {count} 条守卫 →"],
  more_guards_one: ["1 guard more on the right →", "右边还有 1 条守卫 →"],
  more_left: ["← more on the left", "← 左边还有"],
  variant: ["variant", "版本"],
  guards_asked: ["guards asked", "检查的守卫"],
  guards_failed: ["failed", "不成立"],
  compiled: ["compiled", "编译"],
  ask_all: ["ask all variants", "检查所有版本"],
  fate_hit: ["✓ hit", "✓ 命中"],
  fate_out: ["✕ out", "✕ 出局"],
  fate_new: ["new", "新"],
  fate_unasked: ["not asked", "没有检查"],
  not_but: ["came {actual}", "来的是 {actual}"],
  cell_ok: ["it holds", "成立"],
  cell_fail: ["it fails, actual {actual}", "不成立，实为 {actual}"],
  cell_skip: ["not asked", "没有检查"],
  cell_wait: ["not asked yet", "还没有检查"],
  cell_new: ["made by this call, asked from the next one on", "由这次调用产生，下次起检查"],
  cell_would_ok: ["not asked; it would hold", "没有检查；若检查则成立"],
  cell_would_fail: [
    "not asked; it would fail, actual {actual}",
    "没有检查；若检查则不成立，实为 {actual}",
  ],
  the_guard: ["the guard", "这条守卫"],
  your_source: ["your line", "你的代码行"],
  your_line: ["made by your line", "来自你的第几行"],
  no_line: ["none: it is asked for every variant", "没有：每个版本都要检查"],
  expected: ["expected", "应为"],
  actual: ["came", "实为"],
  choose_guard: [
    "A guard that is asked, or that you choose in the table, is told here, with your line that made it.",
    "正在检查的守卫，或你在表中选中的守卫，会显示在这里，并标出产生它的代码行。",
  ],
  matrix_ask: [
    "`{fn}` will be called {times}. Which guard will be the first to fail?",
    "`{fn}` 将被调用{times}。哪条守卫最先不成立？",
  ],
  matrix_call: ["Call {n}: `{inputs}`.", "第 {n} 次调用：`{inputs}`。"],
  matrix_rows: [
    "It asks `{first}` first, the variant used last.",
    "先问 `{first}`，即上次用过的版本。",
  ],
  matrix_none: ["There is no variant to ask.", "还没有版本可问。"],
  matrix_asks: [
    "`{variant}` is asked: guards that hold so far, {count}.",
    "正在检查 `{variant}`：到目前为止 {count} 条成立。",
  ],
  matrix_fails: [
    "`{variant}` is out: `{guard}`, but {actual} came.",
    "`{variant}` 出局：`{guard}`，来的却是 {actual}。",
  ],
  matrix_line: ["Your line {line} needs that.", "你的第 {line} 行需要它。"],
  matrix_holds: [
    "All guards of `{variant}` hold, {count} of {count}.",
    "`{variant}` 的 {count} 条守卫全部成立。",
  ],
  matrix_hit: [
    "Call {n} hits `{variant}`. It will be asked first next time; rows below were not asked.",
    "第 {n} 次调用命中 `{variant}`。下次先问它；下面各行没有检查。",
  ],
  matrix_eager: [
    "The guards of `{variant}` hold, and it says: Python runs call {n}.",
    "`{variant}` 的守卫成立，它说：第 {n} 次调用由 Python 运行。",
  ],
  matrix_full: [
    "No row is left, and there are as many variants as may be: Python runs call {n}.",
    "没有剩下的行，版本数也到了上限：第 {n} 次调用由 Python 运行。",
  ],
  matrix_made: [
    "No row is left: call {n} is compiled, and `{variant}` is a new row.",
    "没有剩下的行：第 {n} 次调用要编译，`{variant}` 成为新的一行。",
  ],
  matrix_first: [
    "Call {n} is compiled: `{variant}` is the first row.",
    "第 {n} 次调用要编译：`{variant}` 是第一行。",
  ],
  matrix_raised: ["Call {n} ends with an error: {error}", "第 {n} 次调用以错误结束：{error}"],
  matrix_end: ["{asked}, {failed}.", "{asked}，{failed}。"],
  n_asked: ["{count} guards were asked", "共检查 {count} 条守卫"],
  n_asked_one: ["1 guard was asked", "共检查 1 条守卫"],
  n_failed: ["{count} failed", "{count} 条不成立"],
  n_failed_one: ["1 failed", "1 条不成立"],
  matrix_first_failed: ["The first was `{guard}`.", "最先不成立的是 `{guard}`。"],
  belief_held: ["That one was asked, and it held.", "那一条检查过，成立。"],
  belief_unasked: [
    "That one stands behind the one that failed: it was not asked.",
    "那一条排在不成立的那条之后，没有检查。",
  ],
};
