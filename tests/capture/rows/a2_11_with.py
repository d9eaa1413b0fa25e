"""A2.11: with statements."""

import contextlib

LOG = []


class _Noted:
    def __init__(self, suppress=False):
        self.suppress, self.log = suppress, []

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append(kind.__name__ if kind else "out")
        return self.suppress


@contextlib.contextmanager
def _scaled(log):
    log.append("in")
    try:
        yield 3
    finally:
        log.append("out")


def no_grad(x):
    with torch.no_grad():
        y = x * 2
    return y + 1, torch.is_grad_enabled()


def enable_grad(x):
    with torch.no_grad(), torch.enable_grad():
        inside = torch.is_grad_enabled()
    return x * inside


def set_grad_enabled(x, flag):
    with torch.set_grad_enabled(not flag):
        y = x + 1
    return y, torch.is_grad_enabled()


def grad_mode_called(x):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(before)
    return y


def grad_decorator(x):
    @torch.no_grad()
    def f(t):
        return t * 2

    return f(x)


def null_context(x):
    with contextlib.nullcontext(3) as n:
        return x * n


def context_manager_function(x):
    log = []
    with _scaled(log) as n:
        x = x * n
    return x, log


def own_class(x):
    with _Noted() as noted:
        x = x + len(noted.log)
    return x, noted.log


def suppressing(x):
    noted = _Noted(suppress=True)
    with noted:
        x = x + 1
        raise ValueError("swallowed")
    return x, noted.log


def exception_passes_through(x):
    noted = _Noted()
    try:
        with noted:
            raise KeyError("k")
    except KeyError:
        x = x * 2
    return x, noted.log


def contextlib_suppress(x):
    with contextlib.suppress(ZeroDivisionError):
        x = x + 1 // 0
    return x


def two_managers(x):
    with _Noted() as a, _Noted() as b:
        x = x * 2
    return x, a.log, b.log


def return_inside(x):
    log = []
    with _scaled(log):
        return x + 1, log


def nested_with_loop(x):
    noted = _Noted()
    for i in range(2):
        with noted:
            x = x + i
            if i:
                continue
    return x, noted.log


def exit_stack(x):
    with contextlib.ExitStack() as stack:
        noted = stack.enter_context(_Noted())
        x = x * 2
    return x, noted.log
