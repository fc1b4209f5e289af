"""The one door to Numba: compile kernels, cache them, warm them up.

A *kernel* is a function on numbers and NumPy arrays, written in the part of Python that Numba
compiles to machine code::

    from py2048.engine.jit import kernel

    @kernel(inline=True)
    def twice(value): ...

    @kernel("(uint8[::1], int64)")
    def fill(cells, count): ...

`py2048.engine.jit.disk_cache` keeps what was compiled, `py2048.engine.jit.progress` tells how
far the compiler is, `py2048.engine.jit.numba_parts` has what Numba does not emit. The cache and
a few shortcuts use parts of Numba that it does not document. Where a version lacks one, kernels
compile in each process, or start more slowly; what they compute is the same.

Where Numba is not installed, every kernel runs as plain Python: a hint takes a few tenths of a
second, and nothing waits for the compiler. ``PY2048_JIT=0`` (or Numba's own
``NUMBA_DISABLE_JIT=1``) does the same, and ``NUMBA_BOUNDSCHECK=1`` checks every index. `plain_form`
gives a single kernel as plain Python.

`together` runs kernels, which release the GIL, on several threads.

This module imports Numba when the first kernel is declared, not before.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from py2048.engine.jit.disk_cache import (
    DiskCache,
    cache_directory,
    digest_of,
    make_name_unique,
    name_of,
)
from py2048.engine.jit.numba_parts import (
    PRIVATE_CHANGED,
    Example,
    Kernel,
    address_of,
    exchange,
    fetch_add,
    gather_bits,
    gathers_bits,
    memory_at,
    numba_module,
    pause,
    prefetch,
    select,
    teach_instructions,
)
from py2048.engine.jit.progress import names_in

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = [
    "HAS_COMPILER",
    "IS_PLAIN",
    "address_of",
    "available_threads",
    "cache_directory",
    "digest_of",
    "exchange",
    "fetch_add",
    "gather_bits",
    "gathers_bits",
    "kernel",
    "kernels",
    "memory_at",
    "pause",
    "plain_form",
    "pool_of",
    "prefetch",
    "ready",
    "select",
    "shares",
    "together",
    "type_of",
    "warm_up",
]

Function = TypeVar("Function", bound=Callable[..., object])
Result = TypeVar("Result")
Progress = Callable[[int, int, str], None]
"""Called with the number of compilations done, the number of all, and the next one's name."""

Use = tuple[str, Callable[[], object]]
"""Something that compiles kernels made for it when it is called, and its name."""

HAS_COMPILER = find_spec("numba") is not None
"""Whether Numba is installed, from the extra ``fast``."""

SWITCHES = {"PY2048_JIT": "0", "NUMBA_DISABLE_JIT": "1"}
IS_PLAIN = not HAS_COMPILER or any(os.environ.get(name) == off for name, off in SWITCHES.items())
"""Whether kernels run as plain Python in this process."""

if IS_PLAIN:  # words wrap around on purpose
    warnings.filterwarnings("ignore", "overflow encountered in scalar", RuntimeWarning)

UNDOCUMENTED = "_nrt", "forceinline", "no_cfunc_wrapper"
"""Numba's options that its documentation does not have."""

PACKAGE = __name__.partition(".")[0]

_registry: dict[str, Kernel] = {}
"""The kernels of the package by their full names; those that others declare are their own."""


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(
    *signatures: str,
    example: Example | None = ...,
    inline: bool = ...,
    fastmath: bool = ...,
    borrows: bool = ...,
    expand: bool = ...,
) -> Callable[[Function], Function]: ...
def kernel(
    *arguments: Any,
    example: Example | None = None,
    inline: bool = False,
    fastmath: bool = False,
    borrows: bool = False,
    expand: bool = False,
) -> Any:
    """Declare a kernel: it compiles at its first call, releases the GIL and is cached on disk.

    Args:
        *arguments: the signatures that `warm_up` compiles, such as ``"(uint64, int64)"``. A
            kernel without one is a helper, compiled only as a part of others. Other argument
            types still work; they compile at their first use.
        example: gives arguments to compile for, where a signature would be too long to write.
        inline: dissolve the kernel in its callers, which lets loops around it become vector code.
        expand: write the kernel out in its callers before anything is compiled. Each layer of
            kernels is optimised again with all that it calls, so one that is large and has a
            single caller makes them compile a fifth faster if it is not a layer of its own.
        fastmath: allow floating-point sums to be reordered.
        borrows: promise that the kernel creates no array and keeps none. References to arrays are
            then not counted, which can be most of the time of a kernel that is given many; and
            one from the cache does not wait for the part of Numba that counts them.
    """
    if len(arguments) == 1 and callable(arguments[0]):
        return kernel()(arguments[0])
    options = {"forceinline": inline, "fastmath": fastmath}
    chosen: dict[str, object] = {name: True for name, value in options.items() if value}
    if borrows:
        chosen["_nrt"] = False
    if expand:
        chosen["inline"] = "always"
    forms = arguments if example is None else (*arguments, example)
    return lambda function: _declare(function, forms, chosen)


def _declare(
    function: FunctionType, forms: tuple[str | Example, ...], options: Mapping[str, object]
) -> Kernel:
    make_name_unique(function)
    declared = _plain(function) if IS_PLAIN else _compiled(function, options)
    declared.warm_forms = forms
    if function.__module__.startswith(f"{PACKAGE}."):
        _registry[name_of(function)] = declared
    return declared


def _plain(function: FunctionType) -> Kernel:
    declared = cast("Kernel", function)
    declared.py_func = function
    return declared


def _compiled(function: FunctionType, options: Mapping[str, object]) -> Kernel:
    teach_instructions()
    given = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    known = {name: value for name, value in given.items() if name not in _unknown_options()}
    dispatcher: Kernel = numba_module().njit(**known)(function)
    dispatcher._cache = DiskCache(dispatcher)
    return dispatcher


@cache
def _unknown_options() -> frozenset[str]:
    """Return those of our undocumented options, all for speed, that this version does not know."""
    known: object = None
    with contextlib.suppress(*PRIVATE_CHANGED):
        known = numba_module(".core.registry").cpu_target.options
    return frozenset(name for name in UNDOCUMENTED if not hasattr(known, name))


@cache
def plain_form(kernel: Any) -> FunctionType:
    """Return `kernel` as a plain Python function that calls the plain forms of others.

    (A kernel's own ``py_func`` calls the compiled ones.) Words are NumPy scalars there: run it
    under ``numpy.errstate(over="ignore")``, as they wrap around on purpose.
    """
    function: FunctionType = getattr(kernel, "py_func", kernel)
    names = (name for name in names_in(function.__code__) if name in function.__globals__)
    scope = {name: _plain_value(function.__globals__[name]) for name in names}
    scope["__builtins__"] = function.__globals__["__builtins__"]
    cells = (CellType(_plain_value(cell.cell_contents)) for cell in function.__closure__ or ())
    name, defaults = function.__name__, function.__defaults__
    return FunctionType(function.__code__, scope, name, defaults, tuple(cells))


def _plain_value(value: Any) -> object:
    return plain_form(value) if hasattr(value, "py_func") else value


@cache
def ready(kernel: Any, form: int = 0) -> Any:
    """Return `kernel` as compiled for its declared arguments; call it with those types only.

    A kernel that is called looks up the types of its arguments, which takes Numba a twentieth of a
    second the first time. This one does not look: an array of other numbers, dimensions or layout
    is taken for what was declared. It is for arrays that the caller itself made.

    Args:
        kernel: a kernel with declared arguments.
        form: which of them, if there are several.
    """
    return kernel if IS_PLAIN else _compile(kernel, kernel.warm_forms[form]) or kernel


# --- warming up ----------------------------------------------------------------------------------


def kernels() -> dict[str, Kernel]:
    """Return every kernel of the package by its full name, importing the files that hold them."""
    root = Path(__file__).parents[2]
    for path in sorted(root.rglob("*.py")):
        if re.search(r"^ *@kernel\b", path.read_text(encoding="utf-8"), re.MULTILINE):
            parts = PACKAGE, *path.relative_to(root).with_suffix("").parts
            importlib.import_module(".".join(parts))
    return dict(sorted(_registry.items()))


def warm_up(progress: Progress | None = None, uses: Sequence[Use] = ()) -> int:
    """Compile every kernel for its declared arguments, or load it from the cache.

    Args:
        progress: called before each and at the end.
        uses: called at last, for kernels that are made only when they are used.

    Returns:
        the number of compiled forms and uses.
    """
    declared = [
        (name, lambda item=item, form=form: _compile(item, form))
        for name, item in kernels().items()
        for form in item.warm_forms
    ]
    jobs: list[Use] = [*declared, *uses]
    for done, (name, job) in enumerate(jobs):
        if progress is not None:
            progress(done, len(jobs), name)
        if not IS_PLAIN:
            job()
    if progress is not None:
        progress(len(jobs), len(jobs), "")
    return len(jobs)


def _compile(item: Kernel, form: str | Example) -> object:
    return item.compile(form if isinstance(form, str) else tuple(map(type_of, form())))


def type_of(value: object) -> object:
    """Return what ``numba.typeof`` does, without ``numpy.ma``, which that imports for an array."""
    try:
        return _quick_type(value)
    except PRIVATE_CHANGED:
        return numba_module().typeof(value)


def _quick_type(value: Any) -> Any:
    types, support = numba_module().types, numba_module(".np.numpy_support")
    if isinstance(value, tuple):
        return types.BaseTuple.from_types(tuple(map(_quick_type, value)), type(value))
    if not getattr(value, "ndim", 0):
        return numba_module().typeof(value)
    layout, is_fixed = support.map_layout(value), not value.flags.writeable
    return types.Array(support.from_dtype(value.dtype), value.ndim, layout, readonly=is_fixed)


# --- threads --------------------------------------------------------------------------------------


def available_threads() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shares(count: int, workers: int) -> list[tuple[int, int]]:
    """Return `workers` ranges of nearly equal length that cover `count`."""
    bounds = [count * k // workers for k in range(workers + 1)]
    return list(pairwise(bounds))


def together(function: Callable[..., Result], jobs: Sequence[tuple[object, ...]]) -> list[Result]:
    """Call `function` with the arguments of each job, the first one on this thread."""
    if len(jobs) == 1:
        return [function(*jobs[0])]
    waiting = [pool_of(len(jobs) - 1).submit(function, *job) for job in jobs[1:]]
    return [function(*jobs[0]), *(future.result() for future in waiting)]


@cache
def pool_of(workers: int) -> ThreadPoolExecutor:
    """Return the threads that work beside the calling one; a forked process has its own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers, "py2048-batch")


if hasattr(os, "register_at_fork"):
    # A child process has none of its parent's threads.
    os.register_at_fork(after_in_child=pool_of.cache_clear)
