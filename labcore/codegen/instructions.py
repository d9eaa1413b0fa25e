"""What one x86 instruction does: to how many elements, in how wide a register, with which memory.

In: instructions in Intel's syntax, in the order of the text.  Out: `Instruction`s.
An access is a load or a store of an array; constants that LLVM put beside the code, and registers
that it had to put aside on the stack, are called that.
Invariant: what a mnemonic does not say is not guessed: `op` is "other" then, `lanes` 0.  Other
processors' instructions are all "other".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MEMORY = re.compile(r"(byte|word|dword|qword|xmmword|ymmword|zmmword) ptr (?:\w+:)?\[([^\]]+)\]")
_CONSTANT = re.compile(r"(?:movabs|lea) (\w+), .*\.LCPI")
_TO_REGISTER = re.compile(r"\w+ (r\w+|e\w\w)\b")
_REGISTER = re.compile(r"\b([xyz])mm\d+")
BITS = {"byte": 8, "word": 16, "dword": 32, "qword": 64,
        "xmmword": 128, "ymmword": 256, "zmmword": 512}
_CONVERTS = re.compile(r"v?cvtt?(ps|pd|dq|qq|udq)2|v?pmov[sz]x(b|w|d)")
_READS = {"ps": 32, "pd": 64, "dq": 32, "udq": 32, "qq": 64, "b": 8, "w": 16, "d": 32}
WIDTH = {"x": 128, "y": 256, "z": 512}
# The first pattern that the mnemonic begins with, without the "v" of vectors, tells the kind.
OPS = [
    (r"fn?m(add|sub)(add|sub)?\d", "fma"),
    (r"(add|hadd|padd)", "add"),
    (r"(sub|psub)", "subtract"),
    (r"(mul|pmul|imul)", "multiply"),
    (r"(div|idiv)", "divide"),
    (r"sqrt", "root"),
    (r"(max|pmax)", "maximum"),
    (r"(min|pmin)", "minimum"),
    (r"(cmp(?!xchg)|ucomis|comis|pcmp|test|ptest|fpclass)", "compare"),
    (r"(blend|pblend|cmov|set)", "choose"),
    (r"cvt", "convert"),
    (r"(rndscale|round|reduce)", "round"),
    (r"(broadcast|pbroadcast)", "spread"),
    (r"(extract|insert|perm|shuf|unpck|punpck|pack|pshuf|palign|align|movhl|movlh|movshdup)",
     "shuffle"),
    (r"(and|or|xor|pand|por|pxor|not|ternlog|pternlog)", "logic"),
    (r"(sh[lr]|sa[lr]|psll|psrl|psra|scalef|getexp|getmant)", "shift"),
    (r"(mov|pmov|lddqu|gather)", "move"),
    (r"(j\w+|call|ret)", "jump"),
    (r"(lea|inc|dec|neg|push|pop|cdq|cqo|zeroupper|nop)", "bookkeeping"),
]  # fmt: skip
ARITHMETIC = ("add", "subtract", "multiply", "divide", "root", "maximum", "minimum", "fma")


@dataclass(frozen=True)
class Instruction:
    """`line`: of the kernel's text, 0 for none. `lanes`: how many elements it works on at once, 0
    where it is about addresses and counters. `bits`: of its vector register, 0 without. `access`:
    "load", "store", "constant", "stack" or "". `target`: where it may jump to."""

    text: str
    line: int
    op: str
    lanes: int = 0
    bits: int = 0
    access: str = ""
    target: str = ""

    @property
    def mnemonic(self) -> str:
        return self.text.split(" ")[0]


class Reader:
    """Reads instructions in order, as it must know which registers point to constants.
    `item_bits` has the width of the elements that lines of the kernel access."""

    def __init__(self, item_bits: Mapping[int, int]) -> None:
        self.item_bits = item_bits
        self.constants: set[str] = set()  # registers that have the address of a constant

    def read(self, text: str, line: int) -> Instruction:
        mnemonic, _, operands = text.partition(" ")
        op = _op(mnemonic)
        found = _REGISTER.findall(operands)
        bits = max((WIDTH[kind] for kind in found), default=0)
        memory = _MEMORY.search(operands) if op != "bookkeeping" else None
        access = self._access(op, operands, memory)
        lanes = self._lanes(mnemonic, line, bits, memory if access in ("load", "store") else None)
        self._note(text)
        target = operands if op == "jump" and operands.startswith(".") else ""
        scalar = bits and lanes == 1
        return Instruction(text, line, op, lanes, 0 if scalar else bits, access, target)

    def _access(self, op: str, operands: str, memory: re.Match[str] | None) -> str:
        if memory is None:
            return ""
        names = {_whole(name) for name in re.findall(r"[a-z]\w*", memory[2])}
        if "rip" in names or ".LCPI" in memory[2] or names & self.constants:
            return "constant"
        if "rsp" in names:
            return "stack"
        return "store" if operands.startswith(memory[0]) and op != "compare" else "load"

    def _lanes(self, mnemonic: str, line: int, bits: int, memory: re.Match[str] | None) -> int:
        """Elements at once: by the mnemonic's ending, or by what the kernel's line accesses."""
        wide = _element(mnemonic)
        spread = memory is not None and ("broadcast" in mnemonic or "{1to" in memory.string)
        if memory is not None and not spread:
            item = self.item_bits.get(line) or wide
            return max(1, BITS[memory[1]] // item) if item else 0
        if not bits:
            return 0
        if mnemonic.endswith(("ss", "sd")) and "extract" not in mnemonic:
            return 1
        return bits // wide if wide else 0

    def _note(self, text: str) -> None:
        if constant := _CONSTANT.match(text):
            self.constants.add(_whole(constant[1]))
        elif written := _TO_REGISTER.match(text):
            self.constants.discard(_whole(written[1]))


def _whole(register: str) -> str:
    """The 64 bits that a register's name is a part of: writing to `esi` changes `rsi`."""
    return re.sub(r"^e(?=\w\w$)", "r", re.sub(r"^(r\d+)[dwb]$", r"\1", register))


def _op(mnemonic: str) -> str:
    bare = mnemonic[1:] if mnemonic.startswith("v") else mnemonic
    return next((op for pattern, op in OPS if re.match(pattern, bare)), "other")


def _element(mnemonic: str) -> int:
    """The bits of an element, of what is read where that differs, as far as the mnemonic tells."""
    if read := _CONVERTS.match(mnemonic):
        return _READS[read[1] or read[2]]
    if mnemonic.endswith(("ps", "ss")):
        return 32
    if mnemonic.endswith(("pd", "sd")):
        return 64
    if moved := re.match(r"vmovdq[au](8|16|32|64)$", mnemonic):
        return int(moved[1])
    integer = re.match(r"vp\w+?([bwdq])$", mnemonic)
    return {"b": 8, "w": 16, "d": 32, "q": 64}[integer[1]] if integer else 0
