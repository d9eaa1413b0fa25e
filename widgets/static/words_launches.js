// What LaunchTimeline says; see words.js.

export const LAUNCH_WORDS = {
  lt_title: ["Who is slow, the CPU or the card?", "谁慢，CPU 还是显卡？"],
  lt_claim: [
    "The CPU launches kernels, the card runs them. Compiling makes fewer kernels; replaying makes " +
      "one launch of many, and leaves the kernels as they are.",
    "CPU 启动内核，显卡执行内核。编译让内核变少；重放把许多次启动变成一次，内核照旧。",
  ],
  lt_key_launch: ["the CPU, until a launch is made", "CPU：直到完成一次启动"],
  lt_key_slow: ["a kernel of eager mode", "eager 模式的内核"],
  lt_key_fast: ["a kernel of compiled code", "编译出的内核"],
  lt_key_wait: ["the card waits for a launch", "显卡在等启动"],
  lt_eager: ["eager", "eager"],
  lt_eager_replayed: ["eager, replayed", "eager，重放"],
  lt_compiled: ["compiled", "编译"],
  lt_compiled_replayed: ["compiled, replayed", "编译，重放"],
  lt_elements: ["elements N", "元素个数 N"],
  lt_operations: ["operations", "运算次数"],
  lt_source: ["where times come from", "时间从哪里来"],
  lt_measured: ["measured", "实测"],
  lt_model: ["model", "模型"],
  lt_host: ["CPU", "CPU"],
  lt_device: ["card", "显卡"],
  lt_result: ["{total}, card busy {busy} %", "{total}，显卡忙 {busy}%"],
  lt_refused: ["not replayed: {why}", "没有重放：{why}"],
  lt_n_launches: ["{count} launches", "{count} 次启动"],
  lt_n_launches_one: ["1 launch", "1 次启动"],
  lt_n_kernels: ["{count} kernels", "{count} 个内核"],
  lt_n_kernels_one: ["1 kernel", "1 个内核"],
  lt_of_measured: [
    "Measured on {card}: what each launch takes the CPU, how long each kernel runs. When a kernel " +
      "starts follows from both.",
    "在 {card} 上实测：每次启动占用 CPU 多久，每个内核运行多久。内核何时开始由这两者推出。",
  ],
  lt_of_model: [
    "Model: kernels and bytes of a recorded call on a simulated card, in proportion for larger N; " +
      "figures of {of}. An eager " +
      "operator takes the CPU {operator}, a launch {launch}, guards {call}, a replay {replay}; a " +
      "kernel moves {bandwidth} TB/s and takes at least {shortest}, a product of matrices computes " +
      "{arithmetic} TFLOP/s.",
    "模型：内核与字节数来自模拟卡上录下的一次调用，N 更大时按比例放大；数值取自 {of}。eager 的一个运算占用 CPU {operator}，" +
      "一次启动 {launch}，守卫 {call}，一次重放 {replay}；内核的带宽为 {bandwidth} TB/s，至少要 {shortest}；矩阵乘法为 {arithmetic} TFLOP/s。",
  ],
  lt_ask: [
    "Eager mode is about to launch {kernels}, of {elements} elements. For how much of the time will " +
      "the card compute?",
    "eager 模式就要启动 {kernels}，元素个数为 {elements}。显卡有多少时间在计算？",
  ],
  lt_little: ["less than a third", "不到三分之一"],
  lt_half: ["about half", "一半左右"],
  lt_most: ["more than two thirds", "超过三分之二"],
  lt_belief_little: [
    "Launches are made while earlier kernels still run: at this size they hide behind them.",
    "前面的内核还在运行时，后面的启动已经完成：这么大的张量，启动藏得住。",
  ],
  lt_belief_most: [
    "A kernel of so few elements is done before the next one has been launched.",
    "元素这么少，下一次启动还没完成，内核早就算完了。",
  ],
  lt_done: ["{count} are done", "{count} 个已完成"],
  lt_done_one: ["1 is done", "1 个已完成"],
  lt_busy: [
    "{name} has made {launched} of {launches} launches, the card runs `{kernel}`",
    "{name}：已启动 {launched} / {launches} 次，显卡在运行 `{kernel}`",
  ],
  lt_busy_one: [
    "{name} has made its launch, the card runs `{kernel}`",
    "{name}：已启动，显卡在运行 `{kernel}`",
  ],
  lt_waits: [
    "{name} has made {launched} of {launches} launches, the card waits for the next one",
    "{name}：已启动 {launched} / {launches} 次，显卡在等下一次",
  ],
  lt_waits_one: [
    "{name} is about to launch, the card waits",
    "{name}：就要启动，显卡在等",
  ],
  lt_colon: [": ", "："],
  lt_and: ["; ", "；"],
  lt_stop: [".", "。"],
  lt_comma: [", ", "，"],
  lt_gain_compiled: ["compiling alone is {by} as fast", "只编译快 {by}"],
  lt_gain_eager_replayed: ["replaying alone {by}", "只重放快 {by}"],
  lt_gain_compiled_replayed: ["both {by}", "两者都用快 {by}"],
  lt_end: [
    "Eager mode takes {total}, of which the card computes {busy}; {gains}.",
    "eager 模式用 {total}，其中显卡计算 {busy}；{gains}。",
  ],
  lt_host_bound: [
    "The card waits for the CPU: fewer launches help, whichever way they are saved.",
    "显卡在等 CPU：启动少了就有用，不管怎么省下来的。",
  ],
  lt_card_bound: [
    "The CPU waits for the card: only what the kernels do can be saved, and a replay changes none.",
    "CPU 在等显卡：能省的只有内核做的事，而重放不改变任何内核。",
  ],
  lt_picture: ["{name}: {launches}, {kernels}, {result}", "{name}：{launches}，{kernels}，{result}"],
};
