"""Pages about a game: live view, replay, record, review, result and sharing.

The shared page of a game is public. The page reveals neither moves nor secrets, so daily games can
be shared on the same day.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice

import msgspec
from PIL import Image, ImageDraw, ImageFont
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from py2048 import Board, Game, Record
from py2048.app.session import Session
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
from py2048.review.milestones import Milestone
from py2048.server import schema
from py2048.server.bounds import MAX_PICTURES, MAX_REPLAYS
from py2048.server.play import battles, messages
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.schema import CASUAL, DAILY, ActionRejected
from py2048.server.site import pages, reviews
from py2048.server.site.auth import UserRequest
from py2048.server.site.challenges import minutes_left, streak_of
from py2048.server.site.pages import Page, Site, Values, read_form, row_of

STRIDE = 512  # Turns between two replay checkpoints.
WIDTH, HEIGHT = 1200, 630  # Picture size in pixels. Social networks crop other formats.

Race = Iterable[Milestone]
_TURN = re.compile("[0-9]{1,7}")
_EDGE, _SIDE = 60, 510
_MAX_SQUARES = 14
_FIRST_SQUARE = 16


async def show_game(site: Site, request: UserRequest) -> Response:
    """Show the permanent page of a game: a live view while it is in progress, then a replay."""
    game = await site.visible_game(request)
    account = request.user.account
    if await site.backend.do(reviews.is_outdated, game):
        with suppress(ActionRejected):  # the page offers it
            await site.reviews.request(game, request.caller)
    is_enabled = site.reviews.is_enabled
    return await site.show(request, "game.html", game_page, game, account, reviews_games=is_enabled)


async def send_record(site: Site, request: UserRequest) -> Response:
    """Send a finished game's record."""
    game = await site.visible_game(request)
    text = await site.read("list", request.caller, GameService.record_text, game)
    headers = {"content-disposition": f'attachment; filename="{game}.2048.json"'}
    return Response(text, media_type="application/json", headers=headers)


async def request_review(site: Site, request: UserRequest) -> Response:
    """Start a review, for a level if the form names one, and redirect to the game's page."""
    game, level = request.game, (await read_form(request)).get("level")
    await site.reviews.request(game, request.caller, level)
    return RedirectResponse(f"/game/{game}", 303)


async def show_result(site: Site, request: UserRequest) -> Response:
    """Show the result of the user's own game. A POST request also starts a review of the game."""
    game, account, rejected = await site.visible_game(request), request.user.account, ""
    if request.method == "POST":
        try:
            await site.reviews.request(game, request.caller)
        except ActionRejected as error:
            rejected = error.reason
    await site.backend.rooms.wait_for_records(account)
    race = (await _played(site, request, game)).race() if "race" in request.query_params else ()
    facts, path = (game, account, rejected, tuple(race)), f"/game/{game}"
    values: Values = {"game_path": path, "address": site.url(request, f"{path}/share")}
    return await site.show(request, "_result.html", result_page, *facts, **values)


async def show_race(site: Site, request: UserRequest) -> Response:
    """Show a game's time and milestones on the page where it is played."""
    session = await _played(site, request, await site.visible_game(request))
    return pages.render(request, "_race.html", session=session)


async def _played(site: Site, request: UserRequest, game: str) -> Session:
    """Return a game's session.

    The best times in the session exclude those of this game until it has ended.
    """
    room = site.backend.rooms.open.get(game)
    online = room.game if room else await site.write("open", request.caller, GameService.load, game)
    return online.session


async def play_on(site: Site, request: UserRequest) -> Response:
    """Start a casual game from a position of a finished game, and redirect to the new game."""
    account, turn = request.user.account, (await read_form(request)).get("turn", "")
    if not _TURN.fullmatch(turn):
        text = _("turn is not a number: give the number of a move")
        raise ActionRejected("position", text)
    source = await site.visible_game(request)
    site.limits.check("new_games", account)
    facts = account, source, int(turn)
    game = await site.write("game", request.caller, begin_from_position, *facts)
    return RedirectResponse(f"/?game={game.id}", 303)


async def show_card(site: Site, request: UserRequest) -> Response:
    """Show a finished game's picture and text to anyone with the link."""
    path = f"/game/{request.game}"
    values: Values = {"game_path": path, "address": site.url(request, path)}
    return await site.show(request, "share.html", share_page, request.game, **values)


async def show_picture(site: Site, request: UserRequest) -> Response:
    """Send a picture of a finished game."""
    image = await site.read("picture", request.caller, picture_of, request.game)
    headers = {"cache-control": "public, max-age=3600", "vary": "accept-language, cookie"}
    return Response(image, media_type="image/png", headers=headers)


PAGES = (
    Page("/game/{game}", show_game),
    Page("/game/{game}/record", send_record),
    Page("/game/{game}/review", request_review, "POST"),
    Page("/game/{game}/play", play_on, "POST"),
    Page("/game/{game}/race", show_race),
    Page("/game/{game}/result", show_result),
    Page("/game/{game}/result", show_result, "POST"),
    Page("/game/{game}/share", show_card),
    Page("/game/{game}/card.png", show_picture),
)


# Values of the pages


@lru_cache(MAX_REPLAYS)
def score_graph_of(record: str) -> tuple[str, int]:
    """Return a record's score graph and number of turns. Damaged records have no graph."""
    with suppress(RecordError):
        game = Record.from_json(record)
        return score_graph(game), sum(1 for _ in game.steps)
    return "", 0


def game_page(games: GameService, game_id: str, account: str) -> Values:
    """Return the template values of a game's page.

    Raises:
        HTTPException: If the game does not exist.
    """
    info, row = games.store.online.info(game_id), row_of(games, game_id)
    if info is None or row is None:
        raise HTTPException(404, _("There is no such game."))
    is_over, sealed_until = row.finished is not None, fairness.sealed_until(info.day)
    shown: Values = {"review": None, "max_moves": reviews.MAX_MOVES}
    if is_over:
        shown["review"] = reviews.review_answer(games, game_id)
        if shown["review"].state != "done" and row.plies <= reviews.MAX_MOVES:
            shown["scores"], shown["turns"] = score_graph_of(games.record_text(game_id))
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
    games: GameService, game_id: str, account: str, rejected: str = "", race: Race = ()
) -> Values:
    """Return the template values for the result page of an account's own game.

    Args:
        games: The game service.
        game_id: The game.
        account: The account.
        rejected: Why a review of the game was not accepted, or an empty string.
        race: The game's milestones; empty if milestones are not shown.

    Raises:
        ActionRejected: If the account has no finished game with this id (``unknown_game``).
    """
    ended, card = reviews.ended_game(games, game_id), card_of(games, game_id)
    if ended is None or card is None or ended[1].owner != account:
        raise ActionRejected("unknown_game", _("you have no such finished game"))
    row, info = ended
    now, rules = datetime.now(UTC), row.rules.text
    bests = games.store.scores.bests(rules, account, without=game_id)
    others: Values
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
    others["race"] = race
    result = result_of(card.kind, row.score, is_by_computer=row.board == "computer", **others)
    state, summary = reviews.figures(games.store.reviews.find(game_id))
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
"""Short explanations of why a game has no review."""

_MODES = {"ranked": N_("Ranked"), "battle": N_("Battle")}


def kind_of_game(row: schema.GameRow, info: OnlineGameInfo) -> str:
    """Return a short description of a game, such as "Daily · 26 November"."""
    if info.day:
        return f"{_('Daily')} · {pages.day_name(info.day)}"
    kind = pages.title_of(row.rules)
    return f"{kind} · {_(_MODES[info.mode])}" if info.mode in _MODES else kind


def begin_from_position(games: GameService, account_id: str, game_id: str, turn: int) -> OnlineGame:
    """Start a casual game from a position of a finished game.

    The new game has a new secret and a score of 0, and does not count on any leaderboard.

    Args:
        games: The game service.
        account_id: The player.
        game_id: The finished game.
        turn: Number of turns before the position.

    Raises:
        ActionRejected: If the game (``unknown_game``) or the position (``position``) does not
            exist, if no move is possible (``over``), or if the game is sealed (``sealed``), because
            spectators of the new game would see its tiles. Also raises the errors of
            `GameService.begin_game`.
        StorageError: If the store cannot be read or written.
    """
    info = games.store.online.info(game_id)
    if info is not None and (since := fairness.sealed_until(info.day)):
        text = _("positions of this challenge can be played from {day}")
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
        target: Target tile, or None.
        streak: Number of consecutive days with a finished daily challenge, up to this game.
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
        """Additional lines of text: the largest tile and the streak."""
        said = [_("Largest tile {tile}").format(tile=number(self.max_tile))]
        if self.streak > 1:
            days = ngettext("{n} day in a row", "{n} days in a row", self.streak)
            said.append(days.format(n=number(self.streak)))
        return said

    @property
    def squares(self) -> str:
        """A square for each power of two from 16 to the target, filled if the tile was reached."""
        reached = max((self.max_tile // _FIRST_SQUARE).bit_length(), 0)
        wanted = max(((self.target or 0) // _FIRST_SQUARE).bit_length(), reached)
        return ("🟧" * reached + "⬜" * (wanted - reached))[:_MAX_SQUARES]

    def text(self, address: str) -> str:
        """Return the text to share, with a link to the game."""
        said = [f"2048 · {self.kind}", self.points, self.squares, *self.lines, address]
        return "\n".join(filter(None, said))


def card_of(games: GameService, game_id: str) -> ShareCard | None:
    """Return the card of a finished game, or None if there is no such game."""
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


def share_page(games: GameService, game_id: str) -> Values:
    """Return the template values of the page that shares a finished game.

    Raises:
        HTTPException: If there is no such game.
    """
    card = card_of(games, game_id)
    if card is None:
        raise HTTPException(404, _("There is no such finished game."))
    return {"card": card, "size": (WIDTH, HEIGHT)}


# The picture


def picture_of(games: GameService, game_id: str) -> bytes:
    """Return the picture of a finished game. Raises the same errors as `share_page`."""
    card = share_page(games, game_id)["card"]
    return picture(card, games.load(game_id).session.game.board)


@lru_cache(MAX_PICTURES)
def picture(card: ShareCard, board: Board) -> bytes:
    """Render a card with the game's final board as a PNG image."""
    image = Image.new("RGB", (WIDTH, HEIGHT), DARK.page)
    grid = BoardGrid.fit(board.shape, _SIDE, _SIDE)
    image.paste(board_image.board(board.rows, grid, DARK), (_EDGE + grid.left, _EDGE + grid.top))
    pen, left = ImageDraw.Draw(image), 2 * _EDGE + _SIDE
    width = WIDTH - left - _EDGE

    def write(top: float, text: str, colour: str = DARK.ink) -> None:
        """Write a line of text, in a smaller font if the line is too wide."""
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
    if card.player and card.player.isascii():  # The built-in font of Pillow has only ASCII letters.
        write(365 + 52 * len(below), card.player, DARK.accent)
    file = io.BytesIO()
    image.quantize(128, Image.Quantize.FASTOCTREE).save(file, "PNG")
    return file.getvalue()


# Pages of turns


@lru_cache(MAX_REPLAYS)
def checkpoints_of(_game: str, _turns: str, _stride: int) -> dict[int, tuple[int, Board, int]]:
    """Return a game's cache of replay checkpoints. Threads share the cache.

    Maps the turn divided by the stride to a checkpoint: the offset of the next turn in the record's
    text, the board, and the score.
    """
    return {}


def turns_answer(games: GameService, game_id: str, query: schema.TurnsQuery) -> schema.TurnsAnswer:
    """Return the requested turns of a finished game."""
    record = Record.from_json(games.record_text(game_id))
    return page_of_turns(game_id, record, query.first, query.limit)


def page_of_turns(
    game: str, record: Record, first: int, most: int, stride: int = STRIDE
) -> schema.TurnsAnswer:
    """Return a range of turns. The replay starts at the last checkpoint before the range.

    Raises:
        RecordError: If a turn breaks the rules.
    """
    checkpoints, turns = checkpoints_of(game, record.turns, stride), list[schema.TurnInfo]()
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
