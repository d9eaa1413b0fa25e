"""Several threads for one kernel: the pool of workers, and the one function that hands out work.

In: a kernel's address, the address of its arguments, the turns of its loop, and how much work they
are.  Out: the kernel has run all of them, once each.
A worker takes the next piece of the loop, `kernel(arguments, begin, end)`, until none is left; so
does the caller, who then waits for the workers that are still at it. A worker that wakes up late
finds nothing to do, and nobody waits for it. Each turn writes what no other turn reads, so the
result is the same for any number of threads; sums are cut into parts, which are turns, by sizes.
Invariants: there are never more threads at work than `set_num_threads` says. Who finds the workers
taken, because another Python thread's kernel has them, works alone: that makes any number of
callers safe, and not one thread more than there are callers. A fork's child has no workers until it
needs some.
The text is LLVM's: kernels come here without the interpreter's lock, so Python cannot do it.
Inductor's C++ kernels leave this to OpenMP, whose workers spin for milliseconds after each loop,
in the way of BLAS's own.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

from ..tensor.threads import cell

# A thread is worth waking for work of so many elements: x + y of 65,536 takes 8 us on one core and
# 15 us on two, of 262,144 130 us and 65 us; tanh breaks even at a fourth of that.
LEAST = 131072
PIECES = 4  # for each thread, so that one which is held up holds nobody up for long
STEP = 64  # turns; pieces are multiples of it, so that two threads write no cache line in common

SYMBOLS = {
    "pthread_create": "i32 @pthread_create(ptr, ptr, ptr, ptr)",
    "pthread_detach": "i32 @pthread_detach(ptr)",
    "pthread_mutex_init": "i32 @pthread_mutex_init(ptr, ptr)",
    "pthread_mutex_lock": "i32 @pthread_mutex_lock(ptr)",
    "pthread_mutex_trylock": "i32 @pthread_mutex_trylock(ptr)",
    "pthread_mutex_unlock": "i32 @pthread_mutex_unlock(ptr)",
    "pthread_cond_init": "i32 @pthread_cond_init(ptr, ptr)",
    "pthread_cond_signal": "i32 @pthread_cond_signal(ptr)",
    "pthread_cond_wait": "i32 @pthread_cond_wait(ptr, ptr)",
}

STATE = """
@threads = global ptr null                ; where the number of threads stands
@callers = internal global [128 x i8] zeroinitializer, align 64  ; mutex: who has the workers
@state = internal global [128 x i8] zeroinitializer, align 64    ; mutex: of all below but @next
@wake = internal global [128 x i8] zeroinitializer, align 64     ; condition: @wanted is not 0
@idle = internal global [128 x i8] zeroinitializer, align 64     ; condition: @working is 0
@started = internal global i64 0          ; workers there are
@wanted = internal global i64 0           ; workers that may still join in
@working = internal global i64 0          ; workers that have
@kernel = internal global ptr null
@arguments = internal global ptr null
@turns = internal global i64 0
@piece = internal global i64 0            ; turns at a time
@next = internal global i64 0, align 64   ; the first turn that nobody has taken
@status = internal global i32 0           ; of a kernel that gave up
"""

# A new pool; also in a fork's child, where the parent's workers are not, and any lock may be taken.
RESET = """
define void @reset() {
  call i32 @pthread_mutex_init(ptr @callers, ptr null)
  call i32 @pthread_mutex_init(ptr @state, ptr null)
  call i32 @pthread_cond_init(ptr @wake, ptr null)
  call i32 @pthread_cond_init(ptr @idle, ptr null)
  store i64 0, ptr @started
  store i64 0, ptr @wanted
  store i64 0, ptr @working
  ret void
}
"""

# Piece after piece, until none is left or one of them fails.
TAKE_PIECES = """
define internal void @take_pieces() {
entry:
  %kernel = load ptr, ptr @kernel
  %arguments = load ptr, ptr @arguments
  %turns = load i64, ptr @turns
  %piece = load i64, ptr @piece
  br label %take
take:
  %begin = atomicrmw add ptr @next, i64 %piece monotonic
  %some = icmp slt i64 %begin, %turns
  br i1 %some, label %run, label %out
run:
  %after = add i64 %begin, %piece
  %last = icmp slt i64 %turns, %after
  %end = select i1 %last, i64 %turns, i64 %after
  %status = call i32 %kernel(ptr %arguments, i64 %begin, i64 %end)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %take, label %failed
failed:
  store atomic i32 %status, ptr @status monotonic, align 4
  store atomic i64 %turns, ptr @next monotonic, align 64
  br label %out
out:
  ret void
}
"""

WORKER = """
define internal ptr @worker(ptr %nothing) {
entry:
  call i32 @pthread_mutex_lock(ptr @state)
  br label %look
look:
  %wanted = load i64, ptr @wanted
  %none = icmp eq i64 %wanted, 0
  br i1 %none, label %sleep, label %join
sleep:
  call i32 @pthread_cond_wait(ptr @wake, ptr @state)
  br label %look
join:
  %fewer = sub i64 %wanted, 1
  store i64 %fewer, ptr @wanted
  %others = load i64, ptr @working
  %more = add i64 %others, 1
  store i64 %more, ptr @working
  call i32 @pthread_mutex_unlock(ptr @state)
  call void @take_pieces()
  call i32 @pthread_mutex_lock(ptr @state)
  %with.me = load i64, ptr @working
  %left = sub i64 %with.me, 1
  store i64 %left, ptr @working
  %last = icmp eq i64 %left, 0
  br i1 %last, label %tell, label %look
tell:
  call i32 @pthread_cond_signal(ptr @idle)
  br label %look
}
"""

# The kernel's status: 0, or that of a piece that failed. `work` is about how many elements the
# turns are.
PARALLEL = f"""
define i32 @parallel(ptr %kernel, ptr %arguments, i64 %turns, i64 %work) {{
entry:
  %thread = alloca i64
  %at = load ptr, ptr @threads
  %allowed = load atomic i64, ptr %at monotonic, align 8
  %worth = udiv i64 %work, {LEAST}
  %few = icmp ult i64 %worth, %allowed
  %count = select i1 %few, i64 %worth, i64 %allowed
  %several = icmp ugt i64 %count, 1
  br i1 %several, label %ask, label %alone
ask:
  %taken = call i32 @pthread_mutex_trylock(ptr @callers)
  %mine = icmp eq i32 %taken, 0
  br i1 %mine, label %publish, label %alone
alone:
  %result = call i32 %kernel(ptr %arguments, i64 0, i64 %turns)
  ret i32 %result
publish:
  call i32 @pthread_mutex_lock(ptr @state)
  store ptr %kernel, ptr @kernel
  store ptr %arguments, ptr @arguments
  store i64 %turns, ptr @turns
  %pieces = mul i64 %count, {PIECES}
  %share = udiv i64 %turns, %pieces
  %lines = udiv i64 %share, {STEP}
  %whole = mul i64 %lines, {STEP}
  %short = icmp eq i64 %whole, 0
  %some = select i1 %short, i64 %share, i64 %whole
  %one = icmp eq i64 %some, 0
  %piece = select i1 %one, i64 1, i64 %some
  store i64 %piece, ptr @piece
  store i64 0, ptr @next
  store i32 0, ptr @status
  %helpers = sub i64 %count, 1
  br label %staff
staff:
  %here = load i64, ptr @started
  %enough = icmp uge i64 %here, %helpers
  br i1 %enough, label %call, label %hire
hire:
  %refused = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr null)
  %hired = icmp eq i32 %refused, 0
  br i1 %hired, label %welcome, label %call
welcome:
  %now = add i64 %here, 1
  store i64 %now, ptr @started
  br label %staff
call:
  store i64 %helpers, ptr @wanted
  call i32 @pthread_mutex_unlock(ptr @state)
  br label %signal
signal:
  %k = phi i64 [ %helpers, %call ], [ %k.less, %signal ]
  call i32 @pthread_cond_signal(ptr @wake)
  %k.less = sub i64 %k, 1
  %again = icmp ne i64 %k.less, 0
  br i1 %again, label %signal, label %work.too
work.too:
  call void @take_pieces()
  call i32 @pthread_mutex_lock(ptr @state)
  store i64 0, ptr @wanted
  br label %look
look:
  %busy = load i64, ptr @working
  %free = icmp eq i64 %busy, 0
  br i1 %free, label %done, label %wait
wait:
  call i32 @pthread_cond_wait(ptr @idle, ptr @state)
  br label %look
done:
  %status = load i32, ptr @status
  call i32 @pthread_mutex_unlock(ptr @state)
  call i32 @pthread_mutex_unlock(ptr @callers)
  ret i32 %status
}}
"""


@cache
def driver(binding: Any, target: Any) -> int:
    """The address of `parallel`, made ready for this process."""
    declared = "".join(f"declare {text}\n" for text in SYMBOLS.values())
    text = STATE + declared + RESET + TAKE_PIECES + WORKER + PARALLEL
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(text), target.create_target_machine(opt=2, jit=True)
    )
    engine.finalize_object()
    at = engine.get_global_value_address("threads")
    ctypes.c_void_p.from_address(at).value = ctypes.addressof(cell)
    reset = ctypes.CFUNCTYPE(None)(engine.get_function_address("reset"))
    reset()
    os.register_at_fork(after_in_child=reset)
    address = engine.get_function_address("parallel")
    engine.detach()  # never freed: workers sleep in this code to the very end of the process
    return address
