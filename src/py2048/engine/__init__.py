"""The compiled engine: rules as arrays, boards and their kernels, batches and rollouts.

Only this package knows the memory layout of boards, and only `py2048.engine.jit` imports Numba.
"""

from __future__ import annotations
