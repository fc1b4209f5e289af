"""The JSON API behaves as its OpenAPI description says."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import schemathesis
import stand_in_review
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from tests.processes import until
from web_server import Answer, Browser, WebServer, serving

from py2048 import Board, Direction, Game, Record, Rules, get_rules
from py2048.app.session import Hint
from py2048.players import Chance, Meaning, Unit
from py2048.server.api.api import ENDPOINTS as ALL
from py2048.server.api.api import MAX_TURNS, document
from py2048.server.play.messages import hint_answer

ENDPOINTS = {endpoint.path: endpoint for endpoint in ALL}

# Read here rather than by a fixture, whose lazy schemas set pytest's private `_nodeid`.
api = schemathesis.openapi.from_dict(document())


@api.parametrize()
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_the_api_is_as_described(case: schemathesis.Case, web_server: WebServer) -> None:
    """Every response has a status, type and body that the OpenAPI description allows.

    The server may still reject a request that matches the description, because a schema cannot
    express what makes a board or a rules text valid.
    """
    response = case.call(base_url=web_server.url, timeout=60)
    excluded = [positive_data_acceptance]
    if response.status_code == 413:  # described, but schemathesis does not count it as a rejection
        excluded.append(negative_data_rejection)
    case.validate_response(response, excluded_checks=excluded)


@pytest.mark.slow
def test_hints_by_http_compile_their_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests start the compiler: quick hints are replaced by hints of the requested player."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    asked = {"board": [[2, 2, 4, 0, 0], *[[0] * 5] * 4], "player": "expectimax:depth=1"}
    with serving(tmp_path / "home") as server:
        end, browser, replaced = time.monotonic() + 600, Browser(server), ["not asked"]
        while replaced[-1] and time.monotonic() < end:
            with suppress(TimeoutError):
                replaced.append(browser.post("/api/hints", asked).json()["instead_of"])
            time.sleep(1)
    assert replaced[-1] is None


def test_the_served_description_is_the_tested_one(browser: Browser) -> None:
    """`/api/openapi.json` serves the description that the other tests check."""
    assert browser.get("/api/openapi.json").json() == document()


def test_no_answer_is_just_an_object() -> None:
    """Every response type declares all its fields with types."""
    described = document()
    components = described["components"]["schemas"]

    def check(schema: dict[str, Any]) -> None:
        if "$ref" in schema:
            schema = components[schema["$ref"].rpartition("/")[2]]
            assert schema["additionalProperties"] is False
            assert schema["properties"]
            for field in schema["properties"].values():
                check(field)
        parts = [schema.get("items"), schema.get("additionalProperties")]
        for part in (*parts, *schema.get("anyOf", ()), *schema.get("prefixItems", ())):
            if isinstance(part, dict):
                check(part)
        known = {"$ref", "anyOf", "enum", "properties", "items", "prefixItems"}
        simple = schema.get("type") in ("string", "integer", "number", "boolean", "null")
        assert known & set(schema) or simple or "additionalProperties" in schema, schema

    for path in described["paths"].values():
        for method in {"get", "post"} & set(path):
            for response in path[method]["responses"].values():
                (content,) = response["content"].values()
                check(content["schema"])


def test_every_answer_is_as_described(browser: Browser) -> None:
    """Every response, from a board to a record, matches its declared type exactly."""

    def checked(path: str, answer: Answer) -> Any:
        assert answer.status in (200, 201), answer.text
        msgspec.json.decode(answer.body, type=ENDPOINTS[path].answer)
        return answer.json()

    for path in ("/api/rules", "/api/rules/check", "/api/players", "/api/leaderboards"):
        checked(path, browser.get(path))
    board = {"board": [[2, 2], [4, 0]], "player": "greedy"}
    for path in ("/api/boards/slides", "/api/hints"):
        checked(path, browser.post(path, board))
    state = checked("/api/games", browser.post("/api/games", {"rules": "2x4"}))
    game = f"/api/games/{state['game']}"
    while state["outcome"] == "playing":
        move = {"number": state["version"] + 1, "direction": state["legal"][0]}
        state = checked("/api/games/{game}/moves", browser.post(f"{game}/moves", move))
    checked("/api/games/{game}/moves", browser.post(f"{game}/moves", move))
    checked("/api/games/{game}", browser.get(game))
    until(lambda: browser.get(f"{game}/record").status == 200)
    record = browser.get(f"{game}/record")
    checked("/api/games/{game}/record", record)
    checked("/api/games/{game}/turns", browser.get(f"{game}/turns?from=1&limit=2"))
    assert checked(
        "/api/records/verify", browser.request("POST", "/api/records/verify", record.body)
    )["ok"]


def test_slides_are_the_engines(browser: Browser) -> None:
    """Boards, points and motions equal those of the engine."""
    board = Board.parse("2 2 4 . / . 4 4 8 / 2 . . 2")
    answer = browser.post("/api/boards/slides", {"board": board.rows}).json()
    assert answer["legal"] == [str(each) for each in board.legal_directions()]
    for direction in Direction:
        slide, told = board.slide(direction), answer["slides"][str(direction)]
        assert (told["legal"], told["points"]) == (slide.changed, slide.points)
        assert told["board"] == [list(row) for row in slide.board.rows]
        assert len(told["motions"]) == len(slide.motions)


def test_a_hint_names_a_legal_direction(browser: Browser) -> None:
    """The direction is legal and has the highest value."""
    answer = browser.post("/api/hints", {"board": [[2, 2], [4, 0]], "player": "greedy"}).json()
    best = max(answer["values"].values())
    assert answer["values"][answer["direction"]] == best
    assert (answer["unit"], answer["policy"], answer["chance"]) == ("rating", None, None)
    over = browser.post("/api/hints", {"board": [[2, 4], [4, 2]], "player": "greedy"})
    assert over.status == 409
    own = browser.post(
        "/api/hints", {"board": [[2, 2], [4, 0]], "rules": "own:size=2x2,spawn=2:7+4:2"}
    )
    assert (own.status, own.json()["reason"]) == (422, "player")
    unknown = browser.post("/api/hints", {"board": [[2, 2]], "player": "expectimax:depth=20"})
    assert unknown.status == 422


def test_a_hint_tells_programs_what_its_values_mean() -> None:
    """A hint has unit, policy and chance for programs, and the same in words for pages."""
    chance = Chance(16384, 660, 1000)
    meaning = Meaning(Unit.POINTS, "ntuple", 0.0, chance)
    hint = Hint(Direction.LEFT, {Direction.LEFT: 281436.1}, "ntuple", 0, meaning)
    answer = msgspec.to_builtins(hint_answer(hint))
    assert (answer["unit"], answer["policy"]) == ("points", "ntuple")
    assert answer["chance"] == {"tile": 16384, "made": 660, "games": 1000} == chance._asdict()


def test_a_hint_for_a_level_gives_chances() -> None:
    """A hint judged for a level has the chances of the goal, with their errors."""
    move = stand_in_review.judged(Game("classic", seed=1).record(), "casual").moves[0]
    hint = Hint(move.best, move.values, move.source, 0, Meaning(Unit.CHANCE), judged=move)
    answer = msgspec.to_builtins(hint_answer(hint))
    assert (answer["direction"], answer["unit"], answer["goal"]) == ("down", "chance", 512)
    assert answer["values"] == {"left": 0.25, "down": 0.75}
    assert answer["errors"] == {"left": 0.05, "down": 0.0}


def test_a_record_is_verified(browser: Browser) -> None:
    """A genuine record verifies; any change to its bytes, score or secret is detected."""
    game = Game(get_rules("2x4"), seed=3)
    while not game.is_over:
        game.play(game.legal_directions()[0])
    text = game.record().to_json()
    verify = "/api/records/verify"
    answer = browser.request("POST", verify, text.encode()).json()
    assert answer["ok"]
    assert answer["score"] == game.score
    false = text.replace(f'"score": {game.score}', f'"score": {game.score + 4}')
    assert false != text
    assert not browser.request("POST", verify, false.encode()).json()["ok"]
    assert not browser.request("POST", f"{verify}?secret=00", text.encode()).json()["ok"]


@pytest.mark.parametrize(
    ("rules", "turns", "reason"),
    [("2x2,scoring=moves:1:-1", MAX_TURNS + 1, "length"), ("17x17", 1, "rules")],
)
def test_a_record_that_takes_long_is_not_verified_here(
    browser: Browser, rules: str, turns: int, reason: str
) -> None:
    """Records with too many turns or too large boards are referred to the command."""
    game = Game(Rules.parse(f"long:size={rules}"), seed=3)
    record = Record(game.rules, game.start, turns * "l", 0)
    answer = browser.request("POST", "/api/records/verify", record.to_json().encode())
    assert (answer.status, answer.json()["reason"]) == (422, reason)


@pytest.mark.parametrize("mode", ["ranked", "daily", "bot"])
async def test_without_a_token_the_api_plays_casual_games_only(browser: Browser, mode: str) -> None:
    """With a person's cookie, the API cannot play games that count."""
    refused = browser.post("/api/games", {"mode": mode})
    assert (refused.status, refused.json()["reason"]) == (403, "mode")
    if mode == "bot":
        return
    async with browser.socket() as socket:
        state = await socket.new(mode=mode)
        move = {"number": 1, "direction": state["legal"][0]}
        refused = browser.post(f"/api/games/{state['game']}/moves", move)
        assert (refused.status, refused.json()["reason"]) == (403, "mode")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 422),
        (b"{}", "application/json", 422),
        (b'{"board":[[2,3]]}', "application/json", 422),
        (b'{"board":[[2,2],[2]]}', "application/json", 422),
        (b'{"board":[[2,2]],"rules":"classic"}', "application/json", 422),
        (b'{"board":[[2,2]]}', "text/plain", 415),
        (b"[" * 8000, "application/json", 400),
    ],
)
def test_nonsense_gets_a_status_and_a_reason(
    browser: Browser, body: bytes, kind: str, status: int
) -> None:
    """Invalid requests get a JSON error with a status and a reason."""
    answer = browser.request("POST", "/api/boards/slides", body, Content_Type=kind)
    assert answer.status == status
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "path",
    ["boards/slides", "hints", "records/verify", "games", "games/aa/moves", "games/aa/review"],
)
@pytest.mark.parametrize(
    "body", ["\ud800", {"\ud800": 1}, {"player": "\ud800"}, {"number": 1, "direction": "\ud800"}]
)
def test_half_a_character_is_refused(browser: Browser, path: str, body: Any) -> None:
    """A body with a lone surrogate is rejected as invalid JSON."""
    answer = browser.post(f"/api/{path}", body)
    assert (answer.status, answer.json()["error"]) == (400, "the body is not JSON")


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/api/boards/slides", {"board": 3}, "board must be a list of rows from the top"),
        ("/api/boards/slides", {"board": [[2]], "rules": 5}, "rules must be .*, not '5'"),
        ("/api/boards/slides", {}, "board must be a list of rows"),
        ("/api/hints", {"board": [[2, 2]], "player": []}, "player must be a text .*, not '\\[\\]'"),
        ("/api/games", {"mode": "\0"}, "mode must be a text"),
        ("/api/games/aa/moves", {"number": 0, "direction": "up"}, "number must be .*, not '0'"),
        ("/api/games/aa/moves", {"number": 1, "direction": "in"}, "one of up, .*, not 'in'"),
        ("/api/leaderboards?period=year", None, "period must be one of day, .*, not 'year'"),
        ("/api/leaderboards?board=all", None, "board must be one of ranked, .*, not 'all'"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_must_be(
    browser: Browser, path: str, body: Any, says: str
) -> None:
    """The error names the field, its value and the expected value."""
    answer = browser.get(path) if body is None else browser.post(path, body)
    assert answer.status == 422
    assert re.search(says, answer.json()["error"]), answer.text


def test_the_description_is_shown(browser: Browser) -> None:
    """The documentation page lists every route."""
    document = browser.get("/api/openapi.json").json()
    page = browser.get("/api/docs").text
    for path in document["paths"]:
        assert path in page
    assert json.dumps(document).count("summary") >= len(document["paths"])
