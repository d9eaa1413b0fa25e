"""`compile` from outside: ways to use it, what it keeps of the function, caching, limits,
errors."""

from __future__ import annotations

import inspect
import threading
import warnings

import pytest

import labcore as torch
from labcore import compiler
from labcore.compiler import exc, state
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.compile import state_of
from labcore.trace import Recorder, VariantAdded, record


def block(x, bias):
    """A doc."""
    return torch.relu(x + bias) * 2


def pair(n):
    return torch.ones(n), torch.ones(n)


def test_captures_by_size():
    """The first size, the same again, another, the first once more: two captures."""
    counter = CompileCounter()
    compiled = torch.compile(block, backend=counter)
    assert counter.frame_count == 0
    captures = []
    for n in (4, 4, 8, 4):
        assert compiled(*pair(n)).tolist() == [4.0] * n
        captures.append(counter.frame_count)
    assert captures == [1, 1, 2, 2]
    names = [
        getattr(node.target, "__name__", None)
        for node in counter.graphs[0].graph.nodes
        if node.op == "call_function"
    ]
    assert names == ["add", "relu", "mul"]
    assert [n.name for n in counter.graphs[0].graph.placeholders] == ["x", "bias"]
    assert counter.op_count == 6


def test_a_backend_is_called_with_example_inputs_and_returns_a_list_or_tuple():
    seen = []

    def backend(gm, example_inputs):
        seen.append(example_inputs)
        return lambda *args: list(gm.forward(*args))

    x, bias = pair(3)
    assert torch.compile(block, backend=backend)(x, bias).tolist() == [4.0] * 3
    assert seen[0][0] is x and seen[0][1] is bias and type(seen[0]) is list


def test_decorators():
    @torch.compile
    def plain(x):
        return x + 1

    @torch.compile(backend="eager")
    def with_arguments(x):
        return x + 1

    assert plain.__name__ == "plain" and with_arguments(torch.ones(1)).tolist() == [2.0]
    assert torch.compile(block, disable=True) is block


def test_metadata_is_the_functions():
    compiled = torch.compile(block, backend="eager")
    assert (compiled.__name__, compiled.__doc__, compiled.__module__) == (
        "block",
        "A doc.",
        __name__,
    )
    assert inspect.signature(compiled) == inspect.signature(block)
    assert compiled.__wrapped__ is block


@pytest.mark.parametrize("thing", [3, "text", [block]])
def test_compile_wants_something_callable(thing):
    with pytest.raises(TypeError, match="expects a function, a method or a callable object"):
        torch.compile(thing)


def test_arguments_that_make_no_sense():
    with pytest.raises(exc.InvalidBackend, match="nope.*inductor"):
        torch.compile(block, backend="nope")
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
        torch.compile(block, mode="fast")
    with pytest.raises(RuntimeError, match="Either mode or options"):
        torch.compile(block, mode="default", options={"a": 1})


def test_registered_backends():
    counter = CompileCounter()
    compiler.register_backend("counting", counter)
    assert {"aot_eager", "counting", "eager", "inductor"} <= set(compiler.list_backends())
    torch.compile(block, backend="counting")(*pair(2))
    assert counter.frame_count == 1


def test_options_go_to_the_backend():
    seen = {}

    def backend(gm, example_inputs, options):
        seen.update(options)
        return gm.forward

    torch.compile(block, backend=backend, options={"level": 3})(*pair(2))
    assert seen == {"level": 3}
    with pytest.raises(RuntimeError, match="'level'; known are partitioner.*, max_nodes"):
        torch.compile(block, options={"level": 3})


class Scaler:
    def __init__(self, k):
        self.k = k

    def scale(self, x):
        return x * self.k

    def __call__(self, x):
        return self.scale(x)

    @torch.compile(backend="eager")
    def decorated(self, x):
        return x - self.k


def test_methods_and_objects():
    scaler = Scaler(3)
    assert torch.compile(scaler.scale, backend="eager")(torch.ones(1)).tolist() == [3.0]
    assert scaler.decorated(torch.ones(1)).tolist() == [-2.0]
    compiled = torch.compile(scaler, backend="eager")
    assert compiled(torch.ones(1)).tolist() == [3.0]
    compiled.k = 5
    assert scaler.k == 5 and compiled.k == 5 and compiled(torch.ones(1)).tolist() == [5.0]
    assert torch.compile(torch.relu, backend="eager")(torch.ones(1)).tolist() == [1.0]


def test_compiled_functions_inside_compiled_functions_are_one_graph():
    counter = CompileCounter()
    inner = torch.compile(block, backend=counter)
    outer = torch.compile(lambda x: inner(x, x + 1) - 1, backend=counter)
    assert outer(torch.ones(2)).tolist() == [5.0, 5.0]
    assert counter.frame_count == 1 and counter.op_count == 5
    again = torch.compile(inner, backend=counter)
    assert again(*pair(2)).tolist() == [4.0, 4.0] and counter.frame_count == 2


def test_is_compiling_is_true_in_capture_only():
    def f(x):
        return x + 1 if compiler.is_compiling() else x

    assert f(torch.ones(1)).tolist() == [1.0]
    assert torch.compile(f, backend="eager")(torch.ones(1)).tolist() == [2.0]


def test_disable_as_decorator_with_a_reason():
    @compiler.disable(reason="slow")
    def helper(x):
        return x + 1

    assert helper(torch.ones(1)).tolist() == [2.0] and helper.__name__ == "helper"
    with pytest.raises(exc.Unsupported, match="slow"):
        torch.compile(lambda x: helper(x), backend="eager", fullgraph=True)(torch.ones(1))


def test_reset_captures_again_and_numbers_from_zero():
    counter = CompileCounter()
    compiled = torch.compile(block, backend=counter)
    with record() as trace:
        compiled(*pair(2))
        compiler.reset()
        compiled(*pair(2))
        compiled(*pair(3))
    assert counter.frame_count == 3
    assert [e.compile_id for e in trace.of(VariantAdded)][1:] == ["0/0", "0/1"]


def test_frames_are_numbered_by_code_object():
    compiler.reset()
    with record() as trace:
        for function in (block, lambda x, y: x + y, block):
            torch.compile(function, backend="eager")(*pair(2))
    assert [e.compile_id for e in trace.of(VariantAdded)] == ["0/0", "1/0", "0/1"]


def test_most_recently_hit_first():
    compiled = torch.compile(block, backend="eager", dynamic=False)
    for n in (2, 3, 4):
        compiled(*pair(n))
    found = state_of(compiled).cache
    last = found.variants[-1]
    compiled(*pair(2))
    assert found.variants[0] is last and len(found.variants) == 3


def test_the_recompile_limit_warns_once_serves_the_old_and_runs_the_new_eagerly():
    counter = CompileCounter()
    compiled = torch.compile(block, backend=counter, dynamic=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, 13):
            assert compiled(*pair(n)).tolist() == [4.0] * n
    assert counter.frame_count == 8
    assert len(caught) == 1
    text = str(caught[0].message)
    assert (
        "block" in text
        and "8 variants" in text
        and "tensor 'x' size mismatch at index 0. expected 8, actual 9" in text
    )
    assert "What to do: Ask for symbolic sizes" in text and "x + bias" in text
    assert caught[0].filename == __file__
    assert len(state_of(compiled).cache.variants) == 8
    compiled(*pair(3))
    assert counter.frame_count == 8


def test_the_recompile_limit_under_fullgraph_raises():
    compiled = torch.compile(block, backend="eager", fullgraph=True, dynamic=False)
    for n in range(1, 9):
        compiled(*pair(n))
    with pytest.raises(exc.FailOnRecompileLimitHit, match="8 variants.* this call fits none"):
        compiled(*pair(9))
    assert compiled(*pair(3)).tolist() == [4.0] * 3


def test_the_recompile_limit_can_be_told():
    counter = CompileCounter()
    compiled = torch.compile(block, backend=counter, dynamic=False, recompile_limit=2)
    compiled(*pair(1)), compiled(*pair(2))
    with pytest.warns(RuntimeWarning, match="has 2 variants, the recompile limit"):
        compiled(*pair(3))
    assert compiled(*pair(4)).tolist() == [4.0] * 4 and counter.frame_count == 2
    with pytest.raises(RuntimeError, match="recompile_limit"):
        torch.compile(block, recompile_limit=0)


def test_the_warning_of_a_notebooks_cell_has_no_path_in_it():
    scope = {"torch": torch}
    exec(compile("def f(x, t): return x + 1 if t else x", "/tmp/ipykernel_1/2.py", "exec"), scope)
    compiled = torch.compile(scope["f"], backend="eager", recompile_limit=1)
    compiled(torch.ones(2), "a")
    with pytest.warns(RuntimeWarning, match=r"f \(cell:1\) has 1 variant,(.|\n)*leave a text"):
        compiled(torch.ones(2), "")


def test_a_backend_that_raises():
    def broken(gm, example_inputs):
        raise KeyError("no")

    compiled = torch.compile(block, backend=broken)
    for _ in range(2):
        with pytest.raises(
            exc.BackendCompilerFailed, match="backend='broken' raised:\nKeyError: 'no'"
        ) as caught:
            compiled(*pair(2))
        assert isinstance(caught.value.__cause__, KeyError)
    assert state_of(compiled).cache.variants == ()


def test_a_backend_that_returns_no_callable():
    with pytest.raises(exc.BackendCompilerFailed, match="returned NoneType"):
        torch.compile(block, backend=lambda gm, example_inputs: None)(*pair(2))


def test_compiled_code_that_raises_on_its_own_is_loud():
    def backend(gm, example_inputs):
        def run(*args):
            raise ZeroDivisionError("in the kernel")

        return run

    with pytest.raises(ZeroDivisionError, match="in the kernel") as caught:
        torch.compile(block, backend=backend)(*pair(2))
    assert "the same call runs eagerly" in caught.value.__notes__[0]


def test_a_wrong_expectation_of_capture_is_counted_and_loud_when_strict(monkeypatch):
    from labcore.capture import WouldRaise
    from labcore.compiler import build

    def wrong(function, slots, varying):
        raise WouldRaise(TypeError("never"))

    monkeypatch.setattr(build, "capture", wrong)
    compiled = torch.compile(block, backend="eager")
    before = state.contradictions
    with pytest.warns(RuntimeWarning, match="a bug of the lab"):
        assert compiled(*pair(2)).tolist() == [4.0, 4.0]
    assert state.contradictions == before + 1
    monkeypatch.setattr(state, "strict", True)
    with pytest.raises(exc.InternalError):
        compiled(*pair(2))


def test_an_error_of_the_users_has_the_users_line_and_no_other_error_behind_it():
    compiled = torch.compile(block, backend="eager")
    with pytest.raises(RuntimeError, match="must match the size") as caught:
        compiled(torch.ones(2), torch.ones(3))
    assert any(str(entry.path) == __file__ and entry.name == "block" for entry in caught.traceback)
    assert caught.value.__context__ is None and caught.value.__cause__ is None
    (variant,) = state_of(compiled).cache.variants
    with pytest.raises(RuntimeError, match="must match the size"):
        compiled(torch.ones(2), torch.ones(3))
    assert state_of(compiled).cache.variants == (variant,)  # it is not captured again


def test_functions_without_operators_have_variants_too_and_later_calls_are_captured():
    counter = CompileCounter()
    compiled = torch.compile(lambda x, flag: x if flag else x + 1, backend=counter)
    x = torch.ones(2)
    assert compiled(x, True) is x and counter.frame_count == 0
    assert compiled(x, False).tolist() == [2.0, 2.0] and counter.frame_count == 1


def test_threads_make_one_variant():
    counter = CompileCounter()
    compiled = torch.compile(block, backend=counter)
    barrier, results = threading.Barrier(8), []

    def work():
        barrier.wait()
        for n in (4, 5, 4, 5) * 5:
            results.append(compiled(*pair(n)).tolist() == [4.0] * n)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160 and counter.frame_count == 2


def test_dead_functions_are_forgotten():
    import gc
    import weakref

    compiled = torch.compile(lambda x: x + 1, backend="eager")
    compiled(torch.ones(1))
    ref = weakref.ref(state_of(compiled))
    compiler.reset()
    del compiled
    gc.collect()
    assert ref() is None


def test_recorder_is_not_needed_for_anything():
    compiled = torch.compile(block, backend="eager")
    quiet = compiled(*pair(2))
    with record() as trace:
        loud = compiled(*pair(2))
    assert quiet.tolist() == loud.tolist() and isinstance(trace, Recorder)


def test_the_names_under_dynamo():
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(block, backend=counter, fullgraph=True)
    compiled(*pair(2))
    assert (counter.frame_count, counter.op_count) == (1, 3)
    counter.clear()
    torch._dynamo.reset()
    compiled(*pair(2))
    assert counter.frame_count == 1
    with pytest.raises(torch._dynamo.exc.Unsupported, match="graph_break"):
        torch.compile(lambda x: torch._dynamo.graph_break(), backend="eager", fullgraph=True)(1)


def test_explain_reads_the_same_events():
    told = compiler.explain(block)(*pair(4))
    assert (told.graph_count, told.graph_break_count, told.op_count) == (1, 0, 3)
    assert [op.__name__ for op in told.ops_per_graph[0]] == ["add", "relu", "mul"]
    assert "x.size() == (4,)" in str(told)


def test_names_and_file_names_may_be_anything():
    def f(self, torch, inf, d):
        return self + torch * inf + d["x²"] + d["ﬁ"] + d["{0}"] + d["class"]

    def g(args, call, kernel, program, ops):
        return args + call * kernel - program / ops, args.sum()

    x = torch.ones(3)
    made = {"torch": torch}
    exec(compile("def h(x):\n    return x * 2\n", "a\nimport os\udce9.py", "exec"), made)
    calls = [
        (f, (x, x, x, dict.fromkeys(("x²", "ﬁ", "{0}", "class"), x))),
        (g, (x,) * 5),
        (made["h"], (x,)),
    ]
    for function, args in calls:
        for backend in ("eager", "aot_eager", "inductor"):
            compiled = torch.compile(function, backend=backend, fullgraph=True)
            with torch.trace.record():
                got, want = compiled(*args), function(*args)
            assert repr(got) == repr(want) == repr(compiled(*args))


def test_defaults_that_change_after_compile():
    def f(x, a, b=1.0):
        return x * a + b

    x, compiled = torch.ones(1), torch.compile(f, backend="eager")
    assert compiled(x, 2).tolist() == [3.0]
    f.__defaults__ = (5.0,)
    assert [compiled(x, 2).tolist() for _ in range(2)] == [[7.0], [7.0]]
    f.__defaults__ = (3.0, 4.0)  # one more: known once a call has been made
    assert compiled(x, 2).tolist() == [6.0]
    assert [compiled(x).tolist() for _ in range(2)] == [[7.0], [7.0]]
    f.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        compiled(x, 2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        compiled(x, 2)
    assert compiled(x, 2, 1).tolist() == [3.0]


def test_defaults_and_slots_of_every_kind():
    def f(p, /, q=2, *more, key=3, **rest):
        return p * q + key, more, sorted(rest)

    compiled, x = torch.compile(f, backend="eager"), torch.ones(1)
    calls = [((x,), {}), ((x, 5), {"z": 1}), ((x, 5, 6, 7), {"key": 8}), ((x,), {"q": 1})]
    for args, kwargs in calls:
        with compiler.set_stance("force_eager"):
            eager = compiled(*args, **kwargs)
        assert repr(compiled(*args, **kwargs)) == repr(f(*args, **kwargs)) == repr(eager)
    f.__kwdefaults__["key"] = 9
    assert repr(compiled(x)) == repr(f(x))
    f.__defaults__ = (4,)
    for args, kwargs in calls:
        assert repr(compiled(*args, **kwargs)) == repr(f(*args, **kwargs))


def test_the_text_of_generated_code_goes_with_it():
    import gc
    import linecache

    def texts():
        gc.collect()
        return {path for path in linecache.cache if path.startswith("<")}

    before = texts()
    for n in (1, 2):
        compiled = torch.compile(lambda x: x * n, backend="eager")
        compiled(torch.ones(n))
    assert any("variant" in path for path in texts() - before)
    assert any("compiled" in path for path in texts() - before)
    del compiled
    compiler.reset()
    assert texts() <= before


def test_the_limit_of_a_region_in_the_middle_is_told_once_at_the_users_line():
    def f(x, y):
        compiler.graph_break()
        x = x + 1
        compiler.graph_break()
        return x * 2, y * 2

    compiled = torch.compile(f, backend="eager", dynamic=False, recompile_limit=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, 6):
            compiled(*pair(n))
    assert [w.filename for w in caught] == [__file__]
    assert "in the region f from line" in str(caught[0].message)


def test_what_dynamic_cannot_be_is_refused():
    with pytest.raises(TypeError, match="dynamic is True, False or None"):
        torch.compile(block, dynamic="yes")
