"""GPU emulation: compile the CUDA sources with a C++ compiler and run them on the CPU."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from py2048.core.errors import Py2048Error
from py2048.engine import cuda
from py2048.engine.cuda import Card, Launch

SHIM = Path(__file__).with_name("warps.h")
FLAGS = (
    "-O1",
    "-w",
    "-std=c++20",
    "-shared",
    "-fPIC",
    "-Wl,-Bsymbolic",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
)
NUMBERS = {"u4": ctypes.c_uint32, "u8": ctypes.c_uint64, "f4": ctypes.c_float}


class EmulatedCard(Card):
    """A GPU emulation whose arrays are NumPy arrays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arrays = np

    def get(self, array: Any) -> Any:
        return array

    def kernels(self, source: str, names: Sequence[str]) -> list[Launch]:
        stem = self.folder / hashlib.sha256(source.encode()).hexdigest()[:16]
        if not stem.with_suffix(".so").exists():
            wanted = "\n".join(f"KERNEL({name})" for name in names)
            stem.with_suffix(".cpp").write_text(f'#include "{SHIM}"\n{source}\n{wanted}\n')
            files = ["-o", f"{stem}.so", f"{stem}.cpp"]
            subprocess.run(["g++", *FLAGS, *files], check=True, timeout=100)
        library = ctypes.CDLL(f"{stem}.so")
        return [launch_of(library, name) for name in names]


def launch_of(library: ctypes.CDLL, name: str) -> Callable[..., None]:
    address_of = library[f"address_of_{name}"]
    address_of.restype = ctypes.c_void_p
    address = address_of()

    def launch(threads: int, *given: Any) -> None:
        kinds = [
            NUMBERS[each.dtype.str[1:]] if np.ndim(each) == 0 else ctypes.c_void_p for each in given
        ]
        values = [each.item() if np.ndim(each) == 0 else each.ctypes.data for each in given]
        ctypes.CFUNCTYPE(None, ctypes.c_uint32, *kinds)(address)(threads, *values)

    return launch


def real_card(_: Path) -> Card:
    """The GPU of this machine."""
    pytest.importorskip("cupy")
    try:
        return cuda.card()
    except Py2048Error as error:
        pytest.skip(str(error))


def emulated_card(folder: Path) -> Card:
    if shutil.which("g++") is None:
        pytest.skip("there is no C++ compiler")
    return EmulatedCard(folder)


@pytest.fixture(params=[emulated_card, real_card])
def every_card(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Card:
    """A GPU, emulated and real, which `cuda.card` returns."""
    found: Card = request.param(tmp_path)
    monkeypatch.setattr(cuda, "card", lambda: found)
    return found
