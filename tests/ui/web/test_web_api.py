"""The JSON API: what programs get, and that it is what the description says."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from web_server import Browser, WebServer

from py2048 import Board, Direction, Game, get_rules

schema = schemathesis.pytest.from_fixture("api_schema")


@pytest.fixture
def api_schema(web_server: WebServer) -> object:
    return schemathesis.openapi.from_url(f"{web_server.url}/api/openapi.json")


@schema.parametrize()
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_the_api_is_as_described(case: schemathesis.Case) -> None:
    """Whatever is sent, statuses, types and bodies are those of the OpenAPI description.

    A body of the described shape may still be no board and a text no rules, which no schema says;
    so what has the right shape may be refused.
    """
    case.call_and_validate(excluded_checks=[positive_data_acceptance])


def test_slides_are_the_engines(browser: Browser) -> None:
    """Each direction's board, points and motions are what the engine says."""
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
    over = browser.post("/api/hints", {"board": [[2, 4], [4, 2]], "player": "greedy"})
    assert over.status == 409
    unknown = browser.post("/api/hints", {"board": [[2, 2]], "player": "expectimax:depth=20"})
    assert unknown.status == 422


def test_a_record_is_verified(browser: Browser) -> None:
    """A true record passes; one byte more, another score or another secret does not."""
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


def test_a_program_plays(browser: Browser) -> None:
    """Deal, move by number, look: with a cookie jar and no browser."""
    dealt = browser.post("/api/games", {"rules": "classic", "mode": "ranked"})
    assert dealt.status == 201
    state = dealt.json()
    path = dealt.headers["Location"]
    move = {"number": 1, "direction": state["legal"][0]}
    moved = browser.post(f"{path}/moves", move).json()
    assert moved["version"] == 1
    again = browser.post(f"{path}/moves", move).json()
    assert (again["type"], again["version"], again["board"]) == ("state", 1, moved["board"])
    gap = browser.post(f"{path}/moves", {"number": 9, "direction": "left"})
    assert (gap.status, gap.json()["reason"]) == (409, "gap")
    assert browser.get(path).json()["board"] == moved["board"]
    stranger = Browser(browser.server).post(f"{path}/moves", {"number": 2, "direction": "left"})
    assert stranger.status == 403


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
    """A request that makes no sense is told so, in JSON."""
    answer = browser.request("POST", "/api/boards/slides", body, Content_Type=kind)
    assert answer.status == status
    assert answer.json()["error"]


def test_the_description_is_shown(browser: Browser) -> None:
    """Every route stands on the page for people too."""
    document = browser.get("/api/openapi.json").json()
    page = browser.get("/api/docs").text
    for path in document["paths"]:
        assert path in page
    assert json.dumps(document).count("summary") >= len(document["paths"])
