"""External players: a program, an HTTP endpoint or a Python function.

Programs and endpoints receive one JSON object per move::

    {"rules": "classic", "rows": [[0, 2, 0, 0], …], "legal": ["down", "left", "right"]}

They answer with a move, as ``left`` or ``{"move": "left", "tokens": 57}``. After an answer that is
not a legal move, the question is repeated with a ``message``. A player that gives no legal answer
in three attempts, or none in time, resigns.

External players are not in the registry, because servers, records and reviews take player specs
from untrusted users, and these specs run arbitrary code.
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
from pathlib import Path
from typing import Any

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
    """A player's answer: a move and its cost in tokens."""

    move: str
    tokens: int = 0


def read_answer(text: str) -> MoveReply:
    """Parse an answer: a JSON object, or a bare move.

    >>> read_answer('{"move": "up", "tokens": 5}'), read_answer("up")
    (MoveReply(move='up', tokens=5), MoveReply(move='up', tokens=0))
    """
    try:
        return msgspec.json.decode(text, type=MoveReply)
    except msgspec.MsgspecError:
        return MoveReply(text.strip())


class _External:
    """Asks a function for each move; counts time and tokens."""

    def __init__(self, name: str, ask: Callable[[Question], str]) -> None:
        self.name = name
        self._ask = ask
        self._seconds, self._tokens = 0.0, 0

    def choose(self, game: Game) -> Direction:
        """Ask for a move until the answer is legal.

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
        """Rate the chosen direction 1 and the others 0."""
        legal = checked_game(game).legal_directions()
        chosen = self.choose(game) if legal else None
        return {direction: float(direction is chosen) for direction in legal}

    def usage(self) -> Usage:
        """Return the cost of all answers so far."""
        return Usage(self._seconds, tokens=self._tokens)


class ProgramPlayer(_External):
    """A program that reads one line of JSON per position and prints a move."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        self._lines = queue.SimpleQueue[str]()
        super().__init__(f"program:{command}", self._line_for)

    def _line_for(self, question: Question) -> str:
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = self._lines.get(timeout=TIMEOUT_S)
        except queue.Empty:
            raise ResignedError(f"{self.name}: no answer in {TIMEOUT_S:g} s") from None
        except OSError:
            line = ""
        if not line:
            raise PlayerError(f"{self.name} ended with {process.wait()}, after no answer")
        return line

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    shlex.split(self._command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                )
            except (OSError, ValueError) as error:
                raise PlayerError(f"{self.name} cannot be started: {error}") from None
            weakref.finalize(self, _end, self._process)
            threading.Thread(target=_read, args=(self._process, self._lines), daemon=True).start()
        return self._process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    with process:  # closes its pipes and waits for it
        pass


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


class EndpointPlayer(_External):
    """An HTTP endpoint to which positions are posted and which answers with a move."""

    def __init__(self, url: str) -> None:
        self._url = url
        if not url.startswith(("http://", "https://")):
            raise PlayerError(f"endpoint:{shown(url)}: write it as http://… or https://…")
        super().__init__(f"endpoint:{url}", self._answer_for)

    def _answer_for(self, question: Question) -> str:
        body, kind = json.dumps(question).encode(), {"Content-Type": "application/json"}
        asked = urllib.request.Request(self._url, body, kind)
        try:
            with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:
                text: str = answer.read(1 << 16).decode(errors="replace")
                return text
        except TimeoutError:
            raise ResignedError(f"{self.name}: no answer in {TIMEOUT_S:g} s") from None
        except OSError as error:
            raise PlayerError(f"{self.name}: {error}") from None


class PolicyPlayer(_External):
    """A function from an environment's observation (exponents) and mask to an action."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._policy: Callable[..., Any] | None = None
        super().__init__(f"policy:{function}", self._action_for)

    def _action_for(self, question: Question) -> str:
        if self._policy is None:
            self._policy = _imported(self._function)
        cells = np.array(question["rows"], dtype=np.int64)
        exponents = np.log2(np.maximum(cells, 1)).astype(np.int8)
        mask = np.array([str(each) in question["legal"] for each in Direction])
        return str(Direction(int(self._policy(exponents, mask))))


def _imported(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise PlayerError(
            f"policy:{function}: {error}; write it as policy:module:function"
        ) from None
    return found


EXTERNAL: dict[str, Callable[[str], Player]] = {
    "program": ProgramPlayer,
    "endpoint": EndpointPlayer,
    "policy": PolicyPlayer,
}
"""External players by the prefix of their spec."""


def is_external(spec: str) -> bool:
    """Return whether a spec names an external player."""
    return spec.partition(":")[0] in EXTERNAL


def any_player(spec: str) -> Player:
    """Create the player of a spec, external or from the registry.

    Raises:
        PlayerError: If the spec describes no player.
    """
    kind, _, rest = spec.partition(":")
    if not is_external(spec):
        return make_player(spec)
    if not rest:
        raise PlayerError(f"{kind}: names nothing to ask: write {kind}:…")
    return EXTERNAL[kind](rest)
