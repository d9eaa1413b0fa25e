"""Templates of statements about sets of texts, Counters, objects that are lists or dicts, and keys
with code of their own."""

from __future__ import annotations

HOLDERS = '''\
# 1 leaves $a:V
$a = @V
# 0.7
~V.add(@S)
# 0.5
~V.discard(@S)
# 0.5
~V.update(@S)
# 0.5
~V.difference_update(@V)
# 0.5
&V |= @V
# 0.3 raise
~V.remove(@S)
# 1 leaves $a:CT
$a = @CT
# 0.7
~CT.update(@S)
# 0.7
~CT[@S] += @I
# 0.5
~CT.subtract(@S)
# 0.5
LOG.append(@CT.most_common(2))
# 0.5
&CT += @CT
# 0.3
del ~CT['a']
# 1.5 leaves $a:B
$a = @B
# 1
~B.append(@T)
# 0.7
~B.k += @I % 3
# 0.7
~B.extend(@L[:1])
# 0.5 raise
~B[0] = @T
# 0.5 raise
&T = ~B.pop()
# 0.5
&B += @TT
# 0.5
~B.extra = @X
# 0.5
for $a in @B:
    &T = $a
# 0.5
del ~B[2:]
# 1.5 leaves $a:R
$a = @R
# 1
~R[@S] = @T
# 0.7
~R.put('a', @T)
# 0.5
~R.update(b=@T)
# 0.5
~R.pop('a', None)
# 0.5 raise
del ~R['a']
# 0.5
~R.extra = @X
# 0.4
&R |= @D
# 0.5
for $a, $b in list(@R.items()):
    &T = &T + $b
# 0.4 leaves $a:TT
$a = Row((@T, @T))
# 0.5
LOG.append([$a.k for $a in {Fixed(@I), Fixed(@I), Fixed(1)}])
# 0.3 leaves $a:O
$a = {Fixed(@I): @O, Fixed(@I): @O}.popitem()[1]
'''
