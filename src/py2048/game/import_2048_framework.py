"""Reading the episodes of 2048-Framework and of the programs of its students.

A line an episode: who played, ``@`` and when; ``|``; the actions; ``|``; who ended it, ``@`` and
when, in milliseconds since 1970. A tile is placed by two digits, its cell in row-major order
(``0-9A-F``) and its rank (``1`` a 2, ``2`` a 4); a slide is ``#`` and one of ``URDL``. The points
of an action may follow in ``[…]``, its milliseconds in ``(…)``. Two tiles come first.

Source: the public definition in github.com/moporgic/2048-Framework, episode.h and action.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from py2048.direction import Direction
from py2048.game.foreign import ForeignTurn, IllegalTurnError, classic_rules, record_of, start_board
from py2048.game.foreign_text import TextError
from py2048.game.record import Record, utc
from py2048.game.turn import Spawn

_EPISODE = re.compile(r"@(\d+)\|([^|\n]*)\|[^|\n\"'`@]{0,100}@\d+")
_ACTION = re.compile(r"(?:#([URDL])|([0-9A-F])([1-9A-Z]))(?:\[(\d+)\])?(?:\((\d{1,12})\))?")
_SLIDES = {"U": Direction.UP, "R": Direction.RIGHT, "D": Direction.DOWN, "L": Direction.LEFT}
_RULES = classic_rules((4, 4))
_LONGEST_TIME = 14


def framework_records(text: str) -> list[Record]:
    """Return the records of the episodes in `text`; none if it holds none.

    Raises:
        TextError: if one is damaged.
    """
    return [_record(match) for match in _EPISODE.finditer(text)]


def _record(episode: re.Match[str]) -> Record:
    actions = list(_actions(episode))
    starts, turns = actions[:2], actions[2:]
    try:
        if len(starts) < 2 or any(action[1] for action in starts):
            raise IllegalTurnError(0, "an episode begins with two tiles")
        start = start_board(_RULES, [_spawn(action) for action in starts])
        return record_of(
            _RULES,
            start,
            _turns(turns, episode.end(2)),
            player=_name(episode),
            started=_started(episode[1]),
        )
    except IllegalTurnError as fault:
        index = 2 * fault.ply if fault.ply else 0
        place = actions[index].start() if index < len(actions) else episode.end(2)
        raise TextError(place, fault.ply, str(fault)) from None


def _started(text: str) -> str:
    """Return when a game began; nothing for a time after the year 5000, which is a mistake."""
    return utc(int(text) / 1000) if len(text) <= _LONGEST_TIME else ""


def _name(episode: re.Match[str]) -> str:
    """Return who slid: the first name before the time."""
    before = episode.string[max(episode.start() - 100, 0) : episode.start()]
    return re.split(r"[\n|\"'`]", before)[-1].partition(":")[0].strip()


def _actions(episode: re.Match[str]) -> Iterator[re.Match[str]]:
    place, end = episode.span(2)
    while place < end:
        action = _ACTION.match(episode.string, place, end)
        if action is None:
            shown = episode.string[place : place + 3]
            expected = "a slide such as #U or a tile such as 51 is expected"
            raise TextError(place, 0, f"{shown!r} is no action: {expected}")
        yield action
        place = action.end()


def _turns(actions: list[re.Match[str]], end: int) -> Iterator[ForeignTurn]:
    for index in range(0, len(actions), 2):
        slide, ply = actions[index], index // 2
        if not slide[1]:
            raise TextError(slide.start(), ply, f"ply {ply + 1}: {slide[0]!r} is no slide")
        if index + 1 == len(actions) or actions[index + 1][1]:
            place = actions[index + 1].start() if index + 1 < len(actions) else end
            raise TextError(place, ply, f"ply {ply + 1}: a tile is expected after {slide[0]}")
        yield ForeignTurn(_SLIDES[slide[1]], _spawn(actions[index + 1]), int(slide[5] or 0))


def _spawn(action: re.Match[str]) -> Spawn:
    rank = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(action[3])
    return Spawn(1 << rank, divmod(int(action[2], 16), 4))
