"""The disk cache: what it finds, and everything it refuses to run."""

from __future__ import annotations

import json
import os
import stat
from importlib import metadata

import pytest

import labcore as torch
from labcore import ops, trace
from labcore.codegen import cache, compile_graph, room
from labcore.codegen.folder import Unsafe, check_folder, folder, read_private
from labcore.fusion import FusionOptions

from .graphs import chain, filled, meta, traced

INPUTS = (meta(4), meta(4))


def compile_it(function=chain, origin=None):
    """Compile, check that the result is right, and say what the cache did."""
    with trace.record() as events:
        call = compile_graph(traced(function, *INPUTS, origin=origin), "inference")
    x, bias = filled(meta(4), 0), filled(meta(4), 1)
    (out,) = call([x, bias])
    assert (out.array == function(x, bias).array).all()
    (event,) = events.of(trace.DiskCache)
    return event.outcome, event.reason


def entry(root):
    (found,) = [p for p in root.iterdir() if not p.name.startswith(".")]
    return found


def test_a_second_time_is_a_hit(cache_folder):
    assert compile_it() == ("miss", "absent")
    assert compile_it() == ("hit", "")
    found = cache.info()
    assert (found.folder, found.enabled, found.entries, found.hits, found.misses) == (
        cache_folder,
        True,
        1,
        1,
        1,
    )
    assert found.bytes > 1000
    assert f"{cache_folder}: 1 programs" in str(found)


def test_an_entry_is_a_folder_that_nobody_else_can_open(cache_folder):
    compile_it()
    kept = entry(cache_folder)
    assert {p.name for p in kept.iterdir()} == {"output_code.py", "kernels.o", "manifest.json"}
    assert [stat.S_IMODE(p.stat().st_mode) for p in (cache_folder, kept)] == [0o700, 0o700]
    assert {stat.S_IMODE(p.stat().st_mode) for p in kept.iterdir()} == {0o600}
    manifest = json.loads((kept / "manifest.json").read_text())
    assert manifest["kernels"] == ["numba_fused_add_mul_relu_0"]
    assert {"lab", "python", "numba", "llvmlite", "cpu", "features"} <= set(manifest["made_by"])


def test_clear(cache_folder):
    compile_it()
    assert cache.clear() == 1
    assert list(cache_folder.iterdir()) == []
    assert compile_it() == ("miss", "absent")
    assert cache.clear() == 1 and cache.clear() == 0


def test_moving_the_users_line_is_a_hit_and_the_file_shows_the_new_line(cache_folder, tmp_path):
    file = tmp_path / "block.py"
    file.write_text("\n" * 3 + "x + bias\n" + "\n" * 5 + "x + bias\n")
    assert compile_it(origin=trace.Origin(str(file), 4)) == ("miss", "absent")
    assert "block.py:4  x + bias" in (entry(cache_folder) / "output_code.py").read_text()
    assert compile_it(origin=trace.Origin(str(file), 10)) == ("hit", "")
    text = (entry(cache_folder) / "output_code.py").read_text()
    assert "block.py:10  x + bias" in text and "block.py:4" not in text


# ---- damage: each is a miss with its reason, and the entry is whole again afterwards
# --------------


def truncate(path):
    path.write_bytes(path.read_bytes()[:-7])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def rewrite(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def other(path, **versions):
    made_by = json.loads(path.read_text())["made_by"]
    rewrite(path, made_by={**made_by, **versions})


DAMAGE = {
    "object truncated": ("kernels.o", truncate, "damaged: kernels.o is not what was written"),
    "object changed": ("kernels.o", flip, "damaged: kernels.o is not what was written"),
    "object gone": ("kernels.o", os.remove, "damaged: kernels.o is missing"),
    "source changed": (
        "output_code.py",
        lambda p: p.write_text(p.read_text().replace("(4)", "(5)")),
        "damaged: output_code.py is not this program",
    ),
    "source gone": ("output_code.py", os.remove, "damaged: output_code.py is missing"),
    "manifest truncated": ("manifest.json", truncate, "damaged: manifest.json cannot be read"),
    "manifest empty": (
        "manifest.json",
        lambda p: p.write_bytes(b""),
        "damaged: manifest.json cannot be read",
    ),
    "manifest no text": (
        "manifest.json",
        lambda p: p.write_bytes(b"\xff\xfe"),
        "damaged: manifest.json cannot be read",
    ),
    "manifest a list": (
        "manifest.json",
        lambda p: p.write_text("[1]"),
        "damaged: manifest.json cannot be read",
    ),
    "manifest of odd types": (
        "manifest.json",
        lambda p: rewrite(p, kernels=[1]),
        "damaged: manifest.json cannot be read",
    ),
    "manifest gone": ("manifest.json", os.remove, "damaged: manifest.json is missing"),
    "foreign": (
        "manifest.json",
        lambda p: rewrite(p, kernels=["other"]),
        "foreign: it has other kernels",
    ),
    "other numba": (
        "manifest.json",
        lambda p: other(p, numba="0.1"),
        "other version: kept for numba 0.1, this is ",
    ),
    "other python": (
        "manifest.json",
        lambda p: other(p, python="cpython-27"),
        "other version: kept for python cpython-27, this is ",
    ),
    "other processor": (
        "manifest.json",
        lambda p: other(p, cpu="z80"),
        "other version: kept for cpu z80, this is ",
    ),
    "writable": (
        "kernels.o",
        lambda p: p.chmod(0o622),
        "not trusted: others may write kernels.o (mode 0622)",
    ),
    "a link": (
        "kernels.o",
        lambda p: (p.rename(p.with_name("real.o")), p.symlink_to("real.o")),
        "cannot be read: ",
    ),
    "a folder": (
        "kernels.o",
        lambda p: (p.unlink(), p.mkdir()),
        "not trusted: kernels.o is not a plain file",
    ),
    "a pipe": (
        "kernels.o",
        lambda p: (p.unlink(), os.mkfifo(p, 0o600)),
        "not trusted: kernels.o is not a plain file",
    ),
    "open folder": (".", lambda p: p.chmod(0o755), "not trusted: others may open it (mode 0755)"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_a_miss_with_its_reason(case, cache_folder):
    file, damage, reason = DAMAGE[case]
    compile_it()
    damage(entry(cache_folder) / file)
    outcome, said = compile_it()
    assert outcome == "miss" and said.startswith(reason)
    assert compile_it() == ("hit", "")


def test_a_missing_library_function_is_a_miss(cache_folder):
    """Not the end of the process, which is what LLVM makes of an unknown symbol."""
    compile_it()
    rewrite(entry(cache_folder) / "manifest.json", externals=["no_such_function_f"])
    assert compile_it() == ("miss", "this process has no function no_such_function_f")
    assert compile_it() == ("hit", "")


def test_an_entry_for_another_machine_is_named(cache_folder):
    compile_it()
    kept = entry(cache_folder)
    other(kept / "manifest.json", llvmlite="0.1")
    kept.rename(kept.with_name(kept.name.split("-")[0] + "-01234567"))
    outcome, reason = compile_it()
    assert outcome == "miss" and reason.startswith("other version: kept for llvmlite 0.1, this is ")


# ---- the folder ----------------------------------------------------------------------------------


def test_a_folder_that_others_can_open_is_not_used(cache_folder):
    compile_it()
    cache_folder.chmod(0o755)
    outcome, reason = compile_it()
    assert outcome == "miss" and "not using" in reason and "mode 0755" in reason
    found = cache.info()
    assert found.folder != cache_folder and "chmod 700" in found.reason
    assert stat.S_IMODE(found.folder.stat().st_mode) == 0o700
    assert compile_it() == ("hit", "")  # in the private folder, while the process lives
    cache_folder.chmod(0o700)
    assert cache.info().folder == cache_folder


def test_a_folder_of_somebody_else_is_not_used(cache_folder, monkeypatch):
    compile_it()
    owner = cache_folder.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(Unsafe, match=f"belongs to user {owner}, not to us"):
        check_folder(cache_folder)
    with pytest.raises(Unsafe, match="belongs to user"):
        read_private(entry(cache_folder) / "kernels.o")
    assert "belongs to user" in folder().reason


def test_a_place_that_is_no_folder_is_not_used(cache_folder):
    cache_folder.rmdir()
    cache_folder.write_text("a file")
    assert compile_it()[0] == "miss"
    assert "not using" in cache.info().reason


def test_off_neither_reads_nor_writes(cache_folder, monkeypatch):
    compile_it()
    truncate(entry(cache_folder) / "kernels.o")
    before = {p: p.stat().st_mtime_ns for p in cache_folder.rglob("*")}
    monkeypatch.setenv("LAB_CACHE", "0")
    assert compile_it() == ("miss", "off: LAB_CACHE=0")
    assert {p: p.stat().st_mtime_ns for p in cache_folder.rglob("*")} == before
    assert not cache.info().enabled and "off" in str(cache.info())


def test_a_disk_that_takes_nothing_costs_time_only(cache_folder, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "write_private", full)
    outcome, reason = compile_it()
    assert (
        outcome == "miss" and reason.startswith("absent; not kept: ") and "No space left" in reason
    )
    assert list(cache_folder.iterdir()) == []  # nothing half written


def test_what_a_kernel_computes_is_in_the_key_and_where_it_was_written_is_not():
    a = "def k(x):\n    t = x[0] + 1  # block.py:3  x + 1\n"
    assert cache.key_of(a) == cache.key_of(a.replace("block.py:3", "block.py:9"))
    assert cache.key_of(a) != cache.key_of(a.replace("+ 1  ", "+ 2  "))


# ---- the limit -----------------------------------------------------------------------------------


def one_of(size):
    """Compile a program of its own for this size; its key."""
    with trace.record() as events:
        compile_graph(traced(chain, meta(size), meta(size)), "inference")
    found = events.of(trace.DiskCache)
    return found[0].key, [event.key for event in found if event.outcome == "evicted"]


def kept_in(root):
    return {p.name for p in root.iterdir() if p.name != room.STORED}


def use_at(root, key, seconds):
    os.utime(root / key / "manifest.json", (seconds, seconds))


def test_what_was_not_used_for_longest_makes_room(cache_folder, monkeypatch):
    keys = [one_of(size)[0] for size in (4, 5, 6)]
    for seconds, key in zip((3, 1, 2), keys):  # the second one is the oldest
        use_at(cache_folder, key, seconds)
    allowed = 3.5 * cache.info().bytes / 3
    monkeypatch.setenv("LAB_CACHE_LIMIT", str(allowed / room.MEGABYTE))
    newest, gone = one_of(7)
    assert gone == [keys[1]]
    assert kept_in(cache_folder) == {keys[0], keys[2], newest}
    found = cache.info()
    assert (found.entries, found.evicted) == (3, 1) and found.bytes <= found.limit == int(allowed)
    assert "1 evicted" in str(found)


def test_a_hit_is_a_use(cache_folder, monkeypatch):
    keys = [one_of(size)[0] for size in (4, 5)]
    for key in keys:
        use_at(cache_folder, key, 1)
    one_of(4)
    monkeypatch.setenv("LAB_CACHE_LIMIT", str(2.5 * cache.info().bytes / 2 / room.MEGABYTE))
    assert one_of(6)[1] == [keys[1]]


def test_the_newest_stays_though_it_is_too_large(cache_folder, monkeypatch):
    monkeypatch.setenv("LAB_CACHE_LIMIT", "0")
    first, gone = one_of(4)
    assert gone == []
    assert one_of(4) == (first, []) and cache.info().hits == 1
    second, gone = one_of(5)
    assert gone == [first] and kept_in(cache_folder) == {second}


def test_a_limit_that_is_no_number_is_said(cache_folder, monkeypatch):
    monkeypatch.setenv("LAB_CACHE_LIMIT", "256 MB")
    with pytest.raises(ValueError, match="LAB_CACHE_LIMIT='256 MB' is not a number of megabytes"):
        cache.info()


def test_what_a_killed_process_left_goes_after_an_hour(cache_folder, monkeypatch):
    one_of(4)
    old, young = cache_folder / ".new-old", cache_folder / ".new-young"
    for path in (old, young):
        path.mkdir(0o700)
        (path / "kernels.o").write_bytes(b"half")
    os.utime(old, (1, 1))
    monkeypatch.setenv("LAB_CACHE_LIMIT", "0")
    one_of(5)
    assert not old.exists() and young.exists()


def test_entries_are_looked_at_only_when_they_may_be_too_large(cache_folder, monkeypatch):
    one_of(4)
    looks = []
    entries = room.entries
    monkeypatch.setattr(room, "entries", lambda where: looks.append(where) or entries(where))
    for size in (5, 6, 7):
        one_of(size)
    assert looks == []
    noted = sum(map(int, (cache_folder / room.STORED).read_text().split()))
    assert noted == sum(f.stat().st_size for key in kept_in(cache_folder)
                        for f in (cache_folder / key).iterdir())
    monkeypatch.setenv("LAB_CACHE_LIMIT", str(noted / room.MEGABYTE))
    assert one_of(8)[1] != [] and len(looks) == 1
    assert len((cache_folder / room.STORED).read_text().split()) == 1


@pytest.mark.parametrize("damage", ["missing", "no number", "a link", "open to others"])
def test_what_was_stored_is_counted_anew_where_the_note_is_no_good(
    cache_folder, monkeypatch, tmp_path, damage
):
    one_of(4)
    note, foreign = cache_folder / room.STORED, tmp_path / "foreign"
    foreign.write_text("1\n")
    if damage in ("missing", "a link"):
        note.unlink()
    if damage == "a link":
        note.symlink_to(foreign)
    elif damage == "no number":
        note.write_text("many\n")
    elif damage == "open to others":
        note.chmod(0o622)
    monkeypatch.setenv("LAB_CACHE_LIMIT", str(1.5 * cache.info().bytes / room.MEGABYTE))
    first = kept_in(cache_folder)
    second, gone = one_of(5)
    assert set(gone) == first and kept_in(cache_folder) == {second}
    assert foreign.read_text() == "1\n" and stat.S_IMODE(note.stat().st_mode) == 0o600
    assert note.is_file() and not note.is_symlink()


def test_users_reach_it_through_the_compiler():
    assert torch.compiler.cache is cache


def test_versions_are_those_that_are_installed():
    versions = cache.made_by()
    for name in ("numba", "llvmlite"):
        assert versions[name] == metadata.version(name)


# ---- a miss and its price ------------------------------------------------------------------------


def test_kernels_that_are_alike_are_compiled_once(cache_folder):
    """Two layers: the same kernel twice, with a launcher each."""

    def layers(x, y, z):
        return ops.relu(ops.add(x, y)), ops.relu(ops.add(z, x))

    options = FusionOptions(max_nodes=1)
    with trace.record() as events:
        call = compile_graph(traced(layers, *[meta(37)] * 3), "inference", options)
    (event,) = events.of(trace.DiskCache)
    assert (len(call.kernels), event.units) == (2, 1)
    assert event.numba > 0 and event.llvm > 0
    given = [filled(meta(37), k) for k in range(3)]
    for got, wanted in zip(call(list(given)), layers(*given)):
        assert (got.array == wanted.array).all()
    with trace.record() as events:
        compile_graph(traced(layers, *[meta(37)] * 3), "inference", options)
    assert events.of(trace.DiskCache)[0].units == 0
