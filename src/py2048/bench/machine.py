"""What a measurement ran on: processor, instructions, versions, load."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from py2048.compiled.batch import behaviour_signature
from py2048.compiled.jit.disk_cache import processor as compiled_for
from py2048.compiled.threads import available_threads

VECTORS = {
    "avx512f": "AVX-512",
    "avx2": "AVX2",
    "avx": "AVX",
    "sse2": "SSE2",
    "sve": "SVE",
    "neon": "NEON",
}
LIBRARIES = ("numpy", "numba", "llvmlite", "gymnasium")


def machine() -> dict[str, str]:
    """Return the machine and the settings of a measurement, line by line."""
    return {
        "processor": processor(),
        "cores": str(available_threads()),
        "instructions": instruction_set(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "libraries": ", ".join(filter(None, map(_version, LIBRARIES))),
        "compiler": compiler_version(),
        "py2048": importlib.metadata.version("py2048"),
        "load": load(),
        "signature": f"{behaviour_signature()} (of the engine's behaviour)",
    }


def instruction_set() -> str:
    """Return the widest vector instructions that kernels are compiled for, and the processor."""
    name, features = compiled_for()
    present = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    widest = next((title for flag, title in VECTORS.items() if flag in present), "no known vectors")
    return f"{widest} ({name})"


def processor() -> str:
    """Return the name of the processor."""
    path = Path("/proc/cpuinfo")
    found = (
        re.search(r"^model name\s*: (.*)", path.read_text(), re.MULTILINE)
        if path.exists()
        else None
    )
    return found[1] if found else platform.processor() or platform.machine()


def compiler() -> str | None:
    """Return the path of a C compiler, if there is one."""
    return shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")


def compiler_version() -> str:
    """Return the first line that the compiler says about itself."""
    path = compiler()
    if path is None:
        return "none: no C baselines"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return (said.splitlines() or [path])[0]


def load() -> str:
    """Return how busy the machine is before the measurement."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    return f"{os.getloadavg()[0]:.1f} programs waiting or running in the last minute"


def _version(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return ""
