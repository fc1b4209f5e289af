"""`Formation`: where the large tiles stay on a 4x4 board while a smaller tile is built.

`formations.toml` defines the built-in formations. Users can define their own formations in TOML
files of the same format.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import combinations
from operator import or_
from pathlib import Path
from typing import Any

from py2048.core.data import read_toml
from py2048.core.errors import SolvingError, shown, unknown

SIDE, CELLS = 4, 16
MAX_FREE = 12
"""Maximum number of cells without a large tile, which bounds the size of a table."""

BUILT_IN = Path(__file__).with_name("formations.toml")
DEFAULT_SLACK = 98

Mask = int
"""A set of cells, with bit ``4 * row + column`` for each cell."""


@dataclass(frozen=True)
class Formation:
    """The cells on which the large tiles stay while a smaller tile is built.

    Large tiles are interchangeable and never merge. A position is lost if no move is legal, or if a
    slide breaks the formation. A slide breaks the formation if the large tiles no longer match any
    arrangement in `locks`. The formation is also broken if the sum of the small tiles exceeds the
    target by more than `slack`.

    Attributes:
        name: Name of the formation.
        locks: The cells of the locked tiles in each allowed arrangement.
        goal: Cells on which the target tile must be built.
        larges: Number of large tiles. Large tiles that are not locked move freely.
        slack: How far the sum of the small tiles may exceed the target.

    Raises:
        SolvingError: If the formation is not valid; the message gives the reason.
    """

    name: str
    locks: tuple[Mask, ...]
    goal: Mask
    larges: int
    slack: int = DEFAULT_SLACK

    def __post_init__(self) -> None:
        locked, problem = {lock.bit_count() for lock in self.locks}, ""
        least, most = CELLS - MAX_FREE, CELLS - 2
        if len(locked) != 1:
            problem = "its pictures lock different numbers of tiles"
        elif self.larges < max(locked):
            problem = f"{max(locked)} tiles are locked, and only {self.larges} are large"
        elif not least <= self.larges <= most:
            problem = f"{self.larges} of its tiles are large: from {least} to {most} can be"
        elif self.slack not in range(0, 1001, 2):
            problem = f"its slack is {self.slack}: use an even number from 0 to 1000"
        if problem:
            raise SolvingError(f"the formation {self.name} cannot be used: {problem}")

    @classmethod
    def of(cls, name: str, data: dict[str, Any]) -> Formation:
        """Create a formation from its entry in a TOML file.

        Raises:
            SolvingError: If the entry is invalid.
        """
        known = {"picture": str, "larges": int, "slack": int}
        for key, value in data.items():
            if key not in known:
                raise SolvingError(f"formation {name}: {unknown(key, known)}")
            if type(value) is not known[key]:
                kind = "a text" if known[key] is str else "a whole number"
                raise SolvingError(f"formation {name}: {key} is {shown(value)}, not {kind}")
        pictures = _pictures(name, data.get("picture", "\n".join([". . . ."] * SIDE)))
        locks = tuple(dict.fromkeys(_mask(picture, "#") for picture in pictures))
        goal = reduce(or_, (_mask(picture, "*") for picture in pictures))
        larges = data.get("larges", locks[0].bit_count())
        return cls(name, locks, goal or (1 << CELLS) - 1, larges, data.get("slack", DEFAULT_SLACK))

    def data(self) -> dict[str, Any]:
        """Return the formation as an entry of a TOML file."""
        return {"picture": self.picture, "larges": self.larges, "slack": self.slack}

    @property
    def picture(self) -> str:
        """Drawings of all allowed arrangements of the locked tiles, side by side."""
        is_marked = not self.is_goal_everywhere
        rows = [
            "   ".join(
                " ".join(
                    "#" if lock >> cell & 1 else "*" if is_marked and self.goal >> cell & 1 else "."
                    for cell in range(SIDE * row, SIDE * (row + 1))
                )
                for lock in self.locks
            )
            for row in range(SIDE)
        ]
        return "\n".join(rows)

    @property
    def free(self) -> int:
        """Number of cells without a large tile."""
        return CELLS - self.larges

    @property
    def is_goal_everywhere(self) -> bool:
        """Whether the target tile may be built on any cell."""
        return self.goal == (1 << CELLS) - 1

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The board symmetries that preserve the formation, numbered as in `image`."""
        return tuple(
            turn
            for turn in range(8)
            if image(self.goal, turn) == self.goal
            and {image(lock, turn) for lock in self.locks} == set(self.locks)
        )

    @cached_property
    def arrangements(self) -> dict[Mask, tuple[Mask, int]]:
        """The canonical image of each allowed arrangement, with the symmetry that produces it."""
        masks = {
            sum(1 << cell for cell in chosen) for chosen in combinations(range(CELLS), self.larges)
        }
        return {
            mask: min((image(mask, turn), turn) for turn in self.turns)
            for mask in sorted(masks)
            if any(mask & lock == lock for lock in self.locks)
        }


def image(mask: Mask, turn: int) -> Mask:
    """Apply a symmetry to a set of cells.

    Bit 0 of `turn` transposes the board, bit 1 mirrors it and bit 2 flips it, in this order.
    """
    found = 0
    for cell in range(CELLS):
        if mask >> cell & 1:
            row, column = divmod(cell, SIDE)
            row, column = (column, row) if turn & 1 else (row, column)
            column = SIDE - 1 - column if turn & 2 else column
            row = SIDE - 1 - row if turn & 4 else row
            found |= 1 << SIDE * row + column
    return found


def _mask(picture: list[str], sign: str) -> Mask:
    return sum(1 << cell for cell, found in enumerate(picture) if found == sign)


def _pictures(name: str, text: str) -> list[list[str]]:
    """Split pictures drawn side by side; return the symbols in each picture."""
    rows = [line.split() for line in text.strip().splitlines()]
    widths = {len(row) for row in rows}
    width = max(widths, default=0)
    is_whole = len(rows) == SIDE and len(widths) == 1 and width and width % SIDE == 0
    if not is_whole or not {sign for row in rows for sign in row} <= set("#*."):
        raise SolvingError(
            f"formation {name}: its picture is not 4 rows of 4 signs #, * or ., with spaces between"
        )
    return [
        [sign for row in rows for sign in row[first : first + SIDE]]
        for first in range(0, width, SIDE)
    ]


def read_formations(path: Path | str) -> dict[str, Formation]:
    """Return the formations in a TOML file by name.

    Raises:
        SolvingError: If the file cannot be read or defines no valid formation.
    """
    data = read_toml(Path(path), SolvingError)
    if not data or not all(isinstance(entry, dict) for entry in data.values()):
        raise SolvingError(
            f"{path} has no formation: add one in a section named after it, such as [L3]"
        )
    return {name: Formation.of(name, entry) for name, entry in data.items()}


@cache
def list_formations() -> tuple[Formation, ...]:
    """Return the built-in formations."""
    return tuple(read_formations(BUILT_IN).values())


def get_formation(name: str | Formation) -> Formation:
    """Return the built-in formation with this name, or the only formation of a TOML file.

    Raises:
        SolvingError: If there is no such formation.
    """
    if isinstance(name, Formation):
        return name
    known = {formation.name: formation for formation in list_formations()}
    if name in known:
        return known[name]
    if not name.endswith(".toml"):
        raise SolvingError(
            f"it is not a .toml file, and no formation is called {unknown(name, known)}"
        )
    found = list(read_formations(name).values())
    if len(found) > 1:
        names = ", ".join(formation.name for formation in found)
        raise SolvingError(f"{name} has several formations ({names}): leave one in the file")
    return found[0]
