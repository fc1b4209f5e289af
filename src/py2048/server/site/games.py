"""The page of a game: its replay, or live; its record and review; playing on from a position."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from py2048.board import Board
from py2048.game import Game, Record
from py2048.game.record import encode_turn
from py2048.game.turn import score_after
from py2048.review.plots import GRAPH
from py2048.server import schema
from py2048.server.http.middleware import address_of
from py2048.server.play import fairness, messages
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.schema import CASUAL, POSITION, ActionRejected, checked_game_id
from py2048.server.site.auth import User, services_of, user_of
from py2048.server.site.pages import page, read_form, render
from py2048.server.site.reviews import MAX_MOVES, request_review, review_answer
from py2048.storage import NewOnlineGame

STRIDE = 512
"""The turns between two places that are kept of a game."""

_MAX_REPLAYS = 16
_TURN = re.compile("[0-9]{1,7}")


async def visible_game(request: Request, user: User) -> str:
    """Return the id of the game in an address, which need not exist, if the user may see it.

    Raises:
        ActionRejected: if it cannot be an id, or the game is sealed.
    """
    game_id = checked_game_id(request.path_params["game"])
    await services_of(request).do(GameService.check_visible, game_id, user.account)
    return game_id


async def show(request: Request) -> Response:
    """The permanent page of a game: its replay, or live while it is in progress."""
    user, services = await user_of(request), services_of(request)
    game = await visible_game(request, user)
    value = await services.do(game_page, game, user.account)
    if value is None:
        raise HTTPException(404, "There is no such game.")
    review = None
    if value["is_over"] and not value["sealed_until"]:
        review = await services.do(review_answer, game)
    return render(
        request,
        user,
        "game.html",
        game=value,
        review=review,
        most_moves=MAX_MOVES,
        graph=GRAPH,
        reviews_games=services.settings.reviews > 0,
    )


def game_page(games: GameService, game_id: str, account: str) -> dict[str, Any] | None:
    """Return what the page of a game shows to an account; None if there is none."""
    info, row = games.store.online.info(game_id), row_of(games, game_id)
    if info is None or row is None:
        return None
    is_over = row.finished is not None
    return {
        **msgspec.structs.asdict(row),
        "player": info.name,
        "id": game_id,
        "mine": info.owner == account,
        "mode": info.mode,
        "day": info.day,
        "is_over": is_over,
        "commitment": fairness.commitment_of(info.secret),
        "secret": fairness.known_secret(info, is_over=is_over),
        "from_position": row.board == POSITION,
        "can_play_on": is_over and not fairness.is_sealed(info),
        "assisted": is_over and row.board in ("assisted", "computer"),
        "offline": row.board == "offline",
        "verified": is_over,
        "sealed_until": fairness.sealed_until(info),
    }


def row_of(games: GameService, game_id: str) -> schema.GameRow | None:
    """Return a game as a row of a list, None if there is none."""
    # In this order: a game that is finished meanwhile is found in one of the two.
    in_progress = games.store.online.open_game(game_id)
    summary = games.store.records.summary(game_id)
    found = summary or in_progress
    return None if found is None else messages.game_row(found)


async def record(request: Request) -> Response:
    """The record of a game, to be kept and verified anywhere."""
    game = await visible_game(request, await user_of(request))
    found = await services_of(request).do(GameService.record_text, game)
    headers = {"content-disposition": f'attachment; filename="{game}.2048.json"'}
    return Response(found, media_type="application/json", headers=headers)


async def review(request: Request) -> Response:
    """Ask for the review of a finished game, and go back to its page."""
    game = await ask_for_review(request, await user_of(request))
    return RedirectResponse(f"/game/{game}#review", 303)


async def ask_for_review(request: Request, user: User) -> str:
    """Ask for the review of the finished game in an address; return the game's id.

    Raises:
        ActionRejected: as `visible_game` and `py2048.server.site.reviews.request_review`; if
            reviews are switched off (``off``) or asked for too fast (``busy``).
    """
    services, address = services_of(request), address_of(request.scope)
    game = await visible_game(request, user)
    await request_review(services, game, user.account, address)
    return game


async def play_on(request: Request) -> Response:
    """Begin a casual game from a position of a finished game, and go to it."""
    user, services = await user_of(request), services_of(request)
    turn = (await read_form(request)).get("turn", "")
    if not _TURN.fullmatch(turn):
        raise ActionRejected("position", "choose a move of the game: give its number as turn")
    origin = await visible_game(request, user)
    services.limits.check(new_games=user.account, new_games_from=address_of(request.scope))
    rooms = services.rooms
    game = await rooms.begin(plan_from_position, rooms.games, user.account, origin, int(turn))
    return RedirectResponse(f"/?game={game.id}", 303)


def plan_from_position(
    games: GameService, account_id: str, game_id: str, turn: int
) -> tuple[OnlineGame, NewOnlineGame]:
    """Return a casual game from the position of a finished game, and what is to be written.

    Its tiles come from a secret of its own, its score begins at 0, and it counts on no board.

    Args:
        games: the games.
        account_id: who plays on.
        game_id: the game.
        turn: how many of its turns are played at the position.

    Raises:
        ActionRejected: if there is no such finished game (``unknown_game``) or position
            (``position``), no move is possible there (``over``), or the game is sealed: those who
            watch the new game would see its tiles. Also as `GameService.plan_game`.
        StorageError: if the store cannot be read.
    """
    info = games.store.online.info(game_id)
    if info is not None and fairness.is_sealed(info):
        since = fairness.revelation_of(info.day or "").date().isoformat()
        raise ActionRejected("sealed", f"positions of this challenge may be played from {since}")
    played = Record.from_json(games.record_text(game_id))
    boards = [played.start, *(board for board, _, _ in islice(played.replay(), turn))]
    if len(boards) <= turn:
        last = sum(1 for _ in played.steps)
        raise ActionRejected("position", f"there is no move {turn}: choose one from 0 to {last}")
    if Game(played.rules, board=boards[turn]).is_over:
        raise ActionRejected("over", "no move is possible there: choose an earlier position")
    return games.plan(
        account_id, played.rules, CASUAL, fairness.new_secret(), position=boards[turn]
    )


ROUTES = (
    page("/game/{game}", show),
    page("/game/{game}/record", record),
    page("/game/{game}/review", review, "POST"),
    page("/game/{game}/play", play_on, "POST"),
)


# Pages of turns


class _Place(NamedTuple):
    """A place in a game: where its next turn stands in the text, the board and the score there."""

    offset: int
    board: Board
    score: int


@dataclass
class _Kept:
    """What is kept of a game: how many turns it has, and the places that were reached so far."""

    game: str
    total: int | None = None
    places: dict[int, _Place] = field(default_factory=dict)


class Replays:
    """Turns of finished games, each replayed from a place kept shortly before it.

    Records never change. Threads may share it.

    Args:
        stride: the turns between two places.
    """

    def __init__(self, stride: int = STRIDE) -> None:
        self._stride = stride
        self._kept = lru_cache(_MAX_REPLAYS)(_Kept)

    def turns(self, game: str, record: Record, first: int, most: int) -> schema.TurnsAnswer:
        """Return some turns of a game, with the board after each.

        Raises:
            RecordError: if a turn breaks the rules.
        """
        kept, stride = self._kept(game), self._stride
        if kept.total is None:
            kept.total = sum(1 for _ in record.steps)
        turns, at = [], min(first // stride, len(kept.places))
        offset, start, score = kept.places.get(at, _Place(0, record.start, 0))
        rest = replace(record, start=start, turns=record.turns[offset:], times=())
        replayed = islice(rest.replay(), first + most - at * stride)
        for number, (board, turn, _) in enumerate(replayed, at * stride + 1):
            before, score = score, score_after(record.rules, score, turn, board)
            offset += len(encode_turn(turn))
            if number % stride == 0:
                kept.places[number // stride] = _Place(offset, board, score)
            if number > first:
                turns.append(messages.turn_info(turn, score, score - before, board))
        times = list(record.times[first : first + most])
        return schema.TurnsAnswer(game, record.start.rows, first, kept.total, turns, times)
