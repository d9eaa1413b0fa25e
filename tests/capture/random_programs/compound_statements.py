"""Templates of statements with blocks in them: branches, loops, handlers of errors, functions."""

from __future__ import annotations

COMPOUND = '''\
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
# 0.5
$a = []
for $b in range(3):
    $a.append(lambda $t: $t * $b)
    @loop{$b:I}
&T = $a[0](@T)
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
# 0.4
with managing(@S), contextlib.closing(tidy(@T, @I)) as $a:
    &T = next($a, @T)
    @block
# 0.4
with contextlib.ExitStack() as $a:
    $a.enter_context(Noisy(@Q))
    $a.callback(LOG.append, @I)
    @block
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
# 0.7 leaves $a:L,$f:FN
$a = []
def $f($t):
    $a.append($t)
    @function{$t:T}
    return $t
&T = sum(map($f, @L), @T)
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
'''
