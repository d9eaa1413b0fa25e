"""A2.10: exceptions."""


def raise_and_catch(x):
    try:
        raise ValueError("no")
    except ValueError:
        return x + 1


def caught_by_base_class(x):
    try:
        raise KeyError("k")
    except (TypeError, LookupError) as error:
        return x, error.args


def else_and_finally(x):
    log = []
    try:
        y = x + 1
    except ValueError:
        y = x
    else:
        log.append("else")
    finally:
        log.append("finally")
    return y, log


def finally_after_return(x, box):
    try:
        return x * 2
    finally:
        box.append("left")


def finally_overrides(x):
    for i in range(3):
        try:
            continue
        finally:
            x = x + i
    return x


def key_error(x, table):
    try:
        return x * table["missing"]
    except KeyError as error:
        return x, error.args[0]


def index_error(x, numbers):
    try:
        return x * numbers[9]
    except IndexError:
        return x - 1


def attribute_error(x):
    try:
        return x.not_there
    except AttributeError:
        return x * 2


def zero_division(x, n):
    try:
        return x * (1 / (n - 3))
    except ZeroDivisionError:
        return x


def type_error(x, s):
    try:
        return s + 1
    except TypeError:
        return x


def unpacking_error(x, numbers):
    try:
        a, b = numbers
    except ValueError:
        return x + 5
    return x


class _Mine(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


def own_exception(x):
    try:
        raise _Mine(4)
    except _Mine as error:
        return x * error.code, str(error)


def _raises(t):
    raise _Mine(2)


def raised_in_a_callee(x):
    try:
        return _raises(x)
    except _Mine as error:
        return x * error.code


def reraised(x):
    try:
        try:
            raise ValueError("first")
        except ValueError:
            x = x + 1
            raise
    except ValueError as error:
        return x, str(error)


def raise_from(x):
    try:
        try:
            raise ValueError("cause")
        except ValueError as error:
            raise TypeError("effect") from error
    except TypeError as error:
        return x, type(error.__cause__).__name__


def context_chain(x):
    try:
        try:
            raise ValueError("one")
        except ValueError:
            raise TypeError("two")
    except TypeError as error:
        return x, type(error.__context__).__name__, error.__suppress_context__


def uncaught(x):
    y = x + 1
    raise RuntimeError("out")


def uncaught_after_effects(x, numbers):
    numbers.append(1)
    raise _Mine(len(numbers))


def shape_error_caught(x):
    try:
        return x + torch.ones(7)
    except RuntimeError:
        return x


def loop_with_try(x, numbers):
    for i in [1, 0, 2]:
        try:
            x = x + 6 // i
        except ZeroDivisionError:
            x = x - 1
    return x


def nested_handlers(x):
    try:
        try:
            raise KeyError("a")
        except ValueError:
            x = x * 100
        finally:
            x = x + 1
    except KeyError:
        x = x * 2
    return x


def assertion_caught(x, n):
    try:
        assert n == 9, "not nine"
    except AssertionError as error:
        return x, error.args


def exception_stored(x):
    kept = None
    try:
        raise ValueError("kept")
    except ValueError as error:
        kept = error
    return x, isinstance(kept, ValueError), kept.args


def stop_iteration(x):
    it = iter([1])
    while True:
        try:
            x = x + next(it)
        except StopIteration:
            break
    return x


def exception_returned(x):
    return x + 1, ValueError("made", 3)
