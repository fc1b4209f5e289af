"""The pages of a game: its replay, or live; record and review; playing on; what is shared of it.

What is shared, a page with a picture and a text that everyone may open, tells no tile's place, no
move and no secret, so that a daily game may be shared on its day.
"""

from __future__ import annotations

import asyncio
import io
import re
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from PIL import Image, ImageDraw, ImageFont
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
from py2048.server.site.auth import User, services_of
from py2048.server.site.challenges import streak_of
from py2048.server.site.pages import origin_of, page, read_form, render, row_of
from py2048.server.site.reviews import MAX_MOVES, request_review, review_answer
from py2048.storage import NewOnlineGame
from py2048.ui.shared.themes import DARK

STRIDE = 512
"""The turns between two places that are kept of a game."""

WIDTH, HEIGHT = 1200, 630
"""The size of a picture, what social sites show without cutting."""

_MAX_REPLAYS = 16
_TURN = re.compile("[0-9]{1,7}")
_EDGE, _SIDE = 80, 380
_MAX_SQUARES = 14
_FIRST_SQUARE = 16
_MAX_PICTURES = 256
_TRIES, _PAUSE_S = 20, 0.2


async def visible_game(request: Request, user: User) -> str:
    """Return the id of the game in an address, which need not exist, if the user may see it.

    Raises:
        ActionRejected: if it cannot be an id, or the game is sealed.
    """
    game_id = checked_game_id(request.path_params["game"])
    await services_of(request).do(GameService.check_visible, game_id, user.account)
    return game_id


async def show(request: Request, user: User) -> Response:
    """The permanent page of a game: its replay, or live while it is in progress."""
    services = services_of(request)
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
        max_moves=MAX_MOVES,
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


async def record(request: Request, user: User) -> Response:
    """The record of a game, to be kept and verified anywhere."""
    game = await visible_game(request, user)
    found = await services_of(request).do(GameService.record_text, game)
    headers = {"content-disposition": f'attachment; filename="{game}.2048.json"'}
    return Response(found, media_type="application/json", headers=headers)


async def review(request: Request, user: User) -> Response:
    """Ask for the review of a finished game, and go back to its page."""
    game = await ask_for_review(request, user)
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


async def play_on(request: Request, user: User) -> Response:
    """Begin a casual game from a position of a finished game, and go to it."""
    services = services_of(request)
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


async def share(request: Request, user: User) -> Response:
    """The picture and the text of a finished game, for all who have the address."""
    game, card = await _card(request)
    address = f"{origin_of(request)}/game/{game}"
    return render(
        request,
        user,
        "share.html",
        card=card,
        game_id=game,
        address=f"{address}/share",
        text=card.text(f"{address}/share"),
        image=f"{address}/card.png",
        size=(WIDTH, HEIGHT),
    )


async def show_picture(request: Request, _user: User) -> Response:
    """The picture."""
    services, (_, card) = services_of(request), await _card(request)
    services.limits.check(cards=address_of(request.scope))
    body = await services.rooms.in_thread(picture, card)
    headers = {"cache-control": "public, max-age=86400"}
    return Response(body, media_type="image/png", headers=headers)


async def _card(request: Request) -> tuple[str, Card]:
    """Return the game in an address and what is shared of it, waiting while it is verified."""
    services, game = services_of(request), checked_game_id(request.path_params["game"])
    for _ in range(_TRIES):
        saved, card = await services.do(
            lambda games: (games.store.games.find(game), card_of(games, game))
        )
        if card is not None:
            return game, card
        if saved is None or not saved.is_over:
            break
        await asyncio.sleep(_PAUSE_S)
    raise HTTPException(404, "There is no such finished game.")


ROUTES = (
    page("/game/{game}", show),
    page("/game/{game}/record", record),
    page("/game/{game}/review", review, "POST"),
    page("/game/{game}/play", play_on, "POST"),
    page("/game/{game}/share", share),
    page("/game/{game}/card.png", show_picture),
)


# What is shared


@dataclass(frozen=True, slots=True)
class Card:
    """What is shared of a finished game.

    Attributes:
        title: which kind of game it was.
        player: whose it was, None for a guest.
        score: the final score.
        max_tile: the largest tile at the end.
        plies: the number of moves.
        target: the tile to reach, None where there is none.
        streak: on how many days in a row the player has finished the daily challenge, with this.
    """

    title: str
    player: str | None
    score: int
    max_tile: int
    plies: int
    target: int | None
    streak: int = 0

    @property
    def points(self) -> str:
        """What the score is."""
        return f"points in {self.plies:,} {'move' if self.plies == 1 else 'moves'}"

    @property
    def lines(self) -> list[str]:
        """What there is to say, in lines."""
        said = [f"{self.score:,} {self.points}", f"largest tile {self.max_tile:,}"]
        return [*said, f"{self.streak:,} days in a row"] if self.streak > 1 else said

    @property
    def squares(self) -> str:
        """A square for each doubling from 16 on: reached, or missing on the way to the target."""
        reached = max((self.max_tile // _FIRST_SQUARE).bit_length(), 0)
        wanted = max(((self.target or 0) // _FIRST_SQUARE).bit_length(), reached)
        return ("🟧" * reached + "⬜" * (wanted - reached))[:_MAX_SQUARES]

    def text(self, address: str) -> str:
        """Return what people paste elsewhere, with the address of the page."""
        return "\n".join(filter(None, [self.title, self.squares, *self.lines, address]))


def card_of(games: GameService, game_id: str) -> Card | None:
    """Return what is shared of a game; None while it has no record."""
    found, info = games.store.records.summary(game_id), games.store.online.info(game_id)
    if found is None or info is None:
        return None
    rules = messages.rules_info(found.rules)
    title = (
        f"2048 daily challenge {info.day}" if info.day else f"2048 {rules.name}, {found.category}"
    )
    streak = 0
    if info.day:  # as it stood with the game of that day
        until = [
            each for each in games.store.online.daily_results(info.owner) if each.day <= info.day
        ]
        then = streak_of(until, date.fromisoformat(info.day))
        streak = then.current if then.is_done else 0
    return Card(title, info.name, found.score, found.max_tile, found.plies, rules.target, streak)


# The picture


@lru_cache(maxsize=_MAX_PICTURES)
def picture(card: Card) -> bytes:
    """Return a card as a PNG file."""
    image = Image.new("RGB", (WIDTH, HEIGHT), DARK.page)
    pen = ImageDraw.Draw(image)
    tile = DARK.tile(card.max_tile)
    mask = Image.new("L", (2 * _SIDE, 2 * _SIDE))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, *mask.size), 64, fill=255)
    image.paste(tile.background, (_EDGE, (HEIGHT - _SIDE) // 2), mask.reduce(2))
    middle = (_EDGE + _SIDE / 2, HEIGHT / 2)
    _write(pen, middle, str(card.max_tile), tile.text, 190, _SIDE * 0.86, "mm")
    left, width = 2 * _EDGE + _SIDE, WIDTH - 3 * _EDGE - _SIDE
    _write(pen, (left, 150), card.title, DARK.muted, 44, width, "lm")
    _write(pen, (left, 262), f"{card.score:,}", DARK.ink, 130, width, "lm")
    for row, line in enumerate((card.points, *card.lines[2:])):
        _write(pen, (left, 375 + 62 * row), line, DARK.ink, 44, width, "lm")
    if card.player and card.player.isascii():  # the font inside Pillow has no other letters
        _write(pen, (left, 505), card.player, DARK.accent, 44, width, "lm")
    file = io.BytesIO()
    image.quantize(64, Image.Quantize.FASTOCTREE).save(file, "PNG")
    return file.getvalue()


def _write(
    pen: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    colour: str,
    size: float,
    width: float,
    anchor: str,
) -> None:
    """Write a line no wider than `width`, smaller where it would be."""
    font = ImageFont.load_default(size)
    font = ImageFont.load_default(size * min(1.0, width / max(pen.textlength(text, font), 1)))
    pen.text(place, text, colour, font, anchor)


# Pages of turns


class _Place(NamedTuple):
    """A place in a game: where its next turn stands in the text, the board and the score there."""

    offset: int
    board: Board
    score: int


def _no_places(_game: str) -> dict[int, _Place]:
    return {}


class Replays:
    """Turns of finished games, each replayed from a place kept shortly before it.

    Records never change. Threads may share it.

    Args:
        stride: the turns between two places.
    """

    def __init__(self, stride: int = STRIDE) -> None:
        self._stride = stride
        self._places = lru_cache(_MAX_REPLAYS)(_no_places)

    def turns(self, game: str, record: Record, first: int, most: int) -> schema.TurnsAnswer:
        """Return some turns of a game, with the board after each.

        Raises:
            RecordError: if a turn breaks the rules.
        """
        places, stride = self._places(game), self._stride
        turns, at = [], min(first // stride, len(places))
        offset, start, score = places.get(at, _Place(0, record.start, 0))
        rest = replace(record, start=start, turns=record.turns[offset:], times=())
        replayed = islice(rest.replay(), first + most - at * stride)
        for number, (board, turn, _) in enumerate(replayed, at * stride + 1):
            before, score = score, score_after(record.rules, score, turn, board)
            offset += len(encode_turn(turn))
            if number % stride == 0:
                places[number // stride] = _Place(offset, board, score)
            if number > first:
                turns.append(messages.turn_info(turn, score, score - before, board))
        total = sum(1 for _ in record.steps)
        times = list(record.times[first : first + most])
        return schema.TurnsAnswer(game, record.start.rows, first, total, turns, times)
