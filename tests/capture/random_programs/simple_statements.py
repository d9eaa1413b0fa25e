"""Templates of statements of a line or a few: assignments, changes, calls, errors, ways out."""

from __future__ import annotations

SIMPLE = '''\
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
# 0.5 raise
try:
    check(@I)
except ValueError as $a:
    raise Custom(@I) from $a
# 0.5
class $c(Box):
    KIND = @I
    def twice(self):
        return super().twice() + @I
&T = $c(@T, @I).twice()
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
