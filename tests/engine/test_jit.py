"""Kernels compile once, and the cache never returns a stale one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pexpect
import pytest
from kernel_process import output_of
from tests.processes import python

from py2048.core.installation import install_line
from py2048.engine import jit
from py2048.engine._batch_kernels import BatchState
from py2048.engine.jit import disk_cache

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a kernel in one file and its helper in another."""
    (tmp_path / "main_kernels.py").write_text(PROGRAMS["main"])
    write_helper(tmp_path)
    return tmp_path


def write_helper(folder: Path, factor: int = 10, offset: int = 1, docstring: str = "") -> None:
    text = PROGRAMS["helper"].format(factor=factor, offset=offset, docstring=docstring)
    (folder / "helper_kernels.py").write_text(text)


def run(folder: Path, *arguments: str, **environment: str) -> tuple[int, int]:
    """Run the kernel in another process; return its value and the number of cache hits."""
    settings = {"NUMBA_CACHE_DIR": str(folder / "cache"), **environment}
    value, hits = map(int, output_of(folder, arguments, settings).split())
    return value, hits


def run_alone(folder: Path, **environment: str) -> tuple[int, int]:
    """Run the kernel in a new process that imports Numba itself, or does not."""
    source = Path(jit.__file__).parents[3]
    settings = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(source)}
    settings |= {"PYTHONDONTWRITEBYTECODE": "1"} | environment
    value, hits = map(
        int, python("main_kernels.py", cwd=folder, check=True, **settings).stdout.split()
    )
    return value, hits


def cached_files(folder: Path) -> list[Path]:
    return list((folder / "cache").rglob("__main__.*.kernel"))


def test_editing_a_helper_in_another_file_recompiles(project):
    """Editing a helper in another file recompiles the kernel.

    The next process loads what the previous one compiled, and after any number of edits the cache
    has one file per kernel and signature.
    """
    assert run(project) == (22, 0)
    write_helper(project, offset=2)
    assert run(project) == (24, 0)
    write_helper(project, factor=100, offset=2)
    assert run(project) == (204, 0)
    write_helper(project, factor=100, offset=2, docstring="Another docstring.")
    assert run(project) == (204, 1)
    assert len(cached_files(project)) == 1


def test_cached_kernels_use_arrays_and_texts(tmp_path):
    """Cached code finds the runtime functions of Numba that it calls."""
    text = PROGRAMS["arrays"]
    (tmp_path / "main_kernels.py").write_text(text)
    assert run_alone(tmp_path) == (2, 0)
    assert run_alone(tmp_path) == (2, 1)


@pytest.mark.parametrize("name", ["modules", "_reduce", "_rebuild"])
def test_no_undocumented_part_of_numba_is_needed(tmp_path, name):
    """If Numba renames an undocumented part, kernels compile in each process and still work."""
    (tmp_path / "main_kernels.py").write_text(PROGRAMS["hidden"])
    assert run(tmp_path, name) == (22, 0)
    assert run(tmp_path, name) == (22, 0)
    assert list((tmp_path / "cache").rglob("*.lock")) == []


def test_kernels_in_any_folder_of_the_cache_are_found(project):
    """Kernels in read-only cache folders are used, and everyone may read the files."""
    run(project)
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in cached_files(project))
    home = project / "home"
    shutil.move(project / "cache" / "py2048", home / "py2048" / "kernels")
    assert run(project, XDG_CACHE_HOME=str(home)) == (22, 1)


def test_a_damaged_file_is_recompiled(project):
    """A damaged cache file is never loaded."""
    run(project)
    (file,) = cached_files(project)
    content = file.read_bytes()
    for damaged in (b"nonsense", content[: len(content) // 2]):
        file.write_bytes(damaged)
        assert run(project) == (22, 0)
    assert run(project) == (22, 1)


def test_of_several_processes_one_compiles(project):
    """If several processes need a kernel, one compiles it and the others load it."""
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: run_alone(project), range(3)))
    assert sorted(answers) == [(22, 0), (22, 1), (22, 1)]
    assert len(cached_files(project)) == 1
    assert list((project / "cache").rglob("*.lock")) == []


def test_waiting_for_a_lock_times_out(tmp_path, monkeypatch):
    """Waiting for a lock times out, and a released lock is available immediately."""
    monkeypatch.setattr(disk_cache, "LOCK_TIMEOUT_S", 0.1)
    path = tmp_path / "some.lock"
    first = disk_cache.FileLock(path)
    disk_cache.FileLock(path).release()
    assert path.exists()
    first.release()
    assert not path.exists()
    monkeypatch.setattr(disk_cache, "LOCK_TIMEOUT_S", 60.0)
    disk_cache.FileLock(path).release()


def test_plain_mode_loads_no_numba(project):
    """With ``PY2048_JIT=0``, kernels are plain functions and Numba is not imported."""
    main = project / "main_kernels.py"
    main.write_text(main.read_text() + "    import sys; assert 'numba' not in sys.modules\n")
    assert run_alone(project, PY2048_JIT="0") == (22, 0)


def without_numba(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as if Numba were not installed."""
    return python("-c", PROGRAMS["without_numba"], *words, cwd=cwd)


def test_without_numba_a_hint_is_the_same(tmp_path, cli):
    """Without Numba, kernels run as plain Python without overflow warnings."""
    words = "hint", "--json", "--player", "expectimax:depth=2", "2 4 8 / . 2 4"
    done = without_numba(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    values = cli.json(*words)["values"]
    assert json.loads(done.stdout)["values"] == pytest.approx(values)


def test_without_numba_a_terminal_shows_the_install_command():
    """Without Numba, a terminal shows the install command once, above the progress."""
    command = ["evaluate", "expectimax:depth=2", "--rules", "3x3", "-n", "2", "-j", "1"]
    words = ["-c", PROGRAMS["without_numba"], *command]
    terminal = pexpect.spawn(sys.executable, words, dimensions=(30, 500), encoding="utf-8")
    terminal.expect("py2048: faster with Numba: [^\r]*\\[fast]'\r\n\rpy2048: 2 games", timeout=60)
    terminal.close(force=True)


@pytest.mark.parametrize("word", ["bench", "train", "warm-up"])
def test_slow_work_without_numba_names_the_extra(word, tmp_path):
    """Work that would take too long without Numba exits with status 2 and the install command."""
    done = without_numba(word, *(["folder"] if word == "train" else []), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(f" needs Numba: {install_line('fast')}\n")
    assert done.stderr.count("\n") == 1


def test_without_a_writable_folder_nothing_is_cached(monkeypatch):
    """Without a writable folder, kernels compile in each process and nothing fails."""
    monkeypatch.setattr(disk_cache, "cache_candidates", lambda: iter([Path("/proc/none")]))
    disk_cache.cache_directory.cache_clear()
    try:
        assert disk_cache.cache_directory() is None

        @jit.kernel
        def add(a, b):  # type: ignore[no-untyped-def]
            return a + b

        assert add(2, 3) == 5
    finally:
        disk_cache.cache_directory.cache_clear()


def test_digest_covers_arrays_and_closures():
    """Kernels with equal code but different captured values have different digests."""

    def make(table: np.ndarray, shift: int):  # type: ignore[no-untyped-def]
        @jit.kernel
        def look_up(index):  # type: ignore[no-untyped-def]
            return table[index] + shift

        return look_up

    table = np.arange(4)
    same, other_table, other_shift = make(table, 1), make(table + 1, 1), make(table, 2)
    digests = {disk_cache.digest_of(k) for k in (make(table, 1), same, other_table, other_shift)}
    assert len(digests) == 3


def test_kernels_of_one_factory_do_not_mix(tmp_path):
    """Cached kernels from one factory keep their own captured helpers."""
    text = PROGRAMS["factory"]
    (tmp_path / "main_kernels.py").write_text(text)
    assert run(tmp_path, "0")[0] == 1126
    assert run(tmp_path, "1")[0] == 1126
    assert run(tmp_path) == (1126, 2)
    before = set(cached_files(tmp_path))
    (tmp_path / "main_kernels.py").write_text(text.replace("* 10", "* 20"))
    assert run(tmp_path) == (2146, 0)
    kept = before & set(cached_files(tmp_path))
    assert sorted(path.name.split("-")[0] for path in kept) == ["__main__.one", "__main__.two"]


def test_ready_compiles_the_declared_signature():
    """`ready` compiles the declared signature once, and calls of the kernel use the same code."""

    @jit.kernel("(int64,)", example=lambda: (np.zeros(1, np.uint8), np.zeros((1, 2), np.int64)))
    def size_of(a, b):  # type: ignore[no-untyped-def]
        return a.size + b.size

    both = np.zeros(3, np.uint8), np.zeros((2, 2), np.int64)
    assert jit.ready(size_of, 1)(*both) == size_of(*both) == 7
    assert jit.ready(size_of, 1) is jit.ready(size_of, 1)
    assert jit.IS_PLAIN or len(size_of.signatures) == 1


def test_examples_have_the_types_of_calls():
    """Example arguments have exactly the types that Numba infers for them."""
    numba = pytest.importorskip("numba")
    fixed = np.zeros(3, np.uint8)
    fixed.flags.writeable = False
    state = BatchState.empty(1, 16)
    values = (fixed, state.cells.T, state.cells[:, ::2], np.uint64(1), 1, True, (1, 2.0), state)
    for value in values:
        assert jit.type_of(value) == numba.typeof(value)


def test_kernels_of_other_packages_are_not_warmed_up():
    """`warm_up` only compiles kernels of this package."""

    @jit.kernel("(int64,)")
    def of_a_user(first, second):  # type: ignore[no-untyped-def]
        return first + second

    assert of_a_user not in jit.kernels().values()
    assert {name.partition(".")[0] for name in jit.kernels()} == {"py2048"}
