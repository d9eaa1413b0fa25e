"""The templates of expressions, by the type they have.

T tensor, Z tensor of one number, I int, F float, S str, Q bool, L list of tensors, K list of ints,
D dict from str to tensor, N a named pair, M dict from int to int, U set of ints, V set of strs,
TT pair of tensors, W deque of ints, CT Counter of strs, B Bag (a list), R Record (a dict), O Box,
P Point (a dataclass), E exception, FN function from tensor to tensor, GEN iterator of tensors, X
any.
"""

from __future__ import annotations

from .writer import Template

LEAVES: dict[str, tuple[str, ...]] = {
    "T": ("torch.ones(2)", "WEIGHT"),
    "Z": ("torch.tensor(2.0)",),
    "I": ("0", "1", "2", "3", "-1"),
    "F": ("0.5", "2.0", "-0.0"),
    "S": ("'a'", "'b'", "'ab'", "''"),
    "Q": ("True", "False"),
    "L": ("[]", "STOCK"),
    "K": ("[]", "[1, 2]", "NUMBERS"),
    "D": ("{}", "TABLE"),
    "M": ("{}", "{1: 2}", "CACHE"),
    "U": ("set()", "SEEN"),
    "V": ("set()", "{'a', 'b'}", "WORDS"),
    "CT": ("collections.Counter()", "TALLY"),
    "B": ("Bag()", "BAG"),
    "R": ("Record()", "RECORD"),
    "TT": ("(WEIGHT, WEIGHT)", "(torch.ones(2), WEIGHT)"),
    "W": ("collections.deque()", "QUEUE"),
    "N": ("PAIR",),
    "O": ("SHARED",),
    "P": ("Point(WEIGHT)", "POINT"),
    "E": ("ValueError('leaf')", "KeyError('leaf')", "Custom(1)"),
    "FN": ("double", "torch.relu", "SHARED.scale"),
    "GEN": ("iter(STOCK)", "gen(WEIGHT, 2)"),
}

_TEXTS: dict[str, str] = {
    "T": """
        @B.first() | raise @B[@I] | @R[@S] | @R['a'] | @R.none | sum(@B, @T) | Row((@T, @I)).first
        4 @T + @T | @T - @T | @T * @T | 2 @T * @I | @T * @F | (@T).relu() | -(@T) | abs(@T)
        torch.maximum(@T, @T) | torch.where(@T > 0, @T, @T) | 3 @FN(@T) | @T / 2 | (@T).clone()
        raise 2 @L[@I] | raise 2 @D['a'] | raise @D[@S] | 2 @D.get('a', @T) | @TT[@I % 2] | 2 @O.t
        @O.twice() | @O.total | @P.t | @P.moved(@I).t | sum(@L, @T)
        sum([@T{$a:T} for $a in @L], @T)
        2 (@T if @Q else @T) | (lambda $a, $b=@I: @T{$a:T,$b:I})(@T) | next(iter(@L), @T)
        functools.reduce(lambda $a, $b: $a + $b, @L, @T) | break (@Z and @T) | @T * @Z
        (@T).detach() | (@T).view(-1) | (@T)[0] + @T | @T * len(@L) | (@T).clone().mul_(@F)
        torch.stack(@TT).sum(0) | torch.cat(@TT)[:2] | sum(@GEN, @T) | raise list(@GEN)[-1]
        @O(@T) | break observe(@T) | star(@T, *@L, k=@I) | star(**@D, k=@I) | operator.add(@T, @T)
        functools.partial(add, @T)(@T) | attempt(@T, @I) | guarded(@T, @I) | nests(@T, @I)
        break max(@TT, key=lambda $a: $a.sum().item()) | ($a := @T) + $a | @I and @T or @T
        ($a[0] if ($a := @L) else @T) | deep(@T, @I % 4) | (@T).add_(1) | (@T).new_zeros(2)
        make(@I)(@T) | add(@T, b=@T) | add(b=@T, a=@T) | cached(@T) | raise getattr(@O, 'none')
        getattr(@O, 't') | (@O + @T).t | Sub(@T, @I).twice() | Box.twice(@O) | managed(@T, @I)
        raise helper(@T, @I) | 2 helper(@T, @I) | other(@T, k=@I) | 2 other(@T) | dispatch(@X)
        [@T{$a:T} for $a in (@T,)][0] | torch.zeros_like(@T) | (@T).exp().log()
        maybe(@I, @T) or @T
        @N.a | @N[1] | star(*@N) | @O.doubled | functools.reduce(operator.mul, @TT) | sum(@N)
        (lambda a, /, *b, c=@T: a + c)(@T, @I) | @T if (lambda: @Q)() else @T | raise @N.c
        (@T).double() | (@T).view(1, -1).sum(0) | (@T)[None].expand(2, -1)[0] | @T ** 2 | @T % 2
        (@T).unsqueeze(0).squeeze(0) | torch.stack([@T, @T])[@I % 2] | torch.full_like(@T, @F)
        (@T).clamp(min=@F) | torch.tensor([1.0, @F]) | (@T).flatten() | (@T).new_full((2,), @F)
        (@T > @T).float() | (@T).amax() + @T | (@T).view(-1, 1) * (@T)[:1] | torch.arange(2) + @T
        @T * Level.HIGH | Level(1 + @I % 2) + @T | twice(torch.relu)(@T) | @L[:1][@L.count(None)]
        -@O.t | +@T | (@T)[None][0] | @T + (lambda: @T)() | [*@TT][-1] | (@T, @I)[0]
    """,
    "Z": "3 (@T).sum() | (@T)[0] | (@T).mean() | @Z + @Z | @Z * @I | (@T).amax()",
    "I": """
        0.3 Num(@I) | Num(@I).half() | @B.k | len(@B) | len(@R) | len(@V) | @CT['a'] | @CT['none']
        {@O: @I}.get(@O, 3) | len({@O, @O}) | raise {@O: @I, 7: 2}[@O]
        raise {Fixed(@I): @I}[Fixed(@I)] | sum($a.k for $a in {Fixed(@I): 1, Fixed(@I): 2})
        {(Fixed(@I), @S): @I}.get((Fixed(@I), @S), 5) | len({Fixed($a) for $a in @K})
        sum(@CT.values()) | len(@CT) | raise @B.index(@T) | 0.3 Num(@I) + @I | @R.__len__()
        2 @I + @I | @I - 1 | @I * 2 | @I % 3 | @I // 2 | len(@L) | len(@D) | len(@U) | raise @K[@I]
        sum(@K) | max(@I, @I) | min(@K, default=0) | @M.get(@I, 0) | raise @M[@I] | @O.k | @P.k
        int(@Q) | @T.shape[0] | (@T).ndim | (@I if @Q else @I) | break int(@Z.item()) | raise @W[0]
        len(@S) | sum($a for $a in @K) | @I & 3 | (@I ** 2) % 5 | -(@I) | (@I or @I) | (@I and @I)
        @K.count(@I) | @S.count('a') | len(@W) | raise 10 // @I | raise int(@S) | raise ord(@S)
        break noise(@I) | len(@O) | bump() | Color.RED.value | Box.KIND | divmod(@I, 3)[1] | COUNT
        Color(1 + @I % 2).value | ($a := @I) + $a | next($a for $a in [*@K, @I])
        @O.items.__len__()
        sum(1 for $a in @L if @Q{$a:T}) | @P.area | abs(@I) | raise {'a': 1}[@S] | int(@F)
        tally(@K)
        memo(@I) | @O.cached | 7 // (1 + @I % 3) | -7 % (1 + @I % 3) | @I ^ 3 | @I << 1 | ~@I
        round(@F) | len(@S.split('a')) | @S.find('b') | raise @K.index(@I) | len(@N) | 2 ** 70 % 9
        sorted(@K, reverse=True)[0] if @K else @I | sum(itertools.accumulate(@K)) | (@I, @I)[@Q]
        raise check(@I) | (@T).size(0) | max(@K, default=@I) | (lambda: @I)() | @O.count('x')
        sum(map(abs, @K)) | len([*@GEN]) | (0, *@K)[-1] | pow(2, @I % 4) | hash(@I) % 5
        measure(@K) | Level.HIGH + @I | sum(Level) | max(@I, Level.LOW) | abs(@I - 2) | @I >> 1
        [@O, @O].count(@O) | raise [@O, @O].index(@O) | raise (@I, @O).index(@O, @I % 2)
        raise @TT.index(@T) | [@S, @I].index(@I) | @L.count(@S) | min(@I, @I, 3) | (@I & 5) ^ 1
    """,
    "F": """
        @F * 2 | @F + @I | float(@I) | break @Z.item() | math.floor(@F) + 0.5 | round(@F, 1)
        @I / 4
    """,
    "S": """
        0.3 Name(@S) | Name(@S).loud() | '-'.join(sorted(@V)) | repr(@CT)
        @CT.most_common(1)[0][0] if @CT else @S
        ''.join(@CT.elements()) | f"{Name(@S)}!"
        f"{@I}" | f"{@I}-{@S!r:>4}" | @S + @S | (@S).upper() | str(@I) | @S * 2 | '%d' % @I
        '{}:{}'.format(@I, @S) | @O.name | type(@X).__name__ | repr(@I) | (@S if @Q else @S)
        ','.join(str($a) for $a in @K) | ','.join(sorted(@D)) | str(Color.RED) | @S[::-1] | @S[:1]
        f"{@F:.2f}" | Color.BLUE.name | '-'.join([@S, @S]) | repr(@K) | str(@M)
        (@S).replace('a', 'c')
        @O.__class__.__name__ | f"{@I:03d}" | @S.join(['x', @S]) | @S.strip('a')
        @N._fields[0] | raise @S[0] | str(@E) | f"{@O}" | repr((@I, @S))
        @FN.__class__.__name__ | twice(torch.relu).__name__ | told(@X) | Level.LOW.name
        (told_number and told(@X)) | (told_box and told(@O)) | (told_number and told(@I))
    """,
    "Q": """
        @S in @V | @V <= @V | @V == @V | @CT == @CT | @CT <= @CT | @B is @B | bool(@B) | 'a' in @R
        @T is @B.first() | isinstance(@B, list) | @R is @D | len(@B) == len([*@B])
        3 @I > @I | @I == @I | @Q and @Q | @Q or @Q | not @Q | @T is @T | @I in @K | 'a' in @D
        @I in @U | isinstance(@X, (list, dict)) | 0 < @I < 3 | bool(@L) | any($a > 1 for $a in @K)
        all(@Q{$a:I} for $a in @K) | 2 break bool(@Z > 0) | @O is @O | @L is @L | @S.startswith('a')
        hasattr(@O, 'k') | callable(@X) | @K == @K | bool(@O) | @X is None
        issubclass(type(@O), Box)
        @O == @O | @S == @S | @M == @M | isinstance(@O, Sub) | @I not in @M | @I != @I | @U <= @U
        break any($a.sum() > 0 for $a in @L) | hasattr(@X, 'items') | @I in @O | @K < @K
        @D is TABLE | @O in [@O, @O] | [@O, @I] == [@O, @I] | (@O,) != (@O,) | {1: @O} == {1: @O}
        raise @T in @L | @I in [@O, @I] | raise (@I, @O) < (@I, @O) | @X in [None, @S]
        Level.LOW < @I
        raise @P in [@P] | @S in (@S, @O)
    """,
    "V": """
        {@S, @S} | {$a for $a in @S} | set(@S) | @V.copy() | @V.union(@S) | {*@D} | set(@D)
        @V - @V | @V & @V | @V ^ @V | {*@V, @S} | @V.difference(@S)
        @D.keys() ^ @V | frozenset(@S) - @V | set(@CT)
    """,
    "CT": """
        2 collections.Counter(@S) | @CT + @CT | @CT - @CT | @CT & @CT | -@CT | +@CT | @CT.copy()
        collections.Counter($a % 2 == 0 and 'a' or 'c' for $a in @K) | collections.Counter(a=@I)
        collections.Counter(@CT)
    """,
    "B": """
        3 Bag(@L, @I) | Bag(@L) | Bag([@T, @T], k=@I) | Shown(@L) | Bag(@B) | (@B if @Q else @B)
    """,
    "R": """
        3 Record(a=@T) | Record(@D) | Record(@D, b=@T) | Strict(@D) | @R.put(@S, @T)
        (@R if @Q else @R)
    """,
    "L": """
        0.5 @B | @B[:2] | @B + @L | @B * 2 | [*@B] | @B.copy() | sorted(@B, key=lambda $a: 1)
        3 [@T, @T] | 2 [@T{$a:T} for $a in @L] | [$a for $a in @L if @Q{$a:T}] | @L[:2] | @L[::-1]
        list(@TT) | list(@D.values()) | (@L + @L)[:4] | list(map(@FN, @L)) | [*@L, @T][:4]
        2 @O.items
        break sorted(@L, key=lambda $a: -$a.sum().item()) | list(@GEN) | list(reversed(@L))
        @L.copy()
        [$a + $b for $a, $b in zip(@L, @L)] | list(itertools.chain(@L, @TT))[:4] | [@T] * 2
        [@T{$a:I} for $a in range(@I % 3)] | list(filter(lambda $a: @Q{$a:T}, @L)) | spread(@T)[:3]
        [$a * $b for $a in @TT for $b in @K][:3] | ($a := @L) or [@T]
        [$b for $a, $b in @D.items()]
        list(itertools.islice(@GEN, 2)) | (lambda *$a: list($a))(*@TT) | collect(@GEN)
    """,
    "K": """
        2 [@I, @I] | [@I{$a:I} for $a in range(3)] | list(range(@I % 4)) | sorted(@K) | @K[:2]
        sorted(@U) | [*@K, @I][:4] | list(@M) | list(@M.values())[:4] | list(@W) | [len(@S)]
        [$a for $a, $b in enumerate(@L)] | list(map(abs, @K)) | [$a for $a in @K if $a % 2]
        sorted(@K, key=lambda $a: -$a) | [$a * $b for $a, $b in zip(@K, range(3))] | [*@U]
        [*Level] | [$a * @I for $a in Level] | [$a for $b in [@K, @K] for $a in $b][:4]
        (@K * 2)[:4] | list(@S.encode())[:2]
    """,
    "D": """
        0.5 @R | {**@R, 'b': @T} | dict(@R) | @R.copy() | operator.or_(@R, @D)
        2 {'a': @T, 'b': @T} | {$a: @T{$a:S} for $a in 'ab'} | dict(@D) | {**@D, 'c': @T} | @D | @D
        dict(a=@T) | {$a: $b * 2 for $a, $b in @D.items()} | dict(zip('ab', @L)) | @D.copy()
        {$a: $b for $a, $b in @D.items() if @Q{$a:S,$b:T}} | keep(**@D)
    """,
    "M": """
        2 {@I: @I} | {$a: @I{$a:I} for $a in @K} | dict(@M) | {**@M, @I: @I} | dict(enumerate(@K))
        dict(collections.Counter(@K)) | dict.fromkeys(@K, @I) | {$b: $a for $a, $b in @M.items()}
    """,
    "U": """
        2 {@I, @I} | set(@K) | {@I{$a:I} for $a in @K} | @U | @U | @U & @U | @U - {@I} | set(@M)
        0.3 Tags(@K)
    """,
    "TT": """
        4 (@T, @T) | @TT[::-1] | (*@TT,) | pair(@T) | (@T,) * 2 | tuple([@T, @T]) | pair(b=@T, a=@T)
    """,
    "N": "Pair(@T, @T) | @N._replace(b=@T) | Pair(*@TT) | Pair(b=@T, a=@T) | PAIR",
    "W": "collections.deque(@K, maxlen=4) | collections.deque([@I]) | collections.deque(@W)",
    "O": """
        3 Box(@T, @I) | (@O if @Q else @O) | Sub(@T, @I) | @O.same() | Box(@T) | @O.made(@I)
        @O + @T
        Box.of(@T) | Sub.of(@T) | Box(t=@T, k=@I)
    """,
    "P": "2 Point(@T, @I) | dataclasses.replace(@P, k=@I) | Point(t=@T) | @P.moved(@I) | POINT",
    "E": "ValueError(@S) | Custom(@I) | KeyError(@I) | RuntimeError() | IndexError(@S, @I)",
    "FN": """
        2 (lambda $a: @T{$a:T}) | @O.scale | functools.partial(add, @T) | make(@I)
        (@FN if @Q else @FN)
        twice(@FN) | @O
    """,
    "GEN": """
        2 gen(@T, @I) | (@T{$a:T} for $a in @L) | iter(@L) | chained(@L) | map(@FN, @L)
        tidy(@T, @I) | reversed(@L) | iter(@TT) | Countdown(@T, @I)
    """,
}


def _parse(texts: str) -> list[Template]:
    """Templates separated by bars and line ends, each after its flavour and weight, if any."""
    found = []
    for text in texts.replace("@D | @D", "@D \x00 @D").replace("@U | @U", "@U \x00 @U").split("\n"):
        for part in text.split(" | "):
            words, flavour, weight = part.strip().replace("\x00", "|"), "", 1.0
            first, _, rest = words.partition(" ")
            if first in ("break", "raise"):
                flavour, words = first, rest
                first, _, rest = words.partition(" ")
            if first.isdigit() and rest[:1] not in "<>=+-*/%&|":
                weight, words = float(first), rest
                first, _, rest = words.partition(" ")
                if first in ("break", "raise"):
                    flavour, words = first, rest
            if words:
                found.append(Template(words, weight, flavour=flavour))
    return found


EXPRESSIONS: dict[str, list[Template]] = {kind: _parse(texts) for kind, texts in _TEXTS.items()}
