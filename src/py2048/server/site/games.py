"""Pages about a game: replay, live view, record, review, result and sharing.

A shared page is public. It reveals neither moves nor secrets, so daily games can be shared on the
same day.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from PIL import Image, ImageDraw, ImageFont
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from py2048 import Board, Game, Record
from py2048.app.storage import OnlineGameInfo
from py2048.core import fairness
from py2048.core.errors import RecordError
from py2048.core.game.turn import encode_turn, score_after
from py2048.core.language import N_, _, ngettext, number
from py2048.presentation import board_image
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.plots import score_graph
from py2048.presentation.result import PENDING, UNAVAILABLE, result_of
from py2048.presentation.themes import DARK
from py2048.presentation.words import luck_word
from py2048.review.levels import parse_level
from py2048.server import schema
from py2048.server.play import battles, messages
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.schema import CASUAL, DAILY, ActionRejected
from py2048.server.site import reviews
from py2048.server.site.auth import UserRequest
from py2048.server.site.challenges import minutes_left, streak_of
from py2048.server.site.pages import Page, Site, day_name, read_form, render, row_of, title_of

STRIDE = 512  # Turns between two replay checkpoints.
WIDTH, HEIGHT = 1200, 630  # Picture size in pixels. Social networks crop other formats.

_MAX_REPLAYS = 16
_TURN = re.compile("[0-9]{1,7}")
_EDGE, _SIDE = 60, 510
_MAX_SQUARES = 14
_FIRST_SQUARE = 16
_MAX_PICTURES = 256


async def show_game(site: Site, request: UserRequest) -> Response:
    """Show a game's permanent page: a live view while it is in progress, then a replay."""
    game = await site.visible_game(request)
    account = request.user.account
    if await site.backend.do(reviews.is_outdated, game):
        with suppress(ActionRejected):  # the page offers it
            await site.reviews.request(game, account, request.address)
    values = await site.backend.do(game_page, game, account)
    return render(request, "game.html", reviews_games=site.reviews.is_enabled, **values)


async def send_record(site: Site, request: UserRequest) -> Response:
    """Send the record of a game as a download."""
    game = await site.visible_game(request)
    text = await site.backend.do(GameService.record_text, game)
    headers = {"content-disposition": f'attachment; filename="{game}.2048.json"'}
    return Response(text, media_type="application/json", headers=headers)


async def request_review(site: Site, request: UserRequest) -> Response:
    """Request a review, for a level if one is chosen, and redirect to the game's page."""
    game, level = await site.visible_game(request), (await read_form(request)).get("level")
    await site.reviews.request(game, request.user.account, request.address, level)
    return RedirectResponse(f"/game/{game}", 303)


async def show_result(site: Site, request: UserRequest) -> Response:
    """Show the result of the user's own game; POST also requests its review."""
    game, account, rejected = await site.visible_game(request), request.user.account, ""
    if request.method == "POST":
        try:
            await site.reviews.request(game, account, request.address)
        except ActionRejected as error:
            rejected = error.reason
    await site.backend.rooms.wait_for_records(account)
    values = await site.backend.do(result_page, game, account, rejected)
    values["text"] = values.pop("card").text(site.url(request, f"/game/{game}/share"))
    return render(request, "_result.html", game_path=f"/game/{game}", **values)


async def play_on(site: Site, request: UserRequest) -> Response:
    """Start a casual game from a position of a finished game and redirect to it."""
    account, turn = request.user.account, (await read_form(request)).get("turn", "")
    if not _TURN.fullmatch(turn):
        text = _("turn is not a number: give the number of a move of the game")
        raise ActionRejected("position", text)
    original = await site.visible_game(request)
    site.limits.check(new_games=account, new_games_from=request.address)
    game = await site.backend.do(begin_from_position, account, original, int(turn))
    return RedirectResponse(f"/?game={game.id}", 303)


async def show_card(site: Site, request: UserRequest) -> Response:
    """Show the picture and text of a finished game to anyone with the link."""
    card, path = await _card(site, request), f"/game/{request.game}"
    address = site.url(request, path)
    values: dict[str, Any] = {"game_path": path, "address": address, "size": (WIDTH, HEIGHT)}
    return render(request, "share.html", card=card, text=card.text(f"{address}/share"), **values)


async def show_picture(site: Site, request: UserRequest) -> Response:
    """Send the picture of a finished game."""
    card, game = await _card(site, request), request.game
    site.limits.check(cards=request.address)
    image = await site.backend.do(lambda games: picture(card, games.load(game).session.game.board))
    headers = {"cache-control": "public, max-age=3600", "vary": "accept-language, cookie"}
    return Response(image, media_type="image/png", headers=headers)


async def _card(site: Site, request: UserRequest) -> ShareCard:
    card = await site.backend.do(card_of, request.game)
    if card is None:
        raise HTTPException(404, _("There is no such finished game."))
    return card


PAGES = (
    Page("/game/{game}", show_game),
    Page("/game/{game}/record", send_record),
    Page("/game/{game}/review", request_review, "POST"),
    Page("/game/{game}/play", play_on, "POST"),
    Page("/game/{game}/result", show_result),
    Page("/game/{game}/result", show_result, "POST"),
    Page("/game/{game}/share", show_card),
    Page("/game/{game}/card.png", show_picture),
)


# Values of the pages


@lru_cache(maxsize=_MAX_REPLAYS)
def _score_graph(record: str) -> tuple[str, int]:
    """Return a record's score graph (empty if the record is damaged) and its number of turns."""
    with suppress(RecordError):
        game = Record.from_json(record)
        return score_graph(game), sum(1 for _ in game.steps)
    return "", 0


def game_page(games: GameService, game_id: str, account: str) -> dict[str, Any]:
    """Return the template values of a game's page.

    Raises:
        HTTPException: If the game does not exist.
    """
    info, row = games.store.online.info(game_id), row_of(games, game_id)
    if info is None or row is None:
        raise HTTPException(404, _("There is no such game."))
    is_over, sealed_until = row.finished is not None, fairness.sealed_until(info.day)
    shown: dict[str, Any] = {"review": None, "max_moves": reviews.MAX_MOVES}
    if is_over:
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
        "offline": info.offline,
        "is_over": is_over,
        "commitment": fairness.commitment_of(info.secret),
        "secret": fairness.public_secret(info.secret, info.day, is_over=is_over),
        "sealed_until": sealed_until,
    }
    return shown


def result_page(
    games: GameService, game_id: str, account: str, rejected: str = ""
) -> dict[str, Any]:
    """Return the template values for the result page of an account's own game.

    Args:
        games: The game service.
        game_id: The game.
        account: The account.
        rejected: Why a request for its review was rejected, if it was.

    Raises:
        ActionRejected: If the account has no such finished game (``unknown_game``).
    """
    ended, card = reviews.ended_game(games, game_id), card_of(games, game_id)
    if ended is None or card is None or ended[1].owner != account:
        raise ActionRejected("unknown_game", _("you have no such finished game"))
    row, info = ended
    now, rules = datetime.now(UTC), row.rules.text
    bests = games.store.scores.bests(rules, account, without=game_id)
    others: dict[str, Any]
    battle = None
    if battle_id := games.store.battles.of_game(game_id):
        battle = battles.battle_page(games, battle_id, account)
        others = {"battle": battle["verdict"]}
    elif info.day:
        field = [each for each, _tile in games.store.online.day_scores(info.day)]
        if row.score in field and row.finished:
            field.remove(row.score)
        others = {"best": bests.get(DAILY), "field": field, "streak": card.streak}
    else:
        career = games.store.records.career(account, rules, without=game_id)
        best = max((best for kind, best in bests.items() if kind != "computer"), default=None)
        today = career.scores_today(now)
        others = {"best": best, "earlier": career.scores, "today": today}
    others |= {"largest": row.max_tile, "moves": row.plies, "target": row.rules.target}
    result = result_of(card.kind, row.score, is_by_computer=row.board == "computer", **others)
    state, summary = reviews.figures_of(games, game_id)
    if summary is not None:
        luck, level = luck_word(summary.luck, summary.swing), parse_level(summary.level)
        result = result.reviewed(summary.accuracy, luck, len(summary.moments), level)
    elif state in ("none", "failed"):
        result = result.without_review(_(SHORT_REASONS.get(rejected, UNAVAILABLE)))
    else:
        result = replace(result, level=PENDING)
    return {
        "result": result,
        "battle": battle,
        "card": card,
        "is_pending": state in ("waiting", "running"),
        "is_daily": info.day is not None,
        "has_played": streak_of(games, account, now.date()).is_done,
        "left": minutes_left(now),
    }


SHORT_REASONS = {"busy": N_("Busy"), "off": N_("Off"), "length": N_("Too long")}
"""Short reasons why a game has no review."""

_MODES = {"ranked": N_("Ranked"), "battle": N_("Battle")}


def kind_of_game(row: schema.GameRow, info: OnlineGameInfo) -> str:
    """Return a short description, such as "Daily · 26 November" or "Classic · Ranked"."""
    if info.day:
        return f"{_('Daily')} · {day_name(info.day)}"
    kind = title_of(row.rules)
    return f"{kind} · {_(_MODES[info.mode])}" if info.mode in _MODES else kind


def begin_from_position(games: GameService, account_id: str, game_id: str, turn: int) -> OnlineGame:
    """Start a casual game from a position of a finished game.

    The new game has a new secret and a score of 0, and does not count on any leaderboard.

    Args:
        games: The game service.
        account_id: The player.
        game_id: The finished game.
        turn: Number of turns played before the position.

    Raises:
        ActionRejected: If the game (``unknown_game``) or the position (``position``) does not
            exist, if no move is possible (``over``), or if the game is sealed (``sealed``), because
            spectators of the new game would see its tiles. Also raised for the reasons listed in
            `GameService.begin_game`.
        StorageError: If the store cannot be read or written.
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


# Sharing


@dataclass(frozen=True, slots=True)
class ShareCard:
    """The result of a finished game that a player shares.

    Attributes:
        kind: Short description of the game.
        player: The player's name, or None for a guest.
        score: Final score.
        max_tile: Largest final tile.
        plies: Number of moves.
        target: Target tile, if any.
        streak: Number of consecutive days with a finished daily challenge, including this game.
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
        """Score and number of moves."""
        said = ngettext("{points} points in {n} move", "{points} points in {n} moves", self.plies)
        return said.format(points=number(self.score), n=number(self.plies))

    @property
    def lines(self) -> list[str]:
        """Additional lines: the largest tile and the streak."""
        said = [_("Largest tile {tile}").format(tile=number(self.max_tile))]
        if self.streak > 1:
            days = ngettext("{n} day in a row", "{n} days in a row", self.streak)
            said.append(days.format(n=number(self.streak)))
        return said

    @property
    def squares(self) -> str:
        """One square per power of two from 16 to the target, filled if the tile was reached."""
        reached = max((self.max_tile // _FIRST_SQUARE).bit_length(), 0)
        wanted = max(((self.target or 0) // _FIRST_SQUARE).bit_length(), reached)
        return ("🟧" * reached + "⬜" * (wanted - reached))[:_MAX_SQUARES]

    def text(self, address: str) -> str:
        """Return the text to share, including a link."""
        said = [f"2048 · {self.kind}", self.points, self.squares, *self.lines, address]
        return "\n".join(filter(None, said))


def card_of(games: GameService, game_id: str) -> ShareCard | None:
    """Return the card of a finished game, or None."""
    if not (ended := reviews.ended_game(games, game_id)):
        return None
    row, info = ended
    streak = info.streak or 0
    if info.day and row.finished is None:  # its record is not stored yet
        yesterday = date.fromisoformat(info.day) - timedelta(days=1)
        before = games.store.online.daily(info.owner, str(yesterday))
        streak = 1 + ((before and before.streak) or 0)
    kind, target = kind_of_game(row, info), row.rules.target
    return ShareCard(kind, info.name, row.score, row.max_tile, row.plies, target, streak)


# The picture


@lru_cache(maxsize=_MAX_PICTURES)
def picture(card: ShareCard, board: Board) -> bytes:
    """Render a card with the final board as a PNG image."""
    image = Image.new("RGB", (WIDTH, HEIGHT), DARK.page)
    grid = BoardGrid.fit(board.shape, _SIDE, _SIDE)
    image.paste(board_image.board(board.rows, grid, DARK), (_EDGE + grid.left, _EDGE + grid.top))
    pen, left = ImageDraw.Draw(image), 2 * _EDGE + _SIDE
    width = WIDTH - left - _EDGE

    def write(top: float, text: str, colour: str = DARK.ink) -> None:
        """Write a line, in a smaller font if it is too wide."""
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
    if card.player and card.player.isascii():  # Pillow's built-in font has only ASCII letters
        write(365 + 52 * len(below), card.player, DARK.accent)
    file = io.BytesIO()
    image.quantize(128, Image.Quantize.FASTOCTREE).save(file, "PNG")
    return file.getvalue()


# Pages of turns


@lru_cache(_MAX_REPLAYS)
def _checkpoints(_game: str, _turns: str, _stride: int) -> dict[int, tuple[int, Board, int]]:
    """Return the cache of a game's replay checkpoints, which threads share and modify.

    A checkpoint, keyed by turn, consists of the offset of the next turn in the record's text, the
    board and the score.
    """
    return {}


def turns_answer(games: GameService, game_id: str, query: schema.TurnsQuery) -> schema.TurnsAnswer:
    """Return the requested turns of a finished game."""
    record = Record.from_json(games.record_text(game_id))
    return page_of_turns(game_id, record, query.first, query.limit)


def page_of_turns(
    game: str, record: Record, first: int, most: int, stride: int = STRIDE
) -> schema.TurnsAnswer:
    """Return a range of turns, replayed from the nearest checkpoint before it.

    Raises:
        RecordError: If a turn breaks the rules.
    """
    checkpoints, turns = _checkpoints(game, record.turns, stride), list[schema.TurnInfo]()
    at = min(first // stride, len(checkpoints))
    offset, start, score = checkpoints.get(at, (0, record.start, 0))
    rest = replace(record, start=start, turns=record.turns[offset:], times=())
    replayed = islice(rest.replay(), first + most - at * stride)
    for place, (board, turn, _score) in enumerate(replayed, at * stride + 1):
        before, score = score, score_after(record.rules, score, turn, board)
        offset += len(encode_turn(turn))
        if place % stride == 0:
            checkpoints[place // stride] = offset, board, score
        if place > first:
            turns.append(messages.turn_info(turn, score, score - before, board))
    total = sum(1 for _ in record.steps)
    times = list(record.times[first : first + most])
    return schema.TurnsAnswer(game, record.start.rows, first, total, turns, times)
