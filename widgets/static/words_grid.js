// What GridView says; see words.js.

export const GRID_WORDS = {
  gv_title: ["What do the warps ask for?", "各个 warp 要了什么？"],
  gv_claim: [
    "32 threads run the same statement at once. Memory answers in sectors of 32 bytes: neighbours " +
      "share one, threads that lie apart have one each.",
    "32 个线程同时执行同一条语句。内存以 32 字节的扇区作答：相邻的线程共用一个，离得远的各用一个。",
  ],
  gv_key_read: ["thread that reads, bytes that are read", "在读的线程，被读的字节"],
  gv_key_write: ["thread that writes, bytes that are written", "在写的线程，被写的字节"],
  gv_key_never: ["carried, and not wanted", "搬来了，却没人要"],
  gv_kernel: ["kernel", "内核"],
  gv_requests: ["requests", "次请求"],
  gv_sectors: ["sectors", "个扇区"],
  gv_least: ["would do", "个就够"],
  gv_lost: ["turns lost to banks", "轮耗在存储体上"],
  gv_blocks: ["grid: {count} blocks of {threads} threads", "网格：{count} 个块，每块 {threads} 个线程"],
  gv_blocks_one: ["grid: 1 block of {threads} threads", "网格：1 个块，{threads} 个线程"],
  gv_watched: ["watched: block {block}", "观察的是第 {block} 块"],
  gv_warps: ["warps of the block", "这个块的 warp"],
  gv_lanes: ["threads of warp {warp}", "warp {warp} 的线程"],
  gv_lanes_any: ["threads of a warp", "一个 warp 的线程"],
  gv_memory: ["{array}: sectors of 32 bytes", "{array}：32 字节的扇区"],
  gv_shared: ["{array}: 32 banks of shared memory", "{array}：共享内存的 32 个存储体"],
  gv_memory_any: ["memory", "内存"],
  gv_occupancy: [
    "up to {percent} % of a multiprocessor’s threads, as far as registers allow",
    "最多占多处理器线程数的 {percent}%，前提是寄存器够用",
  ],
  gv_code: ["the kernel’s text", "内核的文本"],
  gv_ask: [
    "Warp {warp} is about to ask for {array}. How many sectors of 32 bytes will carry what it wants?",
    "warp {warp} 就要读写 {array}。要几个 32 字节的扇区才能搬完它要的？",
  ],
  gv_rest: ["`{name}` is about to run.", "`{name}` 就要开始。"],
  gv_read: ["Warp {warp}: {lanes} read `{array}`.", "warp {warp}：{lanes}读 `{array}`。"],
  gv_write: ["Warp {warp}: {lanes} write `{array}`.", "warp {warp}：{lanes}写 `{array}`。"],
  gv_coalesced: [
    "{bytes} bytes in {sectors}: as few as can be, for the threads are neighbours.",
    "{bytes} 字节，{sectors}：不能再少了，因为线程是相邻的。",
  ],
  gv_same: [
    "All want the same {bytes} bytes: one sector answers them all.",
    "大家要的是同样的 {bytes} 字节：一个扇区就答复了所有线程。",
  ],
  gv_scattered: [
    "{bytes} bytes in {sectors}, where {least} would do: the rest of each is carried in vain.",
    "{bytes} 字节，{sectors}，其实 {least} 个就够：每个扇区里其余的都白搬了。",
  ],
  gv_banks: [
    "Each word lies in a bank of its own, or is the same for all: one turn.",
    "每个字各在一个存储体里，或者大家要的是同一个字：一轮就够。",
  ],
  gv_conflict: [
    "Different words lie in one bank: the warp waits for {turns} turns.",
    "不同的字落在同一个存储体里：这个 warp 要等 {turns} 轮。",
  ],
  gv_end: ["In all {sectors}, as few as can be.", "一共 {sectors}，不能再少了。"],
  gv_end_more: ["In all {sectors}, where {least} would do.", "一共 {sectors}，其实 {least} 个就够。"],
  gv_end_lost: ["Banks cost {lost} turns.", "存储体冲突多用了 {lost} 轮。"],
  gv_hidden: ["{count} more requests are not shown.", "还有 {count} 次请求没有显示。"],
  belief_sector_each: [
    "A sector holds eight neighbouring float32 values, so threads share it.",
    "一个扇区装得下八个相邻的 float32，所以线程共用它。",
  ],
  belief_one_sector: [
    "One sector is 32 bytes, and 32 threads want more than that.",
    "一个扇区只有 32 字节，32 个线程要的比这多。",
  ],
  n_threads: ["{count} threads", "{count} 个线程"],
  n_threads_one: ["1 thread", "1 个线程"],
  n_sectors: ["{count} sectors", "{count} 个扇区"],
  n_sectors_one: ["1 sector", "1 个扇区"],
};
