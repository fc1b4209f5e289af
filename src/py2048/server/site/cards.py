"""Sharing a finished game: a page that everyone may open, with a picture and a text.

Neither tells a tile's place, a move or the secret, so that a daily game may be shared on its day.
"""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from py2048.server.http.middleware import address_of
from py2048.server.play.games import GameService
from py2048.server.play.messages import rules_info
from py2048.server.schema import checked_game_id
from py2048.server.site.auth import services_of, user_of
from py2048.server.site.daily import streak_of
from py2048.server.site.pages import origin_of, page, render
from py2048.ui.shared.themes import DARK

WIDTH, HEIGHT = 1200, 630
"""What social sites show without cutting."""

_EDGE, _SIDE = 80, 380
_MAX_SQUARES = 14
_FIRST_SQUARE = 16
_KEPT = 256
_TRIES, _PAUSE_S = 20, 0.2


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
    rules = rules_info(found.rules)
    title = (
        f"2048 daily challenge {info.day}" if info.day else f"2048 {rules.name}, {found.category}"
    )
    streak = _streak(games, info.owner, info.day) if info.day else 0
    return Card(title, info.name, found.score, found.max_tile, found.plies, rules.target, streak)


def _is_over(games: GameService, game_id: str) -> bool:
    """Say whether a game without a record has ended."""
    saved = games.store.games.find(game_id)
    return saved is not None and saved.is_over


def _streak(games: GameService, owner: str, day: str) -> int:
    """Return the player's streak as it stood with the game of a day."""
    until = [each for each in games.store.online.daily_results(owner) if each.day <= day]
    streak = streak_of(until, date.fromisoformat(day))
    return streak.current if streak.is_done else 0


# The picture


@lru_cache(maxsize=_KEPT)
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


# The pages


async def show(request: Request) -> Response:
    """The picture and the text of a finished game, for all who have the address."""
    user = await user_of(request)
    game, card = await _card(request)
    values = shared(card, game, origin_of(request))
    return render(request, user, "share.html", card=card, game_id=game, **values)


async def show_picture(request: Request) -> Response:
    """The picture."""
    services, (_, card) = services_of(request), await _card(request)
    services.limits.check(cards=address_of(request.scope))
    body = await services.rooms.in_thread(picture, card)
    headers = {"cache-control": "public, max-age=86400"}
    return Response(body, media_type="image/png", headers=headers)


async def _card(request: Request) -> tuple[str, Card]:
    services, game = services_of(request), checked_game_id(request.path_params["game"])
    card = await services.do(card_of, game)
    for _ in range(_TRIES):
        if card is not None or not await services.do(_is_over, game):
            break
        await asyncio.sleep(_PAUSE_S)  # it is being verified
        card = await services.do(card_of, game)
    if card is None:
        raise HTTPException(404, "There is no such finished game.")
    return game, card


def shared(card: Card, game: str, origin: str) -> dict[str, Any]:
    """Return the text and the absolute addresses of what is shared."""
    address = f"{origin}/game/{game}/share"
    return {
        "address": address,
        "text": card.text(address),
        "image": f"{origin}/game/{game}/card.png",
        "size": (WIDTH, HEIGHT),
    }


ROUTES = (page("/game/{game}/share", show), page("/game/{game}/card.png", show_picture))
