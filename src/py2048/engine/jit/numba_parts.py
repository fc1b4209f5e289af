"""Lazy imports of Numba's modules, and machine instructions that Numba does not emit.

Kernels call each machine instruction like a Python function.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int = int | np.int64

PRIVATE_CHANGED = AttributeError, ImportError, TypeError
"""Exceptions raised if an undocumented part of Numba is missing or has changed."""


Example = Callable[[], tuple[object, ...]]
"""A function that returns example arguments for a kernel."""


class Kernel(Protocol):
    """A kernel: a Numba dispatcher, or a plain Python function if Numba is unavailable."""

    py_func: FunctionType
    targetoptions: dict[str, object]
    warm_forms: tuple[str | Example, ...]
    _cache: object

    def compile(self, form: object, /) -> object:
        """Compile for a signature or a tuple of types; return the compiled function."""


def is_kernel(value: object) -> TypeGuard[Kernel]:
    """Return whether `value` was declared by `py2048.engine.jit.kernel`."""
    return hasattr(value, "warm_forms")


def numba_module(module: str = "") -> Any:
    """Import Numba or one of its submodules on first use. The result is untyped."""
    return importlib.import_module(f"numba{module}")


@cache
def processor() -> tuple[str, str]:
    """Return LLVM's name for the CPU and its feature list."""
    binding = importlib.import_module("llvmlite.binding")
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # not available on some systems
        features = ""
    return binding.get_host_cpu_name(), features


# --- instructions --------------------------------------------------------------------------------

Scalar = TypeVar("Scalar")

SLOW_TO_GATHER = "bdver4", "znver1", "znver2"
"""CPUs on which `gather_bits` takes hundreds of cycles."""


@cache
def register_instructions() -> None:
    """Register the functions of this module with Numba."""
    _register_select()
    _register_prefetch()
    _register_gather_bits()
    _register_atomic(fetch_add, "add")
    _register_atomic(exchange, "xchg")
    _register_pause()
    _register_memory_at()
    _register_address_of()


def _registers(
    function: Callable[..., object], result: Callable[..., object], *kinds: object
) -> Callable[[Callable[..., Any]], object]:
    """Return a decorator that registers a function with Numba.

    The decorated function emits the machine code.

    Args:
        function: The function that kernels call.
        result: Function that maps the types of the arguments to the type of the result.
        *kinds: The kinds of arguments that the decorated function accepts.
    """
    extending = numba_module(".extending")
    extending.type_callable(function)(lambda _context: result)
    decorator: Callable[..., object] = extending.lower_builtin(function, *kinds)
    return decorator


def select(condition: object, yes: Scalar, no: Scalar) -> Scalar:
    """Return `yes` if the condition is true, otherwise `no`.

    `yes` and `no` must have the same type, and both are always evaluated. Unlike a conditional
    expression, this function compiles to a single instruction without a branch. LLVM tends to move
    loads into branches, and then cannot vectorise the surrounding loop.
    """
    return yes if condition else no


def _register_select() -> None:
    """Register `select` with Numba."""
    types = numba_module().types
    kinds = types.Boolean, types.Any, types.Any

    @_registers(select, lambda _condition, yes, no: yes if yes == no else None, *kinds)
    def emit_select(_context: object, builder: Any, _signature: object, arguments: Any) -> Any:
        return builder.select(*arguments)


def prefetch(array: object, index: object) -> None:
    """Prefetch the memory at ``array.flat[index]``.

    The function compiles to one non-blocking instruction and has no effect in plain Python.
    """


def _register_prefetch() -> None:
    """Register `prefetch` with Numba, for arrays in C order."""
    types = numba_module().types

    @_registers(prefetch, lambda _array, _index: types.none, types.Array, types.Integer)
    def emit_prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with contextlib.suppress(*PRIVATE_CHANGED):  # a missing prefetch only costs speed
            _emit_prefetch(context, builder, signature.args[0], *arguments)
        return context.get_dummy_value()


def _emit_prefetch(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> None:
    # Import `arrayobj` on first use, because the import takes as long as importing NumPy.
    cgutils, arrays = numba_module(".core.cgutils"), numba_module(".np.arrayobj")
    ir = importlib.import_module("llvmlite.ir")
    pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
    instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    place = builder.gep(arrays.make_array(array_type)(context, builder, array).data, [index])
    to_read, keep_close, as_data = word(0), word(3), word(1)
    builder.call(instruction, (builder.bitcast(place, pointer), to_read, keep_close, as_data))


def gather_bits(word: np.uint64, mask: np.uint64) -> np.uint64:
    """Return the bits of `word` selected by `mask`, packed into the lowest bits.

    If `gathers_bits` is true, this function compiles to a single instruction; otherwise, it does
    not compile.
    """
    gathered, place = 0, 0
    for bit in range(64):
        if int(mask) >> bit & 1:
            gathered |= (int(word) >> bit & 1) << place
            place += 1
    return type(word)(gathered)


@cache
def gathers_bits() -> bool:
    """Return whether the target CPU has a fast instruction for `gather_bits`."""
    options = numba_module().config
    if options.CPU_NAME or options.CPU_FEATURES:  # cross-compiling for another CPU
        return False
    name, features = processor()
    return name not in SLOW_TO_GATHER and "+bmi2" in features.split(",")


def _register_gather_bits() -> None:
    """Register `gather_bits` with Numba."""
    word = numba_module().types.uint64

    @_registers(
        gather_bits, lambda given, mask: word if given == mask == word else None, word, word
    )
    def emit_gather_bits(_context: object, builder: Any, _signature: object, arguments: Any) -> Any:
        ir = importlib.import_module("llvmlite.ir")
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * 2)
        instruction = builder.module.declare_intrinsic("llvm.x86.bmi.pext.64", (), kind)
        return builder.call(instruction, arguments)


# --- shared memory -------------------------------------------------------------------------------


def fetch_add(words: NDArray[np.int64], index: Int, value: Int) -> np.int64:
    """Atomically add to ``words[index]``; return the previous value."""
    before: np.int64 = words[index]
    words[index] = before + value
    return before


def exchange(words: NDArray[np.int64], index: Int, value: Int) -> np.int64:
    """Atomically set ``words[index]``; return the previous value."""
    before: np.int64 = words[index]
    words[index] = value
    return before


def pause() -> None:
    """Pause briefly in a polling loop."""


def memory_at(dtype: Any, address: Int, count: Int) -> NDArray[Any]:
    """Return the memory at an address as an array. The caller must keep the memory alive."""
    numpy = importlib.import_module("numpy")
    size = int(count) * numpy.dtype(dtype).itemsize
    memory = (ctypes.c_uint8 * size).from_address(int(address))
    found: NDArray[Any] = numpy.frombuffer(memory, dtype)
    return found


def address_of(array: NDArray[Any]) -> int:
    """Return the address of an array's memory.

    Pass the address to `memory_at` to view the array as another type. Avoid ``array.view`` in
    kernels, because it loads part of Numba's compiler even if the kernel is cached.
    """
    return int(array.ctypes.data)


def _register_atomic(function: Callable[..., object], operation: str) -> None:
    """Register `fetch_add` or `exchange` with Numba."""
    types = numba_module().types
    kinds = types.Array, types.Integer, types.Integer

    @_registers(function, lambda _words, _index, _value: types.int64, *kinds)
    def emit_atomic(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words, index, value = arguments
        arrays = numba_module(".np.arrayobj")
        data = arrays.make_array(signature.args[0])(context, builder, words).data
        return builder.atomic_rmw(operation, builder.gep(data, [index]), value, "seq_cst")


def _register_pause() -> None:
    """Register `pause` with Numba; it compiles to nothing if LLVM lacks the instruction."""
    none = numba_module().types.none

    @_registers(pause, lambda: none)
    def emit_pause(context: Any, builder: Any, _signature: object, _arguments: Any) -> Any:
        if builder.module.triple.startswith(("x86", "i686", "amd64")):
            ir = importlib.import_module("llvmlite.ir")
            name, kind = "llvm.x86.sse2.pause", ir.FunctionType(ir.VoidType(), [])
            cgutils = numba_module(".core.cgutils")
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), ())
        return context.get_dummy_value()


def _register_memory_at() -> None:
    """Register `memory_at` with Numba."""
    types = numba_module().types

    def array_type(dtype: Any, _address: object, _count: object) -> object:
        return types.Array(dtype.instance_type, 1, "C")

    @_registers(memory_at, array_type, types.NumberClass, types.Integer, types.Integer)
    def emit_memory_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cgutils, arrays = numba_module(".core.cgutils"), numba_module(".np.arrayobj")
        kind = context.get_data_type(signature.return_type.dtype)
        size = context.get_constant(types.intp, context.get_abi_sizeof(kind))
        address, count = (
            context.cast(builder, each, given, types.intp)
            for each, given in zip(arguments[1:], signature.args[1:], strict=True)
        )
        made = arrays.make_array(signature.return_type)(context, builder)
        arrays.populate_array(
            made,
            data=builder.inttoptr(address, kind.as_pointer()),
            shape=cgutils.pack_array(builder, [count]),
            strides=cgutils.pack_array(builder, [size]),
            itemsize=size,
            meminfo=None,
        )
        return made._getvalue()


def _register_address_of() -> None:
    """Register `address_of` with Numba."""
    types = numba_module().types

    @_registers(address_of, lambda _array: types.intp, types.Array)
    def emit_address_of(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = numba_module(".np.arrayobj").make_array(signature.args[0])
        data = array(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))
