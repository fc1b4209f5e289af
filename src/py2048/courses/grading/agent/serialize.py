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
    from typing import Any

# What the functions below use, whatever a submission puts into the builtins later.
globals()["__builtins__"] = dict(vars(builtins))

DEPTH = 60
NODES = 60_000
TEXT = 2_000_000
SHOWN = 160


class TooMuch(Exception):  # noqa: N818 - only ever caught here
    """More values than are worth looking at."""


class Raw:
    """JSON text to be put in as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


class Encoder:
    """Encodes one value; the counters bound the work."""

    def __init__(self) -> None:
        self.nodes = 0
        self.parts: list[str] = []

    def text(self, value: Any) -> str:
        """The JSON text of `value`."""
        self.put(value, 0)
        return "".join(self.parts)

    def put(self, value: Any, depth: int) -> None:
        """Append `value`, `depth` levels down."""
        self.nodes += 1
        if self.nodes > NODES:
            raise TooMuch
        if depth > DEPTH:
            self.mark("object", string(type(value).__name__), string("(nested too deeply to show)"))
            return
        if type(value) is Raw:
            self.parts.append(value.text)
            return
        for kind, method in METHODS:
            if isinstance_of(value, kind):
                method(self, value, depth)
                return
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            self.numpy(value, depth)
            return
        self.other(value)

    def mark(self, tag: str, *texts: str) -> None:
        """Append ``{tag: [texts]}``."""
        self.parts.append("{" + string(tag) + ":[" + ",".join(texts) + "]}")

    def whole(self, value: Any, depth: int) -> None:
        """An int or a bool."""
        del depth
        number = int.__index__(value)
        if type(value) is bool:
            self.parts.append("true" if number else "false")
        elif -(2**200) < number < 2**200:
            self.parts.append(int.__repr__(number))
        else:
            self.mark("int", string(hex(number) if number.bit_length() < 100_000 else "0x0"))

    def real(self, value: Any, depth: int) -> None:
        """A float, with the three that JSON lacks marked."""
        del depth
        shown = float.__repr__(value)
        if shown in {"nan", "inf", "-inf"}:
            self.mark("float", string(shown))
        else:
            self.parts.append(shown)

    def words(self, value: Any, depth: int) -> None:
        """A string, cut at `TEXT` characters."""
        del depth
        self.parts.append(string(str.__str__(value)[:TEXT]))

    def raw(self, value: Any, depth: int) -> None:
        """Bytes in hexadecimal."""
        del depth
        self.mark("bytes", string(bytes(value)[:TEXT].hex()))

    def nothing(self, value: Any, depth: int) -> None:
        """None."""
        del value, depth
        self.parts.append("null")

    def row(self, value: Any, depth: int) -> None:
        """A list, as a plain JSON array."""
        self.parts.append("[")
        self.items(list.__iter__(value), depth)
        self.parts.append("]")

    def items(self, values: Any, depth: int) -> None:
        """The members, separated by commas."""
        for position, member in enumerate(values):
            if position:
                self.parts.append(",")
            self.put(member, depth + 1)

    def tagged(self, tag: str, values: Any, depth: int) -> None:
        """``{tag: [members]}``."""
        self.parts.append("{" + string(tag) + ":[")
        self.items(values, depth)
        self.parts.append("]}")

    def pair(self, value: Any, depth: int) -> None:
        """A tuple."""
        self.tagged("tuple", tuple.__iter__(value), depth)

    def group(self, value: Any, depth: int) -> None:
        """A set."""
        self.tagged("set", set.__iter__(value), depth)

    def frozen(self, value: Any, depth: int) -> None:
        """A frozenset."""
        self.tagged("frozenset", frozenset.__iter__(value), depth)

    def table(self, value: Any, depth: int) -> None:
        """A dict, as pairs of key and value in its order."""
        self.tagged("dict", [list(pair) for pair in dict.items(value)], depth)

    def numpy(self, value: Any, depth: int) -> None:
        """A NumPy scalar as a number; an array as its rows, marked."""
        plain = value.tolist()
        if isinstance_of(plain, list):
            self.tagged("array", [plain], depth)
        else:
            self.put(plain if type(plain) in PLAIN else None, depth)

    def other(self, value: Any) -> None:
        """Anything else: its type and a short text."""
        self.mark("object", string(type(value).__name__), string(shown(value)))


def isinstance_of(value: Any, kind: type) -> bool:
    """`isinstance` by the real type, deaf to a lying ``__class__``."""
    return kind in BASES(type(value))


def shown(value: Any) -> str:
    """A short text of any object, whatever its `__repr__` does."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a submission's own method may raise anything
        text = f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return str.__str__(text)[:SHOWN]


def string(text: str) -> str:
    """A JSON string, by the C function taken before any submission ran."""
    return encode_basestring_ascii(text)


BASES = type.__dict__["__mro__"].__get__  # the real order of bases, past any metaclass
METHODS: list[tuple[type, Any]] = [
    (type(None), Encoder.nothing),
    (bool, Encoder.whole),
    (int, Encoder.whole),
    (float, Encoder.real),
    (str, Encoder.words),
    (list, Encoder.row),
    (tuple, Encoder.pair),
    (dict, Encoder.table),
    (set, Encoder.group),
    (frozenset, Encoder.frozen),
    (bytes, Encoder.raw),
    (bytearray, Encoder.raw),
]
PLAIN = {type(None), bool, int, float, str}


def encode(value: Any) -> str:
    """The JSON text of any value."""
    try:
        return Encoder().text(value)
    except TooMuch:
        whole = Encoder()
        name = type(value).__name__
        whole.mark("object", string(name), string(f"<{name} with more than {NODES} values>"))
        return "".join(whole.parts)
