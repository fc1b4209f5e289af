"""What the server tells the page: tables and events as JSON, see docs/reference/web-protocol.md."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from py2048.board import Board, Motion
from py2048.errors import StorageError
from py2048.game import Outcome, Spawn, Turn
from py2048.rules import Rules
from py2048.server.table import RefusedError, Table
from py2048.session import Event, GameOver, GameStarted, Hint, IllegalMove, Moved, Undone, Won
from py2048.ui.shared.describe import describe, describe_hint

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

Json = dict[str, Any]

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode


_TROUBLE = {
    "full": "The server's disk is full",
    "disk": "The server's disk fails",
    "read-only": "The server may not write to its store",
    "forbidden": "The server's database does not let it write",
    "locked": "Another program holds the server's store",
    "slow": "The server's store takes too long to answer",
    "unreachable": "The server cannot reach its database",
    "damaged": "The server's store is damaged",
    "starting": "The server is starting",
    "foreign": "The server's store belongs to another program",
}


def trouble_of(error: StorageError) -> str:
    """Return what is wrong with the store for strangers: no paths, no addresses, no full stop."""
    return _TROUBLE.get(error.kind, "The server cannot save or read this just now")


def unsaved(error: StorageError) -> RefusedError:
    """Return the refusal of an action that could not be written."""
    reason = "storage" if error.kind else "unsaved"
    return RefusedError(reason, f"{trouble_of(error)}: the last move is not saved and taken back.")


def encode(message: Json) -> str:
    """Return a message as a text frame."""
    return _encode(message)


def state_message(table: Table, *, mine: bool, autoplay: str | None) -> Json:
    """Return all that a page needs to show a game that it knows nothing of."""
    return {
        "type": "state",
        "game": table.id,
        "mine": mine,
        "watching": not mine,
        "rules": rules_value(table.rules_text),
        "mode": table.round.mode,
        "day": table.round.day,
        "player": table.session.game.player,
        "commitment": table.commitment,
        "say": _opening(table),
        **_standing(table, autoplay),
    }


def events_message(table: Table, events: Sequence[Event], autoplay: str | None) -> Json:
    """Return what has just happened at a table, and how it stands."""
    told = [told for event in events if (told := event_value(event))]
    return {"type": "events", "game": table.id, "events": told, **_standing(table, autoplay)}


def refused_message(error: RefusedError, of: str, state: Json | None, **more: Any) -> Json:
    """Return why nothing was done."""
    message = {"type": "refused", "reason": error.reason, "message": str(error), "of": of}
    return {**message, "state": state, **more}


def hint_message(table: Table, hint: Hint) -> Json:
    """Return what a player would do."""
    return {
        "type": "hint",
        "game": table.id,
        "version": table.version,
        **hint_value(hint),
        "say": describe_hint(hint),
    }


def hint_value(hint: Hint) -> Json:
    """Return a hint as the protocol and the API give it."""
    return {
        "direction": str(hint.direction),
        "values": {str(direction): value for direction, value in hint.values.items()},
        "unit": hint.unit.value,
        "player": hint.player,
        "instead_of": hint.instead_of or None,
    }


def compiling_message(table: Table, player: str, compiling: Compiling) -> Json:
    """Return how far the compiler is with a player that somebody waits for."""
    say = f"{player}: {compiling}"
    share = round(compiling.share, 2)
    return {"type": "compiling", "game": table.id, "player": player, "share": share, "say": say}


def _standing(table: Table, autoplay: str | None) -> Json:
    session, game = table.session, table.session.game
    outcome, helps = game.outcome, table.allows_help
    return {
        "version": table.version,
        "board": game.board.rows,
        "score": game.score,
        "best": session.best,
        "ply": game.ply,
        "outcome": outcome.value,
        "won": game.has_won,
        "legal": _legal(table) if outcome is Outcome.PLAYING else (),
        "can_undo": helps and game.can_undo,
        "can_redo": helps and game.can_redo,
        "category": session.category,
        "autoplay": autoplay,
        "secret": table.secret,
    }


def _legal(table: Table) -> list[str]:
    return [direction.name.lower() for direction in table.session.game.legal_directions()]


def _opening(table: Table) -> str:
    game = table.session.game
    return describe(GameStarted(game.board, game.score, table.session.best, game.ply > 0))


def event_value(event: Event) -> Json | None:
    """Return an event as the page animates and says it; None for one that tells a page nothing."""
    value = _event_value(event)
    return value and value | {"say": describe(event)}


def _event_value(event: Event) -> Json | None:
    match event:
        case Moved():
            return _moved(event)
        case Undone():
            return _undone(event)
        case IllegalMove():
            name = event.direction.name.lower()
            return {"kind": "nothing_moved", "direction": name, "points": event.penalty}
        case Won():
            return {"kind": "won", "tile": event.tile, "plays_on": event.plays_on}
        case GameOver():
            return {
                "kind": "over",
                "outcome": event.outcome.value,
                "score": event.score,
                "best": event.best,
                "is_best": event.is_best,
            }
        case _:
            return None


def _moved(event: Moved) -> Json:
    return {
        "kind": "moved",
        "direction": event.turn.direction.name.lower(),
        "redone": event.redone,
        "points": event.points,
        "motions": [_motion(motion) for motion in event.turn.slide.motions],
        "spawn": _spawn(event.turn.spawn),
    }


def _undone(event: Undone) -> Json:
    return {
        "kind": "undone",
        "direction": event.turn.direction.name.lower(),
        "points": event.turn.slide.points,
        "motions": [_motion(motion) for motion in event.backward_motions],
        "spawn": _spawn(event.turn.spawn),
    }


def _motion(motion: Motion) -> Json:
    source, target, merged = motion
    return {"source": source, "target": target, "merged": merged}


def _spawn(spawn: Spawn | None) -> Json | None:
    return None if spawn is None else {"tile": spawn.tile, "cell": spawn.cell}


def turn_value(turn: Turn, score: int, points: int, board: Sequence[Sequence[int]]) -> Json:
    """Return a turn of a record, with the board and the score after it."""
    told = (
        Moved(turn.slide.before, turn, Board.from_rows(board), points, score, score)
        if turn.legal
        else IllegalMove(turn.direction, points, score)
    )
    return {
        "kind": "moved" if turn.legal else "nothing_moved",
        "direction": turn.direction.name.lower(),
        "points": points,
        "motions": [_motion(motion) for motion in turn.slide.motions] if turn.legal else [],
        "spawn": _spawn(turn.spawn),
        "score": score,
        "board": board,
        "say": describe(told),
    }


@functools.lru_cache(maxsize=256)
def rules_value(text: str) -> Json:
    """Return rules as the page shows them."""
    rules = Rules.parse(text)
    return {
        "name": rules.name,
        "text": str(rules),
        "rows": rules.rows,
        "columns": rules.columns,
        "target": rules.target,
        "summary": summary_of(rules),
    }


def summary_of(rules: Rules) -> str:
    """Return rules in one line for people."""
    parts = [f"{rules.rows} × {rules.columns}"]  # noqa: RUF001
    if rules.target is not None:
        parts.append(f"reach {rules.target}" + ("" if rules.ends_at_target else ", play on"))
    parts.append("tiles " + ", ".join(str(tile) for tile in rules.spawn_weights.tiles))
    if rules.merging.value != "once":
        parts.append("merges cascade")
    return " · ".join(parts)
