"""Events of the stand-in for Tk: reading ``<Control-Key-a>``, matching, what a callback gets."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MODIFIERS = {
    "Control", "Shift", "Alt", "Meta", "Command", "Option", "Lock", "Mod1", "Mod2", "Any",
    "Button1", "Button2", "Button3", "B1", "B2", "B3", "M1", "M2",
}  # fmt: skip
COUNTS = {"Double": 2, "Triple": 3, "Quadruple": 4}
TYPES = {
    "Key": "KeyPress", "KeyPress": "KeyPress", "KeyRelease": "KeyRelease",
    "Button": "ButtonPress", "ButtonPress": "ButtonPress", "ButtonRelease": "ButtonRelease",
    "Motion": "Motion", "Enter": "Enter", "Leave": "Leave", "Configure": "Configure",
    "FocusIn": "FocusIn", "FocusOut": "FocusOut", "Map": "Map", "Unmap": "Unmap",
    "Expose": "Expose", "Destroy": "Destroy", "Visibility": "Visibility",
    "MouseWheel": "MouseWheel", "Activate": "Activate", "Deactivate": "Deactivate",
}  # fmt: skip
KEYS = {
    "space": " ", "Return": "\r", "Tab": "\t", "BackSpace": "\b", "Escape": "\x1b",
    "minus": "-", "plus": "+", "period": ".", "comma": ",", "question": "?", "exclam": "!",
}  # fmt: skip
NAMED_KEYS = {
    "Left", "Right", "Up", "Down", "Home", "End", "Prior", "Next", "Insert", "Delete",
    "Shift_L", "Shift_R", "Control_L", "Control_R", "Alt_L", "Alt_R", "Caps_Lock",
    "KP_Left", "KP_Right", "KP_Up", "KP_Down", "KP_Enter", "KP_Add", "KP_Subtract",
    "slash", "backslash", "colon", "semicolon", "equal", "underscore", "parenleft", "parenright",
    "bracketleft", "bracketright", "less", "greater", "at", "numbersign", "dollar", "percent",
    "ampersand", "asterisk", "apostrophe", "quotedbl", "grave", "asciitilde", "bar", "Pause",
    "Menu", "Super_L", "Super_R", "Num_Lock", "Print",
    *KEYS, *(f"F{n}" for n in range(1, 13)), *(f"KP_{n}" for n in range(10)),
}  # fmt: skip
CODES = {"Left": 37, "Up": 38, "Right": 39, "Down": 40, "Return": 13, "space": 32, "Escape": 27}


class Pattern:
    """A sequence like ``<Double-Button-1>``: type, detail, modifiers and count."""

    def __init__(
        self, type_: str, detail: str = "", modifiers: frozenset[str] = frozenset(), count: int = 1
    ) -> None:
        self.type = type_
        self.detail = detail
        self.modifiers = modifiers - {"Any"}
        self.count = count

    @property
    def key(self) -> tuple[str, str, frozenset[str], int]:
        """What makes two patterns the same."""
        return self.type, self.detail, self.modifiers, self.count

    @property
    def weight(self) -> tuple[int, int, int]:
        """How special a pattern is: of those that match, Tk takes the most special."""
        return self.count, bool(self.detail), len(self.modifiers)

    def matches(self, event: Pattern) -> bool:
        """Whether an event like `event` sets this off."""
        return (
            self.type == event.type
            and self.detail in {"", event.detail}
            and self.modifiers <= event.modifiers
            and self.count <= event.count
        )


def parse(sequence: Any, error: type[Exception]) -> Pattern:
    """Read an event sequence; raise `error` for one that Tk refuses."""
    text = str(sequence)
    if text.startswith("<<") and text.endswith(">>"):
        return Pattern(text)
    if not text.startswith("<"):
        if not text:
            raise error('no events specified in binding ""')
        return Pattern("KeyPress", "space" if text[0] == " " else text[0])
    body, close, _ = text[1:].partition(">")
    if not close or not body:
        raise error('missing ">" in binding' if body else "no event type or button # or keysym")
    return _from_words(body.replace(" ", "-").split("-") if body != "-" else ["minus"], error)


def _from_words(words: list[str], error: type[Exception]) -> Pattern:
    modifiers, count = set(), 1
    while len(words) > 1 and (words[0] in MODIFIERS or words[0] in COUNTS):
        count = max(count, COUNTS.get(words[0], 1))
        modifiers |= {words[0]} - set(COUNTS)
        words = words[1:]
    word, rest = words[0], [part for part in words[1:] if part]
    if word in TYPES:
        return Pattern(TYPES[word], rest[0] if rest else "", frozenset(modifiers), count)
    if word in {"1", "2", "3", "4", "5"}:
        return Pattern("ButtonPress", word, frozenset(modifiers), count)
    if word in NAMED_KEYS or len(word) == 1:
        return Pattern("KeyPress", word, frozenset(modifiers), count)
    raise error(f'bad event type or keysym "{word}"')


class Event:
    """What a callback is given."""

    def __init__(self, widget: Any, pattern: Pattern, fields: dict[str, Any]) -> None:
        self.pattern = pattern
        self.widget = widget
        self.type = pattern.type
        self.x = int(fields.get("x", 0))
        self.y = int(fields.get("y", 0))
        self.x_root = int(fields.get("rootx", self.x))
        self.y_root = int(fields.get("rooty", self.y))
        self.state = fields.get("state", 0)
        self.time = fields.get("time", 0)
        self.serial = 0
        self.delta = fields.get("delta", 0)
        self.width = fields.get("width", 0)
        self.height = fields.get("height", 0)
        is_key = pattern.type.startswith("Key")
        self.num: Any = int(pattern.detail) if pattern.detail.isdigit() and not is_key else "??"
        self.keysym = str(fields.get("keysym", pattern.detail)) if is_key else "??"
        plain = self.keysym if is_key and len(self.keysym) == 1 else ""
        self.char = KEYS.get(self.keysym, plain) if is_key else "??"
        code = CODES.get(self.keysym, ord(plain.upper()) if plain else 0)
        self.keycode: Any = code if is_key else "??"
        self.keysym_num = self.keycode
        if is_key and "keysym" in fields:
            self.pattern = Pattern(pattern.type, self.keysym, pattern.modifiers)

    def __repr__(self) -> str:
        if self.type.startswith("Key"):
            return f"<{self.type} event keysym={self.keysym}>"
        return f"<{self.type} event x={self.x} y={self.y}>"


class Bindings:
    """What is bound to one widget, class or tag."""

    def __init__(self) -> None:
        self.table: dict[Any, tuple[Pattern, list[Callable[[Event], Any]]]] = {}
        self.number = 0

    def bind(self, sequence: Any, func: Any, add: Any, error: type[Exception]) -> Any:
        """Bind `func`, in place of what is bound unless `add` is true."""
        if sequence is None:
            return tuple(str(key) for key in self.table)
        pattern = parse(sequence, error)
        if func is None:
            return "bound" if pattern.key in self.table else ""
        if isinstance(func, str):
            return ""
        before = self.table.get(pattern.key, (pattern, []))[1] if add else []
        self.table[pattern.key] = pattern, [*before, func]
        self.number += 1
        return f"{id(func)}{getattr(func, '__name__', 'callback')}{self.number}"

    def unbind(self, sequence: Any, error: type[Exception]) -> None:
        """Forget what is bound to a sequence."""
        self.table.pop(parse(sequence, error).key, None)

    def types(self) -> set[str]:
        """The event types that something is bound to."""
        return {pattern.type for pattern, _ in self.table.values()}

    def matching(self, event: Event) -> Iterator[Callable[[Event], Any]]:
        """The callbacks of the most special pattern that matches."""
        found = [entry for entry in self.table.values() if entry[0].matches(event.pattern)]
        if found:
            yield from list(max(found, key=lambda entry: entry[0].weight)[1])
