"""The keyboard, the screen and the chance that a submission sees: scripted and recorded."""

from __future__ import annotations

import builtins
import io
import os
import random
import sys
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# What the functions below use, whatever a submission puts into the builtins later.
globals()["__builtins__"] = dict(vars(builtins))


class Screen(io.TextIOBase):
    """Takes everything written, up to a limit; `full` is called when that is reached."""

    encoding = "utf-8"

    def __init__(self, limit: int, full: Callable[[], None]) -> None:
        self.limit = limit
        self.full = full
        self.parts: list[str] = []
        self.size = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Keep `text`."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.parts.append(text)
        self.size += len(text)
        if self.size > self.limit:
            self.full()
        return len(text)

    def take(self) -> str:
        """Everything since the last call."""
        text = "".join(self.parts)
        self.parts.clear()
        self.size = 0
        return text


class Keyboard(io.TextIOBase):
    """Lines to read; asking for more is an EOFError, as at the end of a piped input."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.lines: deque[str] = deque()
        self.asked = 0

    def type(self, lines: Iterable[str]) -> None:
        """Put `lines` in place of what is left."""
        self.lines.clear()
        self.lines.extend(lines)
        self.asked = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        """The next line with its end, or nothing."""
        del size
        self.asked += 1
        return self.lines.popleft() + "\n" if self.lines else ""

    def read(self, size: int | None = -1) -> str:
        """All lines that are left."""
        del size
        self.asked += 1
        text = "".join(line + "\n" for line in self.lines)
        self.lines.clear()
        return text

    def input(self, prompt: object = "") -> str:
        """What `input` becomes: the prompt is printed, the typed line is not echoed."""
        sys.stdout.write(str(prompt))
        line = self.readline()
        if not line:
            raise EOFError("input() was called, but nothing more was typed")
        return line[:-1]


SCRIPT: deque[float] = deque()  # the draws to come, shared by all generators


class Chance(random.Random):
    """The generator behind the `random` module: scripted draws first, then a seeded one."""

    def random(self) -> float:
        """The next draw in [0, 1)."""
        return SCRIPT.popleft() if SCRIPT else super().random()

    def getrandbits(self, k: int) -> int:
        """`k` bits, from the next draw."""
        return int(SCRIPT.popleft() * 2**k) if SCRIPT else super().getrandbits(k)

    def _randbelow(self, n: int) -> int:
        """An index below `n`: draw u gives int(u * n)."""
        if SCRIPT:
            return int(SCRIPT.popleft() * n)
        return self._randbelow_with_getrandbits(n)  # type: ignore[attr-defined,no-any-return]


METHODS = (
    "seed random uniform triangular randint choice randrange sample shuffle choices normalvariate "
    "lognormvariate expovariate vonmisesvariate gammavariate gauss betavariate paretovariate "
    "weibullvariate getstate setstate getrandbits randbytes"
)


def clear_without_shell() -> None:
    """Let ``os.system("clear")`` do nothing: there is no terminal to clear."""
    system = os.system

    def quiet(command: Any) -> int:
        return 0 if str(command).strip().lower() in {"clear", "cls"} else system(command)

    os.system = quiet


def take_over_random() -> Chance:
    """Put a `Chance` behind the functions of the random module, before anyone imports them."""
    chance = Chance(0)
    for name in METHODS.split():
        setattr(random, name, getattr(chance, name))
    random._inst = chance
    random.Random = random.SystemRandom = Seeded  # type: ignore[assignment,misc]
    return chance


class Seeded(Chance):
    """What ``random.Random()`` and ``random.SystemRandom()`` become: never seeded by the clock."""

    def __init__(self, seed: Any = 0) -> None:
        super().__init__(0 if seed is None else seed)


def reseed(chance: Chance, seed: int, draws: Iterable[float]) -> None:
    """Start again from `seed`, after `draws`."""
    SCRIPT.clear()
    SCRIPT.extend(draws)
    chance.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
