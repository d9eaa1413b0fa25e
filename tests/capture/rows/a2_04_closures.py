"""A2.4: closures."""


def free_variable(x, n):
    def scale(t):
        return t * n

    return scale(x)


def nonlocal_write(x):
    count = 0

    def bump(t):
        nonlocal count
        count += 1
        return t + count

    return bump(x) * bump(x), count


def shared_cell(x):
    total = x

    def add(t):
        nonlocal total
        total = total + t

    def read():
        return total

    add(x)
    add(x * 2)
    return read(), total


def returned_function(x, n):
    bias = x + 1

    def inner(t):
        return t * n + bias

    return inner(x), inner


def returned_lambda(x):
    return (lambda t, k=2: t * k), x + 1


def nested_two_deep(x):
    def outer():
        def inner():
            return x * 2

        return inner

    return outer()()


def recursive_closure(x):
    def power(t, n):
        return t if n == 0 else power(t * 2, n - 1)

    return power(x, 3)


def late_binding(x):
    functions = []
    for i in range(3):
        functions.append(lambda t: t * i)
    return sum(f(x) for f in functions)


def decorator(x):
    def twice(f):
        def both(t):
            return f(f(t))

        return both

    @twice
    def step(t):
        return t + 1

    return step(x)


def _made():
    state = [0]

    def bump(t):
        state[0] += 1
        return t * state[0]

    return bump


BUMP = _made()


def closure_from_outside(x):
    return BUMP(x)


def cell_deleted(x):
    value = 1

    def read():
        return value

    before = read()
    del value
    return x, before


def keyword_defaults(x, n):
    def inner(t, *, scale=n, bias=x):
        return t * scale + bias

    return inner(x), inner(x, scale=1), inner.__name__
