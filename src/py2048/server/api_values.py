"""What the JSON API reads and answers, apart from HTTP."""

from __future__ import annotations

from itertools import islice
from typing import Any

from starlette.requests import Request

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError, Py2048Error, RecordError
from py2048.game import Record
from py2048.rules import Rules
from py2048.server import requests, rows
from py2048.server.bounds import checked_rules
from py2048.server.fairness import check_fair
from py2048.server.house import BOARDS, PERIODS, House
from py2048.server.messages import turn_value
from py2048.server.table import RefusedError

Json = dict[str, Any]
_LARGEST_TILE = 2**60


class ApiError(Py2048Error):
    """A request that cannot be answered as it is.

    Attributes:
        status: the HTTP status that says so.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def position_of(message: Json) -> tuple[Rules, Board]:
    """Return the rules and the board of a request; without rules, classic ones of its size.

    Raises:
        RefusedError: if the rules make no game here.
        BoardError: if the board is none, or of another size.
    """
    cells = message.get("board")
    if not isinstance(cells, list) or not all(isinstance(row, list) for row in cells):
        raise BoardError("board must be a list of rows, each a list of tiles, 0 for empty")
    board = Board.from_rows(cells)
    if board.max_tile > _LARGEST_TILE:
        raise BoardError("the tiles of this board are too large")
    size = "x".join(map(str, board.shape))
    rules = checked_rules(requests.text(message, "rules", f"classic:size={size}"))
    if rules.shape != board.shape:
        raise BoardError(f"the rules play on {rules.rows}x{rules.columns}, the board has {size}")
    return rules, board


def slides_value(rules: Rules, board: Board) -> Json:
    """Return what each direction does."""
    slides = {}
    for direction in Direction:
        slide = board.slide(direction, rules.merging)
        slides[str(direction)] = {
            "legal": slide.changed,
            "points": slide.points,
            "board": slide.board.rows,
            "motions": [
                {"source": motion.source, "target": motion.target, "merged": motion.merged}
                for motion in slide.motions
            ],
        }
    return {"legal": [str(each) for each in board.legal_directions()], "slides": slides}


def verified_value(text: str, secret: str | None) -> Json:
    """Return whether a record keeps its rules, and its secret if one is given."""
    try:
        record = Record.from_json(text)
        record.verify()
        if secret:
            check_fair(record, secret)
    except RecordError as error:
        return {"ok": False, "error": str(error)}
    return {
        "ok": True,
        "rules": str(record.rules),
        "player": record.player,
        "score": record.score,
        "plies": record.plies,
        "seed": record.seed,
        "fair": bool(secret),
    }


def leaderboard_value(house: House, query: dict[str, str]) -> Json:
    """Return the best games of a board.

    Raises:
        RefusedError: if there is no such board or rules.
    """
    board, period = query.get("board", "ranked"), query.get("period", "ever")
    if board not in BOARDS or period not in PERIODS:
        raise RefusedError("malformed", f"board is one of {BOARDS}, period of {PERIODS}")
    rules = str(checked_rules(query.get("rules", "classic")))
    found = house.store.leaderboard(board, rules, period)
    return {"rules": rules, "board": board, "period": period, "games": rows.finished_rows(found)}


def turns_value(house: House, game_id: str, first: int, most: int) -> Json:
    """Return some turns of a finished game, with the board after each.

    Raises:
        RefusedError: if there is no record of such a game.
    """
    found = house.record(game_id) if house.store.find_round(game_id) else None
    if found is None:
        raise RefusedError("unknown_game", "there is no record of such a game yet")
    record = found[1]
    turns, before = [], 0
    for index, (board, turn, score) in enumerate(islice(record.replay(), first + most)):
        if index >= first:
            turns.append(turn_value(turn, score, score - before, board.rows))
        before = score
    total = sum(1 for _ in record.steps)
    times = list(record.times[first : first + most])
    return {
        "game": game_id, "start": record.start.rows, "from": first, "total": total,
        "turns": turns, "times": times,
    }  # fmt: skip


def query_number(request: Request, key: str, low: int, high: int, default: int) -> int:
    """Return a whole number of a query.

    Raises:
        RefusedError: if it is something else, or out of bounds.
    """
    text = request.query_params.get(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and low <= int(text) <= high):
        raise RefusedError("malformed", f"{key} must be a whole number from {low} to {high}")
    return int(text)
