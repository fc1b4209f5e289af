"""Run a script with kernels in a process that has imported Numba but compiled nothing."""

from __future__ import annotations

import io
import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["numba", "py2048.engine.jit"])


def output_of(folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """Return the output of ``main_kernels.py`` in a folder."""
    with ProcessPoolExecutor(1, PROCESSES) as pool:
        return pool.submit(_run, folder, arguments, environment).result()


def _run(folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> str:
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv, sys.dont_write_bytecode = ["main_kernels.py", *arguments], True
    with redirect_stdout(io.StringIO()) as said:
        runpy.run_path("main_kernels.py", run_name="__main__")
    return said.getvalue()
