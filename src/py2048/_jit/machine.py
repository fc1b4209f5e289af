"""What the compiler compiles for."""

from __future__ import annotations

from py2048._jit.imports import numba_module

_SETS = {
    "avx512f": "AVX-512",
    "avx2": "AVX2",
    "avx": "AVX",
    "sse2": "SSE2",
    "sve": "SVE",
    "neon": "NEON",
}


def instruction_set() -> str:
    """Return the widest vector instructions that kernels are compiled for, and the processor."""
    target = numba_module(".core.registry").cpu_target.target_context
    _, name, features = target.codegen().magic_tuple()
    present = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    widest = next((title for flag, title in _SETS.items() if flag in present), "no known vectors")
    return f"{widest} ({name})"
