"""What the compiler compiles for."""

from __future__ import annotations

import importlib
from functools import cache

_SETS = {
    "avx512f": "AVX-512",
    "avx2": "AVX2",
    "avx": "AVX",
    "sse2": "SSE2",
    "sve": "SVE",
    "neon": "NEON",
}


@cache
def processor() -> tuple[str, str]:
    """Return LLVM's name of the processor and the list of its features."""
    binding = importlib.import_module("llvmlite.binding")
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot tell on some systems
        features = ""
    return binding.get_host_cpu_name(), features


def instruction_set() -> str:
    """Return the widest vector instructions that kernels are compiled for, and the processor."""
    name, features = processor()
    present = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    widest = next((title for flag, title in _SETS.items() if flag in present), "no known vectors")
    return f"{widest} ({name})"
