// What TraceStepper says; see words.js.

export const STEPPER_WORDS = {
  step_title: ["What does capture write down?", "捕获记下了什么？"],
  step_claim: [
    "Capture reads bytecode. Python values are really computed, tensors only leave a node in the graph; " +
      "who looks at a value from outside pays with guards.",
    "捕获读的是字节码。Python 的值真的计算，张量只在图里留下节点；要看一个来自外面的值，就要用守卫来换。",
  ],
  key_lazy: ["lazy: nobody has looked at it", "惰性值：还没有人看过"],
  key_constant: ["Python value, part of the code", "Python 值，是代码的一部分"],
  key_plain: ["any other Python object", "其他 Python 对象"],
  key_tensor: ["tensor: type and shape, no numbers", "张量：只有类型和形状，没有数"],
  instructions: ["instructions read", "已读指令"],
  operations: ["operations", "运算"],
  guards: ["guards", "守卫"],
  waits: ["waits for the call above; not looked at", "等上面的调用返回；还没有看过"],
  instructions_label: ["instructions around this one", "前后的指令"],
  frames: ["frames", "帧"],
  variables: ["variables", "变量"],
  stack: ["value stack", "值栈"],
  empty: ["empty", "空"],
  the_graph: ["graph", "图"],
  no_nodes: ["No node yet.", "还没有节点。"],
  no_guards: ["No guard yet.", "还没有守卫。"],
  next_node: ["to the next node", "到下一个节点"],
  to_end: ["to the end", "到结尾"],
  graph_now: ["graph with {ops} so far", "到目前为止的图：{ops}"],
  at_line: ["line {line}", "第 {line} 行"],
  step_ask: [
    "Capture is about to read the bytecode of `{fn}`. How many operations will the graph have?",
    "捕获将要读 `{fn}` 的字节码。图里会有几个运算？",
  ],
  step_rest: ["Capture is about to read the bytecode of `{fn}`.", "捕获将要读 `{fn}` 的字节码。"],
  step_begin: [
    "The call begins. Its arguments are known by name only: nobody has looked at them.",
    "调用开始。参数只知道名字：还没有人看过它们。",
  ],
  step_begin_callee: ["`{fn}` begins.", "`{fn}` 开始。"],
  step_state: [
    "One guard is there from the start: grad mode and default dtype, which every operator reads.",
    "有一条守卫从一开始就在：梯度模式和默认 dtype，每个运算都要读它们。",
  ],
  step_lazy: [
    "`{name}` goes on the stack. It is lazy: nobody has looked at it, so no guard is needed.",
    "`{name}` 入栈。它是惰性的：没有人看过，所以不需要守卫。",
  ],
  step_lazy_bound: [
    "`{name}` goes on the stack, still lazy: only that it has a value at all is asked.",
    "`{name}` 入栈，仍是惰性的：只问它到底有没有值。",
  ],
  step_load: ["`{name}` goes on the stack: `{what}`.", "`{name}` 入栈：`{what}`。"],
  step_const: [
    "The constant `{value}` goes on the stack: it is part of the code, so it needs no guard.",
    "常量 `{value}` 入栈：它是代码的一部分，不需要守卫。",
  ],
  step_global: [
    "The name `{name}` is looked up, among the globals and then the builtins.",
    "查找名字 `{name}`：先在全局变量里，再在内建名字里。",
  ],
  step_attribute: ["The attribute `{name}` is looked up.", "查找属性 `{name}`。"],
  step_store: ["The value is called `{name}` from here on.", "这个值从此叫 `{name}`。"],
  step_node: [
    "`{ins}` meets a tensor, so nothing is computed: the graph gets {nodes}.",
    "`{ins}` 遇到张量，所以什么也不算：图里添上 {nodes}。",
  ],
  step_push: [
    "`{fn}` is a Python function: its frame is entered, and what it does goes into the same graph.",
    "`{fn}` 是 Python 函数：进入它的帧，它做的事写进同一个图。",
  ],
  step_pop: [
    "`{fn}` returns: its frame is gone, and the value lies on its caller’s stack.",
    "`{fn}` 返回：它的帧没有了，值在调用者的栈上。",
  ],
  step_unwound: [
    "`{fn}` does not catch it: its frame is gone, and the exception goes on to its caller.",
    "`{fn}` 不捕捉它：它的帧没有了，异常继续传给调用者。",
  ],
  step_yield: [
    "`{fn}` yields a value and waits; its frame is kept for the next time.",
    "`{fn}` 交出一个值并等待；它的帧留给下一次。",
  ],
  step_return: ["The function returns `{value}`.", "函数返回 `{value}`。"],
  step_jump: [
    "`{ins}` is Python’s own control flow: it is decided now, and leaves no trace in the graph.",
    "`{ins}` 是 Python 自己的控制流：现在就决定，不在图里留下痕迹。",
  ],
  step_move: ["`{ins}` only moves values about.", "`{ins}` 只是搬动值。"],
  step_plain: [
    "`{ins}` works on Python values: it is really computed, and the graph does not change.",
    "`{ins}` 处理的是 Python 的值：真的计算，图不变。",
  ],
  step_stops: [
    "`{ins}` is CPython’s to run: {what}. The region ends before it.",
    "`{ins}` 要由 CPython 运行：{what}。区域在它前面结束。",
  ],
  step_looked: ["Looking at {names} costs {guards}.", "看 {names} 要付 {guards}。"],
  step_end_return: [
    "Read to the return: a graph of {ops}, right as long as {guards} hold. Loops, names and stack are gone.",
    "读到返回：图有 {ops}，只要 {guards} 成立就正确。循环、名字和栈都不在了。",
  ],
  step_end_break: [
    "The region ends at line {line}, {what}: a graph of {ops}, right as long as {guards} hold.",
    "区域在第 {line} 行结束，{what}：图有 {ops}，只要 {guards} 成立就正确。",
  ],
  step_end_none: [
    "Nothing of `{fn}` can be compiled: capture stopped at line {line}, {what}.",
    "`{fn}` 完全无法编译：捕获停在第 {line} 行，{what}。",
  ],
  step_dropped: [
    "Nodes that nobody reads were dropped: {count}.",
    "没有人读的节点被去掉了：{count} 个。",
  ],
  step_hidden: [
    "Further instructions, which are not shown: {count}.",
    "还有没显示的指令：{count} 条。",
  ],
  belief_inputs: [
    "Inputs and the output are in the graph, but they do no work.",
    "输入和输出也在图里，但不做运算。",
  ],
  belief_unrolled: [
    "The loop was run while capturing: each round wrote its own nodes.",
    "循环在捕获时就跑完了：每一轮都写下自己的节点。",
  ],
  belief_lines: [
    "A line is not an operation: each operator, method and call of it writes a node.",
    "一行不等于一个运算：其中每个运算符、方法和调用都写下一个节点。",
  ],
};
