"""The templates of statements, each under a line `# weight flavour`, with the place that it fits
in and the variables that it leaves behind, if any.

Loops end: what they go over is short, and what they wait for is counted.
"""

from __future__ import annotations

from .writer import Template

_STATEMENTS = '''\
# 8
&T = @T
# 4 leaves $a:T
$a = @T
# 3
&I = (@I) % 7
# 2
&I += @I % 3
# 1.5
&T += @T
# 1
&T *= @I
# 1
&T -= @T
# 2 leaves $a:L
$a = @L
# 2
&L = (@L)[:4]
# 1 leaves $a:K
$a = @K
# 1.5 leaves $a:D
$a = @D
# 1 leaves $a:M
$a = @M
# 1 leaves $a:U
$a = @U
# 1 leaves $a:W
$a = @W
# 2 leaves $a:O
$a = @O
# 1 leaves $a:P
$a = @P
# 1.5 leaves $a:FN
$a = @FN
# 1 leaves $a:S
$a = @S
# 0.5 leaves $a:F
$a = @F
# 1 leaves $a:GEN
$a = @GEN
# 1 leaves $a:T,$b:T
$a = $b = @T
# 1 leaves $a:L,$b:L
$a = $b = @L
# 1.5 leaves $a:T,$b:T
$a, $b = @TT
# 1 leaves $a:T,$b:L
$a, *$b = [@T, *@L]
# 0.7 leaves $a:T,$b:L
*$b, $a = @T, @T
# 0.7 leaves $a:T,$b:T,$c:I
($a, $b), $c = @TT, @I
# 0.5 raise leaves $a:T,$b:T
$a, $b = @L
# 1
&T, &T = @TT
# 0.5 leaves $a:I
$a: int = @I
# 2
~L.append(@T)
# 1 raise
~L[0] = @T
# 0.7
~L[:1] = [@T]
# 0.5
del ~L[1:]
# 0.7
~L.extend(@L[:1])
# 0.5
~L.insert(0, @T)
# 0.5
~L.reverse()
# 0.3
~L.clear()
# 1
$a = ~L
if $a:
    &T = $a.pop()
# 0.7 raise
&T = ~L.pop()
# 0.7
&L += @TT
# 1.5
~D['a'] = @T
# 1
~D[@S] = @T
# 0.7
~D.update(b=@T)
# 0.7
~D.setdefault('a', @T)
# 0.7
~D.pop('a', None)
# 0.7 raise
&T = ~D.pop('a')
# 0.5 raise
del ~D['a']
# 1
~M[@I] = @I
# 1
~M[@I] = ~M.get(@I, 0) + 1
# 1
~U.add(@I)
# 0.7
~U.discard(@I)
# 0.5
~U.update(@K)
# 0.4 raise
~U.remove(@I)
# 0.7
~W.append(@I)
# 0.5
~W.appendleft(@I)
# 0.5 raise
&I = ~W.popleft()
# 1
~K.append(@I)
# 0.5
~K.sort()
# 0.3
~K.sort(key=lambda $a: -$a)
# 0.5 raise
~D['a'] += 1
# 0.5 raise
~K[0] += @I
# 0.7
$a = collections.defaultdict(list)
$a[@I].append(@T)
&I = len($a)
# 1.5
~O.t = @T
# 1.5
~O.k += 1
# 1
~O.k = @I % 7
# 0.7
~O.name = @S
# 0.7
~O.items.append(@T)
# 0.7
~O.items = @L
# 1
~O.step(@T)
# 1
~O.level = @I
# 0.7
~O[@I] = @T
# 0.7
~O.extra = @X
# 0.7
setattr(@O, 'k', @I)
# 0.7
~P.t = @T
# 0.5
~P.k += @I % 3
# 0.3 raise
del ~O.extra
# 0.4
Box.KIND = @I % 4
# 0.7
~O.t += 1
# 0.5
~O.link = @O
# 0.7 leaves $a:T
$a = (@T).view(-1)
&T.mul_(2)
&T = &T + $a
# 0.7
(@T).add_(@T)
# 0.5
&T[0] = @F
# 0.4
~O.t.mul_(0.5)
# 2
LOG.append(@I)
# 1
LOG.append(@X)
# 1.5 break
print(@I, @S)
# 0.7 break
print('at', @T.tolist())
# 1.5 break
note(@X)
# 0.7 break
graph_break()
# 0.7 break
observe(@T)
# 0.3 break
warnings.warn('careful')
# 0.3 break
LOG.append(repr(sys.exc_info()[1]))
# 0.1 break
LOG.append(sorted(locals())[:3])
# 1.5 raise
check(@I)
# 1 raise
if @Q:
    raise @E
# 0.5 raise
if @Q:
    raise Custom(@I) from @E
# 0.3 raise
if @Q:
    raise ValueError
# 0.2 raise
raise @E
# 0.7 raise
assert @Q, @S
# 0.1 raise
del &T
# 0.05 raise
&T = @X
# 1 leaves $a:GEN
$a = @GEN
&T = next($a, @T)
# 0.5 raise
&T = next(@GEN)
# 0.5 raise leaves $a:GEN
$a = echo(@T)
next($a)
&T = $a.send(@T)
# 0.5
$a = tidy(@T, @I)
next($a, None)
$a.close()
# 8 in generator
yield @T
# 3 in generator
yield from @GEN
# 0.5 in generator
return
# 1 in function
if @Q:
    return @T
# 1 in main
if @Q:
    return @X
# 0.2 in function
return @T
# 3 in loop
if @Q:
    break
# 3 in loop
if @Q:
    continue
# 0.1
pass
# 0.3
import math as $a
&I = int($a.floor(@F))
# 3
if @Q:
    @block
# 2
if @Q:
    @block
else:
    @block
# 1
if @Q:
    @block
elif @Q:
    @block
else:
    @block
# 1 break
if @Z > 0:
    @block
# 1 break
if @Z > @Z:
    @block
else:
    @block
# 3
for $a in range(@I % 4):
    @loop{$a:I}
# 2
for $a in (@L)[:3]:
    @loop{$a:T}
# 1
for $a in @K:
    @loop{$a:I}
# 1
for $a, $b in enumerate(@TT):
    @loop{$a:I,$b:T}
# 1
for $a, $b in zip(@L, range(3)):
    @loop{$a:T,$b:I}
# 0.7
for $a in list(@D):
    @loop{$a:S}
# 0.7 raise
for $a, $b in @D.items():
    @loop{$a:S,$b:T}
# 0.5
for $a in sorted(@U):
    @loop{$a:I}
# 1.5
for $a in @GEN:
    @loop{$a:T}
# 0.3
for $a in @L:
    if len(LOG) > 40 or len(STOCK) > 9: break
    @loop{$a:T}
# 1
for $a in range(3):
    @loop{$a:I}
else:
    @block
# 0.5
for $a in reversed(@K):
    @loop{$a:I}
# 1.5
$w = 0
while $w < 3 and @Q:
    $w += 1
    @loop{$w:I}
# 0.7
$w = 0
while $w < 3:
    $w += 1
    @loop
else:
    @block
# 0.7 break
$w = 0
while @Z < 9 and $w < 3:
    $w += 1
    @loop
# 0.7
$w = 0
while ($w := $w + 1) < 3:
    @loop{$w:I}
# 1
with Noisy():
    @block
# 1
with Noisy(True):
    @block
# 0.7
with Noisy(@Q) as $a:
    @block
# 0.7
with Noisy(), managing(@S) as $a:
    @block{$a:S}
# 0.7
with managing(@S):
    @block
# 0.7
with contextlib.suppress(ValueError, KeyError):
    @block
# 0.7
with torch.no_grad():
    @block
# 0.4
with contextlib.nullcontext(@T) as $a:
    @block{$a:T}
# 1.5
try:
    @block
except ValueError as $a:
    @block{$a:E}
# 1
try:
    @block
except (KeyError, Custom):
    @block
else:
    @block
# 1
try:
    @block
finally:
    @block
# 1
try:
    @block
except Exception as $a:
    LOG.append(type($a))
    @block
finally:
    @block
# 0.7 raise
try:
    @block
except LookupError:
    @block
    raise
# 0.5 raise
try:
    check(@I)
except ValueError as $a:
    raise Custom(@I) from $a
# 2
try:
    check(@I)
except ValueError:
    @block
else:
    @block
# 1
try:
    raise Custom(@I)
except Custom as $a:
    &I = $a.args[0]
    @block
# 1
match @I:
    case 0 | 1:
        @block
    case $a if $a > 2:
        @block{$a:I}
    case _:
        @block
# 0.5
match @TT:
    case ($a, $b):
        @block{$a:T,$b:T}
# 0.5
match @D:
    case {'a': $a, **$b}:
        @block{$a:T,$b:D}
    case _:
        @block
# 0.5
match @P:
    case Point($a, 0):
        @block{$a:T}
    case Point(k=$b):
        @block{$b:I}
# 0.5
match @K:
    case []:
        @block
    case [$a, *$b]:
        @block{$a:I,$b:K}
# 0.4
match @S:
    case 'a':
        @block
    case str($a):
        @block{$a:S}
# 2 leaves $f:FN
def $f($t, $k=@I):
    @function{$t:T,$k:I}
    return @T{$t:T,$k:I}
# 1 leaves $f:FN
def $f($t, *$r, $k=@I, **$o):
    @function{$t:T,$k:I,$o:D}
    return @T{$t:T}
&T = $f(@T, @I, $k=@I, a=@T)
# 1 leaves $a:GEN
def $g($t):
    @generator{$t:T}
    yield @T{$t:T}
$a = $g(@T)
# 0.7
def $g($t):
    try:
        @generator{$t:T}
        yield $t
    finally:
        CLOSED['g'] += 1
for $a in $g(@T):
    @loop{$a:T}
# 0.5
class $c(Box):
    KIND = @I
    def twice(self):
        return super().twice() + @I
&T = $c(@T, @I).twice()
# 0.7 leaves $a:L,$f:FN
$a = []
def $f($t):
    $a.append($t)
    @function{$t:T}
    return $t
&T = sum(map($f, @L), @T)
# 0.5
$a = []
for $b in range(3):
    $a.append(lambda $t: $t * $b)
    @loop{$b:I}
&T = $a[0](@T)
# 0.5 in function
try:
    @block
finally:
    if @Q:
        return @T
# 0.5 in main
try:
    @block
    return @X
finally:
    @block
# 0.3 in loop
try:
    @block
finally:
    if @Q:
        continue
# 0.4
try:
    raise ExceptionGroup('group', [@E, ValueError(@I)])
except* ValueError as $a:
    LOG.append(len($a.exceptions))
    @block
except* Exception:
    @block
# 0.5
$a = tidy(@T, @I)
try:
    next($a, None)
    $a.throw(@E)
except Exception as $b:
    LOG.append(repr($b))
# 0.5 leaves $a:Q
$a = @Q
# 0.5
&D |= @D
# 0.5
&U |= @U
# 0.3
&U ^= @U
# 0.5
~K[::2] = @K[::2]
# 0.3 raise
~K[::2] = @K
# 0.4 raise
&I = @K.index(@I)
# 0.4
~W.rotate(@I)
# 0.4
~W.extend(@K)
# 0.3
&K *= 1 + (@I == 2)
# 0.4
print(@S, end=@S)
# 0.4 leaves $a:I
$a = @O.cached
# 0.4 leaves $a:N
$a = Pair(@T, @T)
# 0.4
&N = &N._replace(a=@T)
# 0.4 raise
~N.a = @T
# 0.4
&T[@T > 0] = @F
# 0.4
&T = (@T)[:1].add_(1) + &T
# 0.5
&T, &I = @T, @I % 5
# 0.5
&I, &T = @I % 5, @T if @Q else @T
# 0.5
if ($a := @I) > 1 and ($b := @L):
    @block
# 0.5
for $a, ($b, $c) in zip(@K, enumerate(@TT)):
    @loop{$a:I,$b:I,$c:T}
# 0.5
for $a in itertools.product(@K[:2], range(2)):
    LOG.append($a)
    @loop
# 0.4
for $a in (@T, @T):
    @loop{$a:T}
else:
    &T = @T
# 0.4
with managing(@S), contextlib.closing(tidy(@T, @I)) as $a:
    &T = next($a, @T)
    @block
# 0.4
with contextlib.ExitStack() as $a:
    $a.enter_context(Noisy(@Q))
    $a.callback(LOG.append, @I)
    @block
# 0.5 leaves $f:FN
@twice
def $f($t):
    @function{$t:T}
    return @T{$t:T}
# 0.5
def $f($t, /, $k, *, $o=@I):
    nonlocal_ = $o
    @function{$t:T,$k:I,$o:I}
    return $t * $k + nonlocal_
&T = $f(@T, @I, $o=@I)
# 0.7
&T.copy_(@T)
# 0.5
&T = &T.relu_().add_(@F)
# 0.7 leaves $a:T
$a = (@T).detach()
$a.mul_(@F)
# 0.7
$a = (&T)[:1]
$a.add_(@I)
&T = $a + &T
# 0.5 raise
&T[@I] = @Z
# 0.5
&T[:1] += @F
# 0.5
&T[...] = @T
# 0.3
(@T).zero_()
# 0.6
$a, $b = &T.view(-1), &T[None]
$a.mul_(2)
&T = $a + $b[0]
# 0.5
for $a in @L:
    $a.mul_(@F)
# 0.4
~D['a'] = (@T).add_(1)
# 0.4
$a, $b = @TT
$a.add_($b)
$b.mul_($a)
&T = $a - $b
'''


def _parse(text: str) -> list[Template]:
    found = []
    for part in text.split("# ")[1:]:
        head, _, body = part.partition("\n")
        weight, *more = head.split()
        flavour = more.pop(0) if more and more[0] in ("break", "raise") else ""
        said = dict(zip(more[::2], more[1::2]))
        template = Template(
            body.rstrip("\n"), float(weight), said.get("leaves", ""), said.get("in", ""), flavour
        )
        found.append(template)
    return found


STATEMENTS = _parse(_STATEMENTS)
