"""Machine code as text: its loops, what each instruction does, the kernel's line it comes from."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

import labcore as torch
from labcore import trace
from labcore.codegen.assembly import assembly_of, parsed
from labcore.codegen.instructions import Reader

KERNEL = '''\
def numba_fused_add_mul_relu_0(x: "float32*", bias: "float32*", mul: "float32*"):
    for i0 in range(4096):
        tmp0 = x[i0]
        tmp1 = bias[i0]
        tmp2 = tmp0 + tmp1
        tmp3 = relu(tmp2)
        mul[i0] = tmp3
'''
TEXT = """\
\t.globl\tkernel
kernel:
.Lfunc_begin0:
\t.loc\t1 1 0
\txor\teax, eax
\tvxorps\txmm0, xmm0, xmm0
\t.p2align\t4
.LBB0_1:
\t.loc\t1 3 1 prologue_end is_stmt 1
\tvmovups\tymm1, ymmword ptr [rdx + 4*rax]
\tvmovups\tymm2, ymmword ptr [rdx + 4*rax + 32]
\t.loc\t1 5 1
\tvaddps\tymm1, ymm1, ymmword ptr [rcx + 4*rax]
\tvaddps\tymm2, ymm2, ymmword ptr [rcx + 4*rax + 32]
\t.loc\t1 6 1
\tvmaxps\tymm1, ymm0, ymm1
\tvmaxps\tymm2, ymm0, ymm2
\t.loc\t1 7 1
\tvmovups\tymmword ptr [r8 + 4*rax], ymm1
\tvmovups\tymmword ptr [r8 + 4*rax + 32], ymm2
\t.loc\t1 2 1
\tadd\trax, 16
\tcmp\trax, 4096
\tjne\t.LBB0_1
\t.loc\t1 0 0
\tvzeroupper
\tret
.Lfunc_end0:
\t.size\tkernel, .Lfunc_end0-kernel
other:
\tret
"""
on_x86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="instructions of x86"
)


def block(x, bias):
    return torch.relu(x + bias) * 2


def kernels_of(fn, *args):
    with trace.record() as story:
        torch.compile(fn)(*args)
    return [kernel.source for kernel in story.of(trace.KernelReady)]


def test_the_loop_is_found_and_counted():
    assembly = parsed(TEXT, KERNEL, True)
    before, loop, after = assembly.sections
    assert (before.loop, loop.loop, after.loop) == (False, True, False)
    assert assembly.bodies == [loop]
    assert (loop.label, loop.turn, loop.lanes, loop.bits) == (".LBB0_1", 16, 8, 256)
    counts = [loop.each(kind) for kind in ("load", "store", "add", "maximum", "fma")]
    assert counts == [2, 1, 1, 1, 0]


def test_copies_and_shuffles_say_nothing_of_how_wide_the_work_is():
    more = "\tvmovaps\tymm7, ymm3\n\tvextractf128\txmm4, ymm3, 1\n\tjne\t.LBB0_1"
    scalar = TEXT.replace("ymmword", "dword").replace("ps\t", "ss\t").replace("ups\t", "ss\t")
    assembly = parsed(scalar.replace("\tjne\t.LBB0_1", more).replace("ymm", "xmm"), KERNEL, True)
    (loop,) = assembly.bodies
    assert (loop.turn, loop.lanes, loop.bits) == (2, 1, 0)


def test_each_instruction_has_its_line():
    assembly = parsed(TEXT, KERNEL, True)
    told = [(i.line, i.mnemonic) for section in assembly.sections for i in section.instructions]
    assert told == [
        (1, "xor"), (1, "vxorps"),
        (3, "vmovups"), (3, "vmovups"), (5, "vaddps"), (5, "vaddps"), (6, "vmaxps"), (6, "vmaxps"),
        (7, "vmovups"), (7, "vmovups"), (2, "add"), (2, "cmp"), (2, "jne"),
        (0, "vzeroupper"), (0, "ret"),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), [
    ("vaddps ymm1, ymm1, ymmword ptr [rcx + 4*rax]", ("add", 8, 256, "load")),
    ("vmovups zmmword ptr [r8], zmm1", ("move", 16, 512, "store")),
    ("vmovntps ymmword ptr [r8], ymm1", ("move", 8, 256, "store")),
    ("vmulsd xmm0, xmm0, qword ptr [rdi]", ("multiply", 1, 0, "load")),
    ("vmulpd ymm0, ymm0, ymmword ptr [rip + .LCPI0_3]", ("multiply", 4, 256, "constant")),
    ("vmovaps xmmword ptr [rsp + 16], xmm2", ("move", 4, 128, "stack")),
    ("vfmadd213ps zmm0, zmm1, dword ptr [rdi]{1to16}", ("fma", 16, 512, "load")),
    ("vfnmadd231sd xmm0, xmm1, xmm2", ("fma", 1, 0, "")),
    ("vcvtps2pd ymm0, xmmword ptr [rdi]", ("convert", 4, 256, "load")),
    ("vpmovzxbd ymm0, qword ptr [rdi]", ("move", 8, 256, "load")),
    ("vpaddd ymm0, ymm1, ymm2", ("add", 8, 256, "")),
    ("vpaddq ymm0, ymm1, ymm2", ("add", 4, 256, "")),
    ("vdivps xmm0, xmm1, xmm2", ("divide", 4, 128, "")),
    ("add rax, 64", ("add", 0, 0, "")),
    ("lea rax, [rcx + 16]", ("bookkeeping", 0, 0, "")),
    ("vucomiss xmm0, dword ptr [rdi]", ("compare", 1, 0, "load")),
    ("vmovdqu8 zmmword ptr [rdi], zmm1", ("move", 64, 512, "store")),
    ("vextractf128 xmm4, ymm3, 1", ("shuffle", 0, 256, "")),
    ("setae byte ptr [r8 + rsi]", ("choose", 0, 0, "store")),
    ("fadd v0.4s, v0.4s, v1.4s", ("other", 0, 0, "")),
])  # fmt: skip
def test_what_an_instruction_does(text, wanted):
    found = Reader({}).read(text, 1)
    assert (found.op, found.lanes, found.bits, found.access) == wanted


def test_a_constant_whose_address_is_in_a_register_is_no_array():
    reader = Reader({})
    reader.read("movabs r11, offset .LCPI0_4", 1)
    assert reader.read("vbroadcastss ymm9, dword ptr [r11]", 1).access == "constant"
    reader.read("xor r11d, r11d", 1)  # the lower half is that register, too
    assert reader.read("vbroadcastss ymm9, dword ptr [r11]", 1).access == "load"
    reader.read("movabs rsi, offset .LCPI0_0", 1)
    reader.read("xor esi, esi", 1)
    assert reader.read("vaddss xmm3, xmm0, dword ptr [rdx + 4*rsi]", 1).access == "load"


def test_a_load_is_as_wide_as_the_elements_of_its_line():
    reader = Reader({3: 8, 4: 32})
    assert reader.read("vmovdqu ymm0, ymmword ptr [rdi]", 3).lanes == 32
    assert reader.read("vmovdqu ymm0, ymmword ptr [rdi]", 4).lanes == 8


@on_x86
@pytest.mark.parametrize("fn", [
    block,
    lambda x, bias: torch.softmax(x.reshape(64, 64), -1),
    lambda x, bias: (x.reshape(64, 64) * x.reshape(64, 64)).sum(0),
    lambda x, bias: torch.where(x > 0, x.double(), bias.exp()),
    lambda x, bias: x.cumsum(0),
])
def test_the_build_with_lines_has_the_instructions_of_the_one_that_runs(fn):
    for source in kernels_of(fn, torch.ones(4096), torch.ones(4096)):
        assembly = assembly_of(source)
        assert assembly.same
        known = range(len(source.splitlines()) + 1)
        assert all(i.line in known for s in assembly.sections for i in s.instructions)
        assert any(i.line in assembly.lines for s in assembly.bodies for i in s.instructions)


@on_x86
def test_the_block_loads_twice_stores_once_and_adds_twice():
    (source,) = kernels_of(block, torch.ones(4096), torch.ones(4096))
    (loop,) = assembly_of(source).bodies
    assert loop.loop and loop.turn >= loop.lanes == loop.bits // 32 >= 4
    counts = [loop.each(kind) for kind in ("load", "store", "add", "multiply", "maximum")]
    assert counts == [2, 1, 2, 0, 1]  # x * 2 is x + x, and relu the larger of x and 0


@on_x86
def test_without_vectors_one_element_a_turn():
    (source,) = kernels_of(block, torch.ones(4096), torch.ones(4096))
    (loop,) = assembly_of(source, vectorize=False).bodies
    assert (loop.turn, loop.lanes, loop.bits) == (1, 1, 0)
    assert len(loop.instructions) < 12
    assert assembly_of(source).bodies[0].lanes > 1  # LLVM makes vectors again


WIDE = {
    "NUMBA_CPU_NAME": "emeraldrapids",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+avx512f,+avx512vl,+avx512dq,+avx512bw",
}


@on_x86
def test_processors_with_512_bits_use_them():
    """Whatever numba has compiled in this process, and for what vectors."""
    text = (
        "import numba; numba.njit(lambda x: x + 1)(1.0)\n"
        "from labcore.codegen.assembly import assembly_of\n"
        f"print(assembly_of({KERNEL!r}).bodies[0].bits)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text],
        env={**os.environ, **WIDE},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "512"


@on_x86
@pytest.mark.parametrize("length", [16, 64, 256])
def test_a_row_of_known_length_is_worked_on_in_vectors(length):
    text = f'''\
def k(x: "float32*", out: "float32*"):
    for i0 in range(1000):
        top = float32(-inf)
        for i1 in range({length}):
            top = rmax(top, x[{length}*i0 + i1])
        for i1 in range({length}):
            out[{length}*i0 + i1] = x[{length}*i0 + i1] - top
'''
    code = [i for section in assembly_of(text).sections for i in section.instructions]
    for op in ("maximum", "subtract"):
        assert max(i.lanes for i in code if i.op == op) > 1


@on_x86
@pytest.mark.parametrize("word", ["rmax", "rmin"])
def test_which_is_larger_is_not_asked_by_a_jump(word):
    """Signs cannot be foreseen: rows of 2 took 12 times as long when each step branched on one."""
    text = f'''\
def k(x: "float32*", out: "float32*", s1: "int64", s0: "int64"):
    for i0 in range(s0):
        top = float32(0.0)
        for i1 in range(s1):
            top = {word}(top, x[s1*i0 + i1])
        out[i0] = top
'''
    code = [i for section in assembly_of(text).sections for i in section.instructions]
    assert {"maximum", "minimum"} & {i.op for i in code}
    assert not {"js", "jns"} & {i.mnemonic for i in code}
