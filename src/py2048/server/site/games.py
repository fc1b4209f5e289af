"""The pages of a game: its replay, or live; record and review; playing on; what is shared of it.

What is shared, a page with a picture of the last board and a text, which everyone may open, tells
no move and no secret, so that a daily game may be shared on its day.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from PIL import Image, ImageDraw, ImageFont
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from py2048.app.storage import OnlineGameInfo
from py2048.core import fairness
from py2048.core.board import Board
from py2048.core.errors import RecordError
from py2048.core.game import Game, Record
from py2048.core.game.record import encode_turn
from py2048.core.game.turn import score_after
from py2048.core.language import N_, _, ngettext, number
from py2048.presentation import board_image
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.plots import score_graph
from py2048.presentation.result import UNAVAILABLE, result_of
from py2048.presentation.themes import DARK
from py2048.presentation.words import luck_word
from py2048.review import Grade
from py2048.server import schema
from py2048.server.play import messages
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.schema import CASUAL, DAILY, ActionRejected
from py2048.server.site import reviews
from py2048.server.site.auth import Visit
from py2048.server.site.challenges import minutes_left, streak_of
from py2048.server.site.pages import day_name, origin_of, page, read_form, render, row_of, title_of

STRIDE = 512
"""The turns between two places that are kept of a game."""

WIDTH, HEIGHT = 1200, 630
"""The size of a picture, what social sites show without cutting."""

_MAX_REPLAYS = 16
_TURN = re.compile("[0-9]{1,7}")
_EDGE, _SIDE = 60, 510
_MAX_SQUARES = 14
_FIRST_SQUARE = 16
_MAX_PICTURES = 256


async def visible_game(visit: Visit) -> str:
    """Return the id of the game in an address, which need not exist, if the user may see it.

    Raises:
        ActionRejected: if it cannot be an id, or the game is sealed.
    """
    await visit.services.do(GameService.check_visible, visit.game, visit.user.account)
    return visit.game


async def show(visit: Visit) -> Response:
    """Show the permanent page of a game: its replay, or live while it is in progress."""
    services, game = visit.services, await visible_game(visit)
    shown = await services.do(game_page, game, visit.user.account)
    return render(visit, "game.html", reviews_games=services.settings.reviews > 0, **shown)


@lru_cache(maxsize=_MAX_REPLAYS)
def _score_graph(record: str) -> tuple[str, int]:
    """Return the graph of a record, and how many turns it has; of a damaged one there is none."""
    with suppress(RecordError):
        game = Record.from_json(record)
        return score_graph(game), sum(1 for _ in game.steps)
    return "", 0


def game_page(games: GameService, game_id: str, account: str) -> dict[str, Any]:
    """Return what the page of a game shows to an account.

    Raises:
        HTTPException: if there is none.
    """
    info, row = games.store.online.info(game_id), row_of(games, game_id)
    if info is None or row is None:
        raise HTTPException(404, _("There is no such game."))
    is_over, sealed_until = row.finished is not None, fairness.sealed_until(info.day)
    shown: dict[str, Any] = {"review": None, "max_moves": reviews.MAX_MOVES}
    if is_over and not sealed_until:
        shown["review"] = reviews.review_answer(games, game_id)
        if shown["review"].state != "done" and row.plies <= reviews.MAX_MOVES:
            shown["scores"], shown["turns"] = _score_graph(games.record_text(game_id))
    shown["game"] = {
        **msgspec.structs.asdict(row),
        "player": info.name,
        "id": game_id,
        "mine": info.owner == account,
        "mode": info.mode,
        "day": info.day,
        "is_over": is_over,
        "commitment": fairness.commitment_of(info.secret),
        "secret": fairness.public_secret(info.secret, info.day, is_over=is_over),
        "sealed_until": sealed_until,
    }
    return shown


async def record(visit: Visit) -> Response:
    """Send the record of a game, to be kept and verified anywhere."""
    game = await visible_game(visit)
    found = await visit.services.do(GameService.record_text, game)
    headers = {"content-disposition": f'attachment; filename="{game}.2048.json"'}
    return Response(found, media_type="application/json", headers=headers)


async def review(visit: Visit) -> Response:
    """Ask for the review of a finished game, and go back to its page."""
    game = await ask_for_review(visit)
    return RedirectResponse(f"/game/{game}#review", 303)


async def ask_for_review(visit: Visit) -> str:
    """Ask for the review of the finished game in an address; return the game's id.

    Raises:
        ActionRejected: as `visible_game` and `py2048.server.site.reviews.request_review`; if
            reviews are switched off (``off``) or asked for too fast (``busy``).
    """
    game = await visible_game(visit)
    await reviews.request_review(visit.services, game, visit.user.account, visit.address)
    return game


async def show_result(visit: Visit) -> Response:
    """Show the end of the user's own game; who posts asks for its review, too."""
    services, game = visit.services, visit.game
    refused = ""
    if visit.method == "POST":
        who = visit.user.account, visit.address
        try:
            await reviews.request_review(services, game, *who, for_figures=True)
        except ActionRejected as error:
            refused = error.reason
    shown = await services.do(end_of, game, visit.user.account, refused)
    shown["text"] = shown.pop("card").text(f"{origin_of(visit)}/game/{game}/share")
    return render(visit, "_result.html", game_path=f"/game/{game}", **shown)


def end_of(games: GameService, game_id: str, account: str, refused: str = "") -> dict[str, Any]:
    """Return what the end of an account's own game shows.

    Args:
        games: the games.
        game_id: the game.
        account: whose it must be.
        refused: why its review was not granted, if it was asked for in vain.

    Raises:
        ActionRejected: if the account has no such game that is over (``unknown_game``).
    """
    ended, card = reviews.ended_game(games, game_id), card_of(games, game_id)
    if ended is None or card is None or ended[1].owner != account:
        raise ActionRejected("unknown_game", _("you have no such game that is over"))
    row, info = ended
    now = datetime.now(UTC)
    dailies = games.store.online.daily_results(account)
    others: dict[str, Any]
    if info.day:
        mine = [each for each in dailies if each.category == DAILY and each.game_id != game_id]
        field = [each for each, _tile in games.store.online.day_scores(info.day)]
        if row.score in field and row.finished:
            field.remove(row.score)  # its own
        earlier = [each.score for each in mine]
        others = {"earlier": earlier, "field": field, "streak": card.streak}
    else:
        found = games.store.records.ends(account, row.rules.text)
        ends = [(end.score, end.finished[:10]) for end in found if end.finished != row.finished]
        today = [score for score, day in ends if day == str(now.date())]
        others = {"earlier": [score for score, _day in ends], "today": today}
    others |= {"largest": row.max_tile, "moves": row.plies, "target": row.rules.target}
    result = result_of(card.kind, row.score, is_by_computer=row.board == "computer", **others)
    state, summary = reviews.figures_of(games, game_id)
    if summary is not None:
        luck = luck_word(summary.luck, summary.swing) or UNAVAILABLE
        mistakes = sum(n for grade, n in summary.counts.items() if Grade(grade).is_mistake)
        result = result.reviewed(summary.accuracy, luck, mistakes)
    elif state in ("none", "failed"):
        result = result.without_review(_(REFUSED[refused]) if refused in REFUSED else UNAVAILABLE)
    return {
        "result": result,
        "card": card,
        "is_pending": state in ("waiting", "running"),
        "is_daily": info.day is not None,
        "has_played": any(each.day == str(now.date()) and each.category for each in dailies),
        "opens": fairness.sealed_until(info.day),
        "left": minutes_left(now),
    }


REFUSED = {"busy": N_("Busy"), "off": N_("Off"), "length": N_("Too long")}
"""Why a game is not reviewed, in a word."""

_MODES = {"ranked": N_("Ranked"), "battle": N_("Battle")}


def kind_of_game(row: schema.GameRow, info: OnlineGameInfo) -> str:
    """Return what was played: "Daily · 26 November", "Classic", "Classic · Ranked"."""
    if info.day:
        return f"{_('Daily')} · {day_name(info.day)}"
    kind = title_of(row.rules)
    return f"{kind} · {_(_MODES[info.mode])}" if info.mode in _MODES else kind


async def play_on(visit: Visit) -> Response:
    """Begin a casual game from a position of a finished game, and go to it."""
    services, account = visit.services, visit.user.account
    turn = (await read_form(visit)).get("turn", "")
    if not _TURN.fullmatch(turn):
        raise ActionRejected("position", _("choose a move of the game: give its number as turn"))
    origin = await visible_game(visit)
    services.limits.check(new_games=account, new_games_from=visit.address)
    game = await services.do(begin_from_position, account, origin, int(turn))
    return RedirectResponse(f"/?game={game.id}", 303)


def begin_from_position(games: GameService, account_id: str, game_id: str, turn: int) -> OnlineGame:
    """Begin a casual game from the position of a finished game.

    Its tiles come from a secret of its own, its score begins at 0, and it counts on no board.

    Args:
        games: the games.
        account_id: who plays on.
        game_id: the game.
        turn: how many of its turns are played at the position.

    Raises:
        ActionRejected: if there is no such finished game (``unknown_game``) or position
            (``position``), no move is possible there (``over``), or the game is sealed: those who
            watch the new game would see its tiles. Also as `GameService.begin_game`.
        StorageError: if the store cannot be read or written.
    """
    info = games.store.online.info(game_id)
    if info is not None and (since := fairness.sealed_until(info.day)):
        text = _("positions of this challenge may be played from {day} on")
        raise ActionRejected("sealed", text.format(day=since))
    played = Record.from_json(games.record_text(game_id))
    boards = [played.start, *(board for board, _, _ in islice(played.replay(), turn))]
    if len(boards) <= turn:
        last = sum(1 for _ in played.steps)
        text = _("there is no move {n}: choose one from 0 to {last}")
        raise ActionRejected("position", text.format(n=turn, last=last))
    if Game(played.rules, board=boards[turn]).is_over:
        raise ActionRejected("over", _("no move is possible there: choose an earlier position"))
    secret = fairness.new_secret()
    return games.begin(account_id, played.rules, CASUAL, secret, position=boards[turn])


async def share(visit: Visit) -> Response:
    """Send the picture and the text of a finished game, for all who have the address."""
    game, card = await _card(visit)
    address = f"{origin_of(visit)}/game/{game}"
    shown: dict[str, Any] = {"card": card, "game_path": f"/game/{game}", "address": address}
    text = card.text(f"{address}/share")
    return render(visit, "share.html", text=text, size=(WIDTH, HEIGHT), **shown)


async def show_picture(visit: Visit) -> Response:
    """Send the picture."""
    services, (game, card) = visit.services, await _card(visit)
    services.limits.check(cards=visit.address)

    def draw(games: GameService) -> bytes:
        return picture(card, games.load(game).session.game.board)

    headers = {"cache-control": "public, max-age=3600", "vary": "accept-language, cookie"}
    return Response(await services.do(draw), media_type="image/png", headers=headers)


async def _card(visit: Visit) -> tuple[str, Card]:
    """Return the game in an address and what is shared of it."""
    card = await visit.services.do(card_of, visit.game)
    if card is None:
        raise HTTPException(404, _("There is no such finished game."))
    return visit.game, card


ROUTES = (
    page("/game/{game}", show),
    page("/game/{game}/record", record),
    page("/game/{game}/review", review, "POST"),
    page("/game/{game}/play", play_on, "POST"),
    page("/game/{game}/result", show_result),
    page("/game/{game}/result", show_result, "POST"),
    page("/game/{game}/share", share),
    page("/game/{game}/card.png", show_picture),
)


# What is shared


@dataclass(frozen=True, slots=True)
class Card:
    """What is shared of a finished game.

    Attributes:
        kind: what was played.
        player: whose it was, None for a guest.
        score: the final score.
        max_tile: the largest tile at the end.
        plies: the number of moves.
        target: the tile to reach, None where there is none.
        streak: on how many days in a row the player has finished the daily challenge, with this.
    """

    kind: str
    player: str | None
    score: int
    max_tile: int
    plies: int
    target: int | None
    streak: int = 0

    @property
    def points(self) -> str:
        """What the score is."""
        said = ngettext("{points} points in {n} move", "{points} points in {n} moves", self.plies)
        return said.format(points=number(self.score), n=number(self.plies))

    @property
    def lines(self) -> list[str]:
        """What else there is to say, in lines."""
        said = [_("Largest tile {tile}").format(tile=number(self.max_tile))]
        if self.streak > 1:
            days = ngettext("{n} day in a row", "{n} days in a row", self.streak)
            said.append(days.format(n=number(self.streak)))
        return said

    @property
    def squares(self) -> str:
        """A square for each doubling from 16 on: reached, or missing on the way to the target."""
        reached = max((self.max_tile // _FIRST_SQUARE).bit_length(), 0)
        wanted = max(((self.target or 0) // _FIRST_SQUARE).bit_length(), reached)
        return ("🟧" * reached + "⬜" * (wanted - reached))[:_MAX_SQUARES]

    def text(self, address: str) -> str:
        """Return what people paste elsewhere, with the address of the page."""
        said = [f"2048 · {self.kind}", self.points, self.squares, *self.lines, address]
        return "\n".join(filter(None, said))


def card_of(games: GameService, game_id: str) -> Card | None:
    """Return what is shared of a game; None while it is in progress."""
    if not (ended := reviews.ended_game(games, game_id)):
        return None
    row, info = ended
    streak = 0
    if info.day:  # as it stood with the game of that day, which counts before it has a record
        until = [
            replace(each, category=each.category or DAILY) if each.game_id == game_id else each
            for each in games.store.online.daily_results(info.owner)
            if each.day <= info.day
        ]
        then = streak_of(until, date.fromisoformat(info.day))
        streak = then.current if then.is_done else 0
    kind, target = kind_of_game(row, info), row.rules.target
    return Card(kind, info.name, row.score, row.max_tile, row.plies, target, streak)


# The picture


@lru_cache(maxsize=_MAX_PICTURES)
def picture(card: Card, board: Board) -> bytes:
    """Return a card as a PNG file, with the board on which the game ended."""
    image = Image.new("RGB", (WIDTH, HEIGHT), DARK.page)
    grid = BoardGrid.fit(board.shape, _SIDE, _SIDE)
    image.paste(board_image.board(board, grid, DARK), (_EDGE + grid.left, _EDGE + grid.top))
    pen, left = ImageDraw.Draw(image), 2 * _EDGE + _SIDE
    width = WIDTH - left - _EDGE

    def write(top: float, text: str, colour: str = DARK.ink) -> None:
        """Write a line, smaller where it would be too wide."""
        wide = max(pen.textlength(text, ImageFont.load_default(36)), 1)
        font = ImageFont.load_default(36 * min(1.0, width / wide))
        pen.text((left, top), text, colour, font, "lm")

    write(150, f"2048 · {card.kind}", DARK.muted)
    points = number(card.score)
    wide = board_image.number_font(124).getlength(points)
    score = board_image.number_font(int(124 * min(1, width / wide)))
    pen.text((left, 300), points, DARK.ink, score, "ls")
    below = [card.points.removeprefix(points).strip(), *card.lines]
    for index, said in enumerate(below):
        write(365 + 52 * index, said)
    if card.player and card.player.isascii():  # the font inside Pillow has no other letters
        write(365 + 52 * len(below), card.player, DARK.accent)
    file = io.BytesIO()
    image.quantize(128, Image.Quantize.FASTOCTREE).save(file, "PNG")
    return file.getvalue()


# Pages of turns


@lru_cache(_MAX_REPLAYS)
def _places(_game: str, _turns: str, _stride: int) -> dict[int, tuple[int, Board, int]]:
    """Return the places in a game from which it was replayed, which are kept for the next page.

    A place is where the next turn stands in the text, the board and the score there. Threads may
    share them.
    """
    return {}


def page_of_turns(
    game: str, record: Record, first: int, most: int, stride: int = STRIDE
) -> schema.TurnsAnswer:
    """Return some turns of a game, replayed from a place kept shortly before the first of them.

    Raises:
        RecordError: if a turn breaks the rules.
    """
    places, turns = _places(game, record.turns, stride), list[schema.TurnInfo]()
    at = min(first // stride, len(places))
    offset, start, score = places.get(at, (0, record.start, 0))
    rest = replace(record, start=start, turns=record.turns[offset:], times=())
    replayed = islice(rest.replay(), first + most - at * stride)
    for place, (board, turn, _score) in enumerate(replayed, at * stride + 1):
        before, score = score, score_after(record.rules, score, turn, board)
        offset += len(encode_turn(turn))
        if place % stride == 0:
            places[place // stride] = offset, board, score
        if place > first:
            turns.append(messages.turn_info(turn, score, score - before, board))
    total = sum(1 for _ in record.steps)
    times = list(record.times[first : first + most])
    return schema.TurnsAnswer(game, record.start.rows, first, total, turns, times)
