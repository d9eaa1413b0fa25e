"""What numba cannot say of pointers: that nobody writes there, and words of several elements.

In: a pointer, the index of an element, and a thread's own array.  Out: LLVM for one load or store.
Invariant: the address of a word is a multiple of its size: `aligned` asks that of a pointer, and
the index is a multiple of the elements that are moved.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.cuda import extending as cuda_extending, types as cuda_types
from numba.cuda.extending import intrinsic

from .side_by_side import LOADS, STORES

types: Any = cuda_types
extending: Any = cuda_extending
WORD, ADDRESS = ir.IntType(32), ir.IntType(64)
BYTES = WORD.width // 8


class Constant(types.CPointer):
    """A pointer to what no one writes while the kernel runs: its loads may be made ahead of stores.
    """

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype)
        self.name: str = f"const {dtype}*"


extending.register_model(Constant)(extending.core_models.PointerModel)


def _never_written(builder: Any, load: Any) -> Any:
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


@extending.lower_builtin(operator.getitem, Constant, types.Integer)
def _load_constant(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, index = args
    return _never_written(builder, builder.load(builder.gep(pointer, [index])))


def _size(element: Any) -> int:
    """Bytes of an element."""
    return int(element.bitwidth) // 8


def _moved(context: Any, pointer: Any, count: int) -> tuple[Any, Any, int]:
    """The type of what is moved at once, words of 32 bits, or of 64 for larger elements; that of
    the elements of each word; and how many those are."""
    size = _size(pointer.dtype)
    word = max(BYTES, size)
    element = context.get_data_type(pointer.dtype)
    words = ir.VectorType(ir.IntType(8 * word), count * size // word)
    return words, ir.VectorType(element, word // size), word // size


def _at(builder: Any, pointer: Any, index: Any, kind: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [index]), kind.as_pointer())


def _registers(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Where an array of a thread's own begins."""
    return context.make_array(kind)(context, builder, array).data


def _place(k: int) -> Any:
    return ir.Constant(WORD, k)


def _load(count: int) -> Any:
    """So many elements of an array, from an index on, into a thread's own array, from another one
    on."""

    def load(context: Any, pointer: Any, index: Any, array: Any, start: Any) -> Any:
        def build(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
            words, elements, each = _moved(ctx, pointer, count)
            size = count * _size(pointer.dtype)
            found = builder.load(_at(builder, args[0], args[1], words), align=size)
            if isinstance(pointer, Constant):
                _never_written(builder, found)
            target = _registers(ctx, builder, array, args[2])
            for k in range(count):
                word = builder.extract_element(found, _place(k // each))
                element = builder.extract_element(
                    builder.bitcast(word, elements), _place(k % each))
                where = builder.add(args[3], ir.Constant(args[3].type, k))
                builder.store(element, builder.gep(target, [where]))
            return ctx.get_dummy_value()

        return types.void(pointer, index, array, start), build

    return intrinsic(load)


def _store(count: int) -> Any:
    """The other way."""

    def store(context: Any, pointer: Any, index: Any, array: Any, start: Any) -> Any:
        def build(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
            words, elements, each = _moved(ctx, pointer, count)
            given = ir.Constant(words, ir.Undefined)
            source = _registers(ctx, builder, array, args[2])
            for first in range(0, count, each):
                word = ir.Constant(elements, ir.Undefined)
                for k in range(each):
                    where = builder.add(args[3], ir.Constant(args[3].type, first + k))
                    element = builder.load(builder.gep(source, [where]))
                    word = builder.insert_element(word, element, _place(k))
                word = builder.bitcast(word, words.element)
                given = builder.insert_element(given, word, _place(first // each))
            size = count * _size(pointer.dtype)
            builder.store(given, _at(builder, args[0], args[1], words), align=size)
            return ctx.get_dummy_value()

        return types.void(pointer, index, array, start), build

    return intrinsic(store)


def _aligned(context: Any, pointer: Any, size: Any) -> Any:
    def build(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        size = builder.sext(args[1], ADDRESS) if args[1].type.width < ADDRESS.width else args[1]
        rest = builder.and_(builder.ptrtoint(args[0], ADDRESS),
                            builder.sub(size, ir.Constant(ADDRESS, 1)))
        return builder.icmp_unsigned("==", rest, ir.Constant(ADDRESS, 0))

    return types.boolean(pointer, types.int64), build


WORDS: dict[str, Any] = {
    **{name: _load(count) for count, name in LOADS.items()},
    **{name: _store(count) for count, name in STORES.items()},
    "aligned": intrinsic(_aligned),
}
