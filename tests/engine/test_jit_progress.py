"""The compiler reports progress, and callers may refuse to wait."""

from __future__ import annotations

from pathlib import Path

from tests.processes import python

from py2048.engine import jit

PROGRAM = """
import threading, time
from py2048.engine.jit import kernel, progress
from py2048.engine.jit.progress import NotReadyError, ready_only

@kernel
def one(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

@kernel(expand=True)
def written_out(n):
    return one(n) + 1

@kernel
def main(n):
    return written_out(n) + one(n + 1)

@kernel
def wrong(n):
    return n.nothing

try:
    with ready_only():
        main(3)
    print("compiled")
except NotReadyError:
    print("not ready", progress.now(), len(main.overloads), len(one.overloads))

seen, over = [], threading.Event()
def watch():
    while not over.is_set():
        if (state := progress.now()) is not None:
            seen.append(state)
        time.sleep(0.001)
watcher = threading.Thread(target=watch)
watcher.start()
value = main(3)
over.set()
watcher.join()
shares = [state.share for state in seen]
print(value, bool(seen), shares == sorted(shares), 0 <= shares[0], shares[-1] < 1)
print(max(state.done for state in seen) <= 2, {state.total for state in seen}, progress.now())
with ready_only():
    print(main(4))
try:
    wrong(1)
except Exception as error:
    print(type(error).__name__, progress.now())
"""


def test_progress_is_reported_and_waiting_is_optional(tmp_path):
    """Inside `ready_only` a missing kernel raises; elsewhere the reported share only grows.

    Inlined kernels are not counted as steps, and after an error nothing is being compiled.
    """
    program = tmp_path / "program_kernels.py"
    program.write_text(PROGRAM)
    source = Path(jit.__file__).parents[3]
    settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(source)}
    done = python(program, **settings)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "not ready None 0 0",
        "20 True True True True",
        "True {2} None",
        "45",
        "TypingError None",
    ]
