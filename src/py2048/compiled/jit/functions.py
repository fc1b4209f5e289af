"""Kernels as Python functions: their names, their plain forms, and digests of what they mean."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any


def name_of(function: FunctionType) -> str:
    """Return the full name of a kernel, with the names of the kernels that it was built from."""
    return f"{function.__module__}.{_local_name(function)}"


def _local_name(function: FunctionType) -> str:
    return function.__qualname__.rpartition("<locals>.")[2]


def make_name_unique(function: FunctionType) -> None:
    """Give a function that captured values a name of its own among those of its factory.

    The compiler names machine code after the function. Two kernels of one factory, each loaded
    from the cache, would else have the same name, and one would call the other's parts.
    """
    contents = [cell.cell_contents for cell in function.__closure__ or ()]
    if not contents:
        return
    kernels = [item.py_func for item in contents if hasattr(item, "py_func")]
    values = [_text_of(item) for item in contents if not hasattr(item, "py_func")]
    meaning = "\0".join([*map(name_of, kernels), *values])
    parts = [_local_name(part).partition("[")[0] for part in kernels]
    parts.append(hashlib.sha256(meaning.encode()).hexdigest()[:12])
    function.__qualname__ += f"[{','.join(parts)}]"


@cache
def plain_form(kernel: Any) -> Any:
    """Return `kernel` as a plain Python function that calls the plain forms of others.

    (A kernel's own ``py_func`` calls the compiled ones.) Words are NumPy scalars there: run it
    under ``numpy.errstate(over="ignore")``, as they wrap around on purpose.
    """
    function = getattr(kernel, "py_func", kernel)
    names = (name for name in _names_in(function.__code__) if name in function.__globals__)
    scope = {name: _plain_value(function.__globals__[name]) for name in names}
    scope["__builtins__"] = function.__globals__["__builtins__"]
    cells = (CellType(_plain_value(cell.cell_contents)) for cell in function.__closure__ or ())
    name, defaults = function.__name__, function.__defaults__
    return FunctionType(function.__code__, scope, name, defaults, tuple(cells))


def _plain_value(value: Any) -> Any:
    return plain_form(value) if hasattr(value, "py_func") else value


# --- what a compiled kernel depends on -----------------------------------------------------------


def digest_of(kernel: Any) -> str:
    """Return the digest of everything in the source that decides what `kernel` compiles to."""
    sha = hashlib.sha256()
    for part in _parts_of(kernel, set()):
        sha.update(part.encode() + b"\0")
    return sha.hexdigest()


def _parts_of(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield the name and content of `value` and of all that it refers to, in a fixed order."""
    function = getattr(value, "py_func", value)
    if not isinstance(function, FunctionType):
        yield _text_of(value)
        return
    yield f"{function.__module__}.{function.__qualname__}"
    if id(function) in seen:
        return
    seen.add(id(function))
    yield repr(sorted(getattr(value, "targetoptions", {}).items()))
    yield repr(function.__defaults__)
    yield from _code_parts(function.__code__)
    for cell in function.__closure__ or ():
        yield from _parts_of(cell.cell_contents, seen)
    for name in _names_in(function.__code__):
        if name in function.__globals__:
            yield name
            yield from _global_parts(function, function.__globals__[name], seen)


def _global_parts(function: FunctionType, value: Any, seen: set[int]) -> Iterator[str]:
    if not isinstance(value, ModuleType):
        yield from _parts_of(value, seen)
    elif value.__name__.partition(".")[0] == function.__module__.partition(".")[0]:
        for name in _names_in(function.__code__):
            if hasattr(value, name):
                yield from _global_parts(function, getattr(value, name), seen)


def _code_parts(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        else:
            yield repr(constant)


def called_names(function: FunctionType) -> list[str]:
    """Return the names that a function reads from its module and from others."""
    return _names_in(function.__code__)


def _names_in(code: CodeType) -> list[str]:
    nested = [name for c in code.co_consts if isinstance(c, CodeType) for name in _names_in(c)]
    return sorted({*code.co_names, *nested})


def _text_of(value: Any) -> str:
    """Return a text that differs where `value` does.

    The text of an arbitrary object holds its address: its kernels then never hit the cache,
    which is slow but not wrong.
    """
    if not isinstance(value, type) and hasattr(value, "dtype"):
        shape = getattr(value, "shape", ())
        return f"{value.dtype}{shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return f"{type(value).__name__}:{value!r}"
