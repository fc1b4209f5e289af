"""Turning a submission's values into JSON text, trusting none of their methods.

Only exact built-in types, their subclasses read through the built-in's own methods, and NumPy
scalars and arrays are carried as data. Everything else becomes its type's name and a text that
is for reading only. The functions keep their own copy of the built-ins, so a submission that
replaces `len` or `isinstance` breaks only itself.
"""

from __future__ import annotations

import builtins

try:
    from _json import encode_basestring_ascii  # spares the import of the whole package
except ImportError:
    from json.encoder import encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# What the functions below use, whatever a submission puts into the builtins later.
globals()["__builtins__"] = dict(vars(builtins))

DEPTH = 60
NODES = 60_000
TEXT = 2_000_000
SHOWN = 160

BASES = type.__dict__["__mro__"].__get__  # the real order of bases, past any metaclass
string = encode_basestring_ascii  # the C function, taken before any submission ran


class TooMuch(Exception):  # noqa: N818 - only ever caught here
    """More values than are worth looking at."""


class Raw:
    """JSON text to be put in as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


def mark(tag: str, *texts: str) -> str:
    """The JSON text ``{tag: [texts]}``."""
    return "{" + string(tag) + ":[" + ",".join(texts) + "]}"


def whole(value: int) -> str:
    """An int or a bool."""
    number = int.__index__(value)
    if type(value) is bool:
        return "true" if number else "false"
    if -(2**63) <= number < 2**63:
        return int.__repr__(number)
    return mark("int", string(hex(number) if number.bit_length() < 100_000 else "0x0"))


def real(value: float) -> str:
    """A float, with the three that JSON lacks marked."""
    shown = float.__repr__(value)
    return mark("float", string(shown)) if shown in {"nan", "inf", "-inf"} else shown


def raw(value: bytes | bytearray) -> str:
    """Bytes in hexadecimal."""
    return mark("bytes", string(bytes(value)[:TEXT].hex()))


SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: whole,
    int: whole,
    float: real,
    str: lambda value: string(str.__str__(value)[:TEXT]),
    bytes: raw,
    bytearray: raw,
}
# The members of each container; a list is a plain JSON array, the others are marked.
CONTAINERS: dict[type, Callable[[Any], Iterable[object]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    dict: lambda value: [list(pair) for pair in dict.items(value)],
    set: set.__iter__,
    frozenset: frozenset.__iter__,
}


class Encoder:
    """Encodes one value; the counters bound the work."""

    def __init__(self) -> None:
        self.nodes = 0
        self.parts: list[str] = []

    def put(self, value: object, depth: int = 0) -> None:
        """Append `value`, `depth` levels down."""
        self.nodes += 1
        if self.nodes > NODES:
            raise TooMuch
        if depth > DEPTH:
            self.parts.append(opaque(value, "(nested too deeply to show)"))
            return
        if type(value) is Raw:
            self.parts.append(value.text)
            return
        for kind in BASES(type(value)):
            if kind in SCALARS:
                self.parts.append(SCALARS[kind](value))
                return
            if kind in CONTAINERS:
                members = CONTAINERS[kind](value)
                self.tagged("" if kind is list else kind.__name__, members, depth)
                return
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            self.numpy(value.tolist(), depth)
        else:
            self.parts.append(opaque(value, shown(value)))

    def tagged(self, tag: str, members: Iterable[object], depth: int) -> None:
        """``{tag: [members]}``, or the members as an array."""
        self.parts.append("{" + string(tag) + ":[" if tag else "[")
        for position, member in enumerate(members):
            if position:
                self.parts.append(",")
            self.put(member, depth + 1)
        self.parts.append("]}" if tag else "]")

    def numpy(self, plain: object, depth: int) -> None:
        """A NumPy scalar as a number; an array as its rows, marked."""
        if type(plain) is list:
            self.tagged("array", [plain], depth)
        else:
            self.put(plain if type(plain) in SCALARS else None, depth)


def opaque(value: object, text: str) -> str:
    """A value that is not carried: its type and a text."""
    return mark("object", string(type(value).__name__), string(text))


def shown(value: object) -> str:
    """A short text of any object, whatever its `__repr__` does."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a submission's own method may raise anything
        text = f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return str.__str__(text)[:SHOWN]


def encode(value: object) -> str:
    """The JSON text of any value."""
    encoder = Encoder()
    try:
        encoder.put(value)
        return "".join(encoder.parts)
    except TooMuch:
        return opaque(value, f"<{type(value).__name__} with more than {NODES} values>")


def encode_report(part: object) -> str:
    """The JSON text of what the agent itself reports: dictionaries, lists, and values in them."""
    if type(part) is dict:
        members = [string(name) + ":" + encode_report(value) for name, value in part.items()]
        return "{" + ",".join(members) + "}"
    if type(part) is list:
        return "[" + ",".join(map(encode_report, part)) + "]"
    return encode(part)
