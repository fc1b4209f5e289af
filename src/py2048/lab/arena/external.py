"""External players: programs, HTTP endpoints or Python functions.

Programs and endpoints receive one JSON object per move::

    {"rules": "classic", "rows": [[0, 2, 0, 0], …], "legal": ["down", "left", "right"]}

The player answers with a move, such as ``left`` or ``{"move": "left", "tokens": 57}``. If the
answer is not a legal move, the request is repeated with a ``message``. A player resigns if it gives
no legal answer in three attempts, or no answer in time.

External players are not in the registry, because their specs run arbitrary code, and servers,
records and reviews accept specs from untrusted users.
"""

from __future__ import annotations

import importlib
import json
import queue
import shlex
import subprocess
import sys
import threading
import time
import urllib.request
import weakref
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from py2048.core.direction import Direction
from py2048.core.errors import DirectionError, PlayerError, shown
from py2048.core.game import Game
from py2048.players import Player, make_player
from py2048.players.player import ResignedError, Usage, best, checked_game

MAX_ANSWERS = 3
"""Maximum number of answers per move."""

TIMEOUT_S = 60.0
"""Maximum time per answer."""

Question = dict[str, Any]


class MoveReply(msgspec.Struct):
    """A player's answer: the move, and its cost in tokens."""

    move: str
    tokens: int = 0


def read_answer(text: str) -> MoveReply:
    """Parse an answer, which is a JSON object, a JSON string or just a move.

    >>> read_answer('{"move": "up", "tokens": 5}'), read_answer('"up"') == read_answer("up")
    (MoveReply(move='up', tokens=5), True)
    """
    try:
        answer = msgspec.json.decode(text, type=MoveReply | str)
    except msgspec.MsgspecError:
        answer = text.strip()
    return MoveReply(answer) if isinstance(answer, str) else answer


class _External:
    """A player outside py2048, whose time and tokens are counted.

    Args:
        target: Command, address or function of the player.
    """

    kind: ClassVar[str]
    """Prefix of the player specs that select this class."""

    def __init__(self, target: str) -> None:
        self.name, self._target = f"{self.kind}:{target}", target
        self._seconds, self._tokens = 0.0, 0

    def _ask(self, question: Question) -> str:
        raise NotImplementedError

    def choose(self, game: Game) -> Direction:
        """Ask the player for a move until the answer is legal.

        Raises:
            ResignedError: If no answer is legal.
        """
        legal = checked_game(game).legal_directions()
        if not legal:
            return best({})
        rows = [list(row) for row in game.board.rows]
        question = {"rules": str(game.rules), "rows": rows, "legal": [str(d) for d in legal]}
        for _ in range(MAX_ANSWERS):
            began = time.perf_counter()
            text = self._ask(question)
            self._seconds += time.perf_counter() - began
            answer = read_answer(text)
            self._tokens += answer.tokens
            try:
                direction = Direction.parse(answer.move)
            except DirectionError:
                question["message"] = f"{shown(answer.move)} is not a move"
                continue
            if direction in legal:
                return direction
            question["message"] = f"{direction} is not legal here"
        raise ResignedError(
            f"{self.name}: {question['message']}, in the last of {MAX_ANSWERS} answers"
        )

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate the chosen direction as 1 and all other directions as 0."""
        legal = checked_game(game).legal_directions()
        chosen = self.choose(game) if legal else None
        return {direction: float(direction is chosen) for direction in legal}

    def usage(self) -> Usage:
        """Return the total cost of all answers so far."""
        return Usage(self._seconds, tokens=self._tokens)


class ProgramPlayer(_External):
    """A program that reads a line of JSON for each position and prints a move."""

    kind = "program"

    def _ask(self, question: Question) -> str:
        process, lines = self._process
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = lines.get(timeout=TIMEOUT_S)
        except queue.Empty:
            raise ResignedError(f"{self.name}: no answer in {TIMEOUT_S:g} s") from None
        except OSError:
            line = ""
        if not line:
            raise PlayerError(f"{self.name} ended with status {process.wait()} and gave no answer")
        return line

    @cached_property
    def _process(self) -> tuple[subprocess.Popen[str], queue.SimpleQueue[str]]:
        """The running program, and a queue of its output lines that ends with an empty string."""
        pipe, lines = subprocess.PIPE, queue.SimpleQueue[str]()
        how: Any = {"text": True, "encoding": "utf-8", "errors": "replace"}
        try:
            process = subprocess.Popen(shlex.split(self._target), stdin=pipe, stdout=pipe, **how)
        except (OSError, ValueError) as error:
            raise PlayerError(f"{self.name} cannot be started: {error}") from None
        weakref.finalize(self, _end, process)
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        return process, lines


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    with process:  # close the pipes and wait for the program to exit
        pass


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


class EndpointPlayer(_External):
    """An HTTP endpoint that receives positions by POST and answers with a move."""

    kind = "endpoint"

    def __init__(self, target: str) -> None:
        if not target.startswith(("http://", "https://")):
            raise PlayerError(f"endpoint:{shown(target)}: write it as http://… or https://…")
        super().__init__(target)

    def _ask(self, question: Question) -> str:
        body, kind = json.dumps(question).encode(), {"Content-Type": "application/json"}
        asked = urllib.request.Request(self._target, body, kind)
        try:
            with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:
                text: str = answer.read(1 << 16).decode(errors="replace")
                return text
        except TimeoutError:
            raise ResignedError(f"{self.name}: no answer in {TIMEOUT_S:g} s") from None
        except OSError as error:
            raise PlayerError(f"{self.name}: {error}") from None


class PolicyPlayer(_External):
    """A function that maps an observation (exponents) and an action mask to an action."""

    kind = "policy"

    def _ask(self, question: Question) -> str:
        cells = np.array(question["rows"], dtype=np.int64)
        exponents = np.log2(np.maximum(cells, 1)).astype(np.int8)
        mask = np.array([str(each) in question["legal"] for each in Direction])
        return str(Direction(int(self._policy(exponents, mask))))

    @cached_property
    def _policy(self) -> Callable[..., Any]:
        module, _, name = self._target.partition(":")
        if (folder := str(Path.cwd())) not in sys.path:
            sys.path.insert(0, folder)
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise PlayerError(f"{self.name}: {error}; write it as policy:module:function") from None
        return found


EXTERNAL: dict[str, Callable[[str], Player]] = {
    each.kind: each for each in (ProgramPlayer, EndpointPlayer, PolicyPlayer)
}
"""Constructors of external players, by the prefix of their spec."""


def is_external(spec: str) -> bool:
    """Return whether a spec describes an external player."""
    return spec.partition(":")[0] in EXTERNAL


def any_player(spec: str) -> Player:
    """Create the external player or the registered player that a spec describes.

    Raises:
        PlayerError: If the spec describes no player.
    """
    kind, _, rest = spec.partition(":")
    if not is_external(spec):
        return make_player(spec)
    if not rest:
        raise PlayerError(f"{kind}: names nothing to ask: write {kind}:…")
    return EXTERNAL[kind](rest)
