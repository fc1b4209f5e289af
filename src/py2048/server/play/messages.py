"""The server's messages about games: states, events, hints, and rows in lists of games."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from py2048.app.session import Hint
from py2048.app.storage import RecordSummary
from py2048.app.storage.values import OpenGame
from py2048.core.board import Board, Motion
from py2048.core.direction import Direction
from py2048.core.errors import StorageError
from py2048.core.game import Outcome, Turn
from py2048.core.language import N_, _, language
from py2048.core.rules import Rules, preset_of
from py2048.presentation import hints
from py2048.presentation.describe import describe
from py2048.presentation.events import Event, GameOver, GameStarted, IllegalMove, Moved, Undone, Won
from py2048.presentation.screen import preparing
from py2048.server import schema
from py2048.server.bounds import MAX_RULES
from py2048.server.schema import ActionRejected, ChainNumber

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling
    from py2048.server.play.games import OnlineGame

_UNSAVED_RETRY_S = 2.0
_name = functools.cache(str)  # of a direction; `Enum.__str__` is slow

TROUBLES = {
    "full": N_("The server's disk is full"),
    "disk": N_("The server's disk is failing"),
    "read-only": N_("The server's database is read-only"),
    "forbidden": N_("The server's database rejects writes"),
    "locked": N_("Another program has locked the server's database"),
    "slow": N_("The server's database takes too long to respond"),
    "unreachable": N_("The server cannot reach its database"),
    "damaged": N_("The server's database is damaged"),
    "moved": N_("The server's database was moved"),
    "starting": N_("The server is starting"),
    "foreign": N_("The server's database belongs to another program"),
}


def trouble_of(error: StorageError) -> str:
    """Describe a storage error to users, omitting paths, addresses and the final full stop."""
    return _(TROUBLES.get(error.kind, N_("The server cannot save or read this at the moment")))


def unsaved(error: StorageError) -> ActionRejected:
    """Return the rejection of an action that could not be saved."""
    reason = "storage" if error.kind else "unsaved"
    text = _("{trouble}: the last move could not be saved and was undone.")
    message = text.format(trouble=trouble_of(error))
    return ActionRejected(reason, message, _UNSAVED_RETRY_S)


def state_of(game: OnlineGame, *, mine: bool, autoplay: str | None) -> schema.StateMessage:
    """Return the message that tells a page the complete state of a game."""
    played = game.session.game
    opening = GameStarted(played.board, played.score, game.session.best, played.ply > 0)
    return schema.StateMessage(
        **_position(game, autoplay), mine=mine, watching=not mine,
        rules=rules_info(str(played.rules)), mode=game.info.mode, day=game.info.day,
        player=played.player, commitment=game.commitment, say=describe(opening),
    )  # fmt: skip


def events_of(
    game: OnlineGame, events: Sequence[Event], autoplay: str | None
) -> schema.EventsMessage:
    """Return events with the resulting position."""
    infos = [info for event in events if (info := event_info(event))]
    return schema.EventsMessage(**_position(game, autoplay), events=infos)


def rejection(
    error: ActionRejected, of: str, state: schema.StateMessage | None, chain: ChainNumber = UNSET
) -> schema.RejectedMessage:
    """Return a rejection as a message."""
    retry = round(error.wait_s * 1000) if error.wait_s else UNSET
    return schema.RejectedMessage(error.reason, str(error), of, state, retry, chain)


def hint_answer(hint: Hint) -> schema.HintAnswer:
    """Return a hint for a program."""
    return schema.HintAnswer(**_hint(hint))


def hint_message(game: OnlineGame, hint: Hint) -> schema.HintMessage:
    """Return the message that shows a hint on a game's page."""
    return schema.HintMessage(
        **_hint(hint), game=game.id, version=game.version, say=hints.describe_hint(hint),
        headline=hints.headline(hint), reason=hints.reason_of(hint),
        options=options_info(hints.options_of(hint)), outlook=hints.describe_outlook(hint),
    )  # fmt: skip


def options_info(rows: Iterable[hints.DirectionRow]) -> list[schema.HintOption]:
    """Convert the rows of a hint, one per direction, to the form that pages receive."""
    return [
        schema.HintOption(str(row.direction), row.text, round(row.share, 3), row.grade)
        for row in rows
    ]


def compiling_message(game: OnlineGame, player: str, state: Compiling) -> schema.CompilingMessage:
    """Return a message with the progress of compiling a player's kernels."""
    say = _("The hint is {progress}").format(progress=preparing(state))
    return schema.CompilingMessage(game.id, player, round(state.share, 2), say)


def _by_name(values: Mapping[Direction, float]) -> dict[str, float]:
    return {_name(direction): value for direction, value in values.items()}


def _hint(hint: Hint) -> dict[str, Any]:
    judged = hint.judged
    return {
        "direction": str(hint.direction),
        "values": _by_name(hint.values),
        "errors": _by_name(judged.errors) if judged else {},
        "goal": judged.goal.tile if judged and judged.goal else None,
        "unit": hint.meaning.unit.value,
        "policy": hint.meaning.policy or None,
        "chance": schema.ChanceInfo(*hint.meaning.chance) if hint.meaning.chance else None,
        "player": hint.player,
        "instead_of": hint.instead_of or None,
    }


def _position(online: OnlineGame, autoplay: str | None) -> dict[str, Any]:
    now, is_over = online.session.game.position, online.is_over
    # A game that was stopped, such as a battle, may have legal moves left.
    outcome = Outcome.ENDED if is_over and now.legal else now.outcome
    return {
        "game": online.id,
        "version": online.tracked.revision,
        "board": now.board.rows,
        "score": now.score,
        "best": online.session.best,
        "ply": now.ply,
        "outcome": outcome.value,
        "won": now.has_won,
        "legal": () if is_over else tuple(map(_name, now.legal)),
        "can_undo": online.can_undo,
        "can_redo": online.can_redo,
        "category": online.category,
        "autoplay": autoplay,
        "secret": online.secret if is_over else None,
        "think_ms": online.think_ms if online.info.mode == schema.BOT else None,
    }


# Events and turns


def event_info(event: Event) -> schema.PlayedEvent | None:
    """Return an event in the form that pages receive, or None if pages do not show it."""
    match event:
        case Moved(turn=turn):
            return schema.MovedEvent(_name(turn.direction), event.points, _tile(turn), event.redone)
        case Undone(turn=turn):
            return schema.UndoneEvent(_name(turn.direction), turn.slide.points, _tile(turn))
        case IllegalMove():
            return schema.NothingMovedEvent(_name(event.direction), event.penalty)
        case Won():
            return schema.WonEvent(describe(event), event.tile, event.plays_on)
        case GameOver():
            say, outcome = describe(event), event.outcome.value
            return schema.OverEvent(say, outcome, event.score, event.best, event.is_best)
        case _:
            return None


def turn_info(turn: Turn, score: int, points: int, board: Board) -> schema.TurnInfo:
    """Return a turn of a record, with the board and the score after the turn."""
    return schema.TurnInfo(
        str(turn.direction), motions_info(turn.slide.motions) if turn.legal else [],
        _tile(turn), board.rows, "moved" if turn.legal else "nothing_moved", points, score,
    )  # fmt: skip


def line_info(turns: Iterable[Turn], fear: int | None) -> schema.LineInfo:
    """Return a typical continuation of a game.

    Args:
        turns: The turns of the continuation.
        fear: Value of the tile at risk, if any.
    """
    played = [
        schema.PlayedTurn(
            str(turn.direction), motions_info(turn.slide.motions), _tile(turn), turn.board.rows
        )
        for turn in turns
    ]  # fmt: skip
    return schema.LineInfo(played, fear)


def slides_info(rules: Rules, board: Board) -> schema.SlidesAnswer:
    """Return the effect of moving a board in each direction."""
    slides = {}
    for direction in Direction:
        slide = board.slide(direction, rules.merging)
        slides[str(direction)] = schema.SlideInfo(
            slide.changed, slide.points, slide.board.rows, motions_info(slide.motions)
        )
    return schema.SlidesAnswer([str(each) for each in board.legal_directions()], slides)


def motions_info(motions: Iterable[Motion]) -> list[schema.TileMotion]:
    """Return tile motions."""
    return [schema.TileMotion(*motion) for motion in motions]


def _tile(turn: Turn) -> schema.NewTile | None:
    return schema.NewTile(*turn.spawn) if turn.spawn else None


# Rules and rows of lists


def rules_info(text: str) -> schema.RulesInfo:
    """Return rules, described in the current language."""
    return _rules_info(text, language())


@functools.lru_cache(MAX_RULES)
def _rules_info(text: str, _language: str) -> schema.RulesInfo:
    rules = Rules.parse(text)
    preset = preset_of(rules)
    is_resized = preset is not None and preset.name == rules.name and preset.shape != rules.shape
    name = f"{rules.name} {rules.rows}×{rules.columns}" if is_resized else rules.name  # noqa: RUF001
    return schema.RulesInfo(name, str(rules), *rules.shape, rules.target, _summary(rules))


def _summary(rules: Rules) -> str:
    """Return a one-line description of rules."""
    parts = [f"{rules.rows} × {rules.columns}"]  # noqa: RUF001
    if rules.target is not None:
        text = _("reach {tile}") if rules.ends_at_target else _("reach {tile}, play on")
        parts.append(text.format(tile=rules.target))
    tiles = ", ".join(str(tile) for tile in rules.spawn_weights.tiles)
    parts.append(_("tiles {tiles}").format(tiles=tiles))
    if rules.merging.value != "once":
        parts.append(_("merges cascade"))
    return " · ".join(parts)


def game_rows(games: Iterable[RecordSummary | OpenGame]) -> list[schema.GameRow]:
    """Return numbered rows for a list of games."""
    return [game_row(game, place) for place, game in enumerate(games, 1)]


def game_row(game: RecordSummary | OpenGame, place: int | None = None) -> schema.GameRow:
    """Return the row for a game in a list. The game may be finished or in progress."""
    if isinstance(game, RecordSummary):
        is_mode = game.category in (*schema.MODES, schema.BATTLE)
        return schema.GameRow(
            place, game.player, game.id, rules_info(game.rules),
            game.category if is_mode else schema.CASUAL, game.category, game.score, game.max_tile,
            game.plies, game.started, game.finished, game.outcome, game.think_ms,
        )  # fmt: skip
    board = "computer" if game.computer else "assisted" if game.undos or game.hints else "plain"
    board = board if game.mode == schema.CASUAL else game.mode
    board = schema.POSITION if game.from_position else board
    return schema.GameRow(
        place, game.name, game.id, rules_info(game.rules), game.mode, board, game.score,
        game.max_tile, game.position, game.started, None, "playing",
    )  # fmt: skip
