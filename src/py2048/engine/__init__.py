"""The compiled engine: rules as arrays, kernels for boards, batches of games and rollouts.

Only this package depends on the memory layout of boards, and only `py2048.engine.jit` imports
Numba.
"""

from __future__ import annotations
