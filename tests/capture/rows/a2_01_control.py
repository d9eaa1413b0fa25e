"""A2.1: constants and control flow."""


def arithmetic(x, n, f):
    return x * (n + 2 * f - n // 2) + n % 2 + (n << 1) + (7 & 5 | 8 ^ 1) - 2**3


def text_arithmetic(x, s):
    name = s + "_" + s * 2
    return x * len(name), name


def bool_arithmetic(x, flag):
    return x * flag + (not flag) + (flag and 2) + (False or 3)


def none_arithmetic(x, nothing):
    return x if nothing is None else x * 2


def if_else(x, n):
    if n > 5:
        return x + 1
    elif n == 3:
        return x * 3
    else:
        return x


def while_else(x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    else:
        x = x * 2
    return x


def for_break_continue_else(x):
    for i in range(8):
        if i % 2:
            continue
        if i > 4:
            break
        x = x + i
    else:
        x = x * 0
    return x, i


def for_over_size(x):
    total = x.sum() * 0
    for i in range(x.shape[0]):
        for j in range(x.size(1)):
            total = total + x[i, j]
    return total


def range_three_arguments(x):
    for i in range(5, -1, -2):
        x = x + i
    return x


def chained_comparison(x, n):
    return x + 1 if 0 < n <= 3 < 10 != 11 else x


def ternary(x, n):
    return (x + 1 if n else x) * (2 if n > 1 else 3)


def walrus(x, numbers):
    if (count := len(numbers)) > 2:
        return x * count, [last := i for i in numbers], last
    return x


def asserts(x, n):
    assert x.shape[0] == 2, "two rows"
    assert n
    return x * n


def assert_fails(x, n):
    assert n > 5, f"{n} is small"
    return x


def boolean_operators(x, n, nothing):
    a = n and 4
    b = nothing or "text"
    return x * a, b, n or 1 / 0, nothing and 1


def augmented_constants(x, n):
    n += 1
    n *= 2
    n -= 3
    n //= 2
    n **= 2
    n |= 8
    return x * n, n


def float_and_complex(x, f):
    z = complex(f, 2)
    return x * (z * z.conjugate()).real, z, -0.0, 1e400, f.is_integer()


def multiple_assignment(x, y):
    a = b = x + y
    a, b = b * 2, a
    return a, b


def deleted_name(x, n):
    if n:
        unused = x + 1
        del unused
    return x


def pass_and_ellipsis(x):
    pass
    ...
    return x[..., 0]


def early_return_in_loops(x, numbers):
    for i in numbers:
        for j in numbers:
            if i < j:
                return x * i + j
    return x


def big_integers(x):
    big = 2**70
    return x * (big >> 69), big


def integer_division_by_sign(x):
    return x + -7 // 2 + -7 % 3 + divmod(7, -2)[1] + int(-3.7)


def match_none(x, nothing, n):
    return (x, nothing is None, n is not None, n == 3.0, n != "3")
