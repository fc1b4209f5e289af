"""External agents on published games, and verification of submissions."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from py2048 import Game, get_rules
from py2048.cli import main
from py2048.core.errors import PlayerError, TournamentError
from py2048.lab.arena import protocol
from py2048.lab.arena.external import any_player
from py2048.lab.arena.jobs import Job, run_job
from py2048.players.player import ResignedError

RULES = get_rules("classic", rows=2, columns=3)

FIRST = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"move": json.loads(line)["legal"][0], "tokens": 3}), flush=True)
"""
POLICY = "def act(observation, mask): return next(n for n in range(4) if mask[n])"


class First(BaseHTTPRequestHandler):
    """Answers with the first legal move, as a bare word."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(question["legal"][0].encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), First) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def program(folder: Path, text: str) -> str:
    (folder / "agent.py").write_text(text)
    return f"program:{sys.executable} {folder / 'agent.py'}"


def test_one_mind_plays_alike_however_it_is_asked(tmp_path, endpoint, monkeypatch):
    """A program, an endpoint and a policy that choose alike play identical games."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "first_policy.py").write_text(POLICY)
    specs = (program(tmp_path, FIRST), f"endpoint:{endpoint}", "policy:first_policy:act")
    played = [run_job(Job(spec, RULES, 1, (0, 1))).played for spec in specs]
    games = [[(game.seed, game.score, game.moves) for game in each] for each in played]
    assert games[0] == games[1] == games[2]
    assert [game.tokens for game in played[0]] == [3 * game.moves for game in played[0]]


def test_an_answer_that_is_not_a_legal_move_is_asked_again(tmp_path):
    """After an illegal answer the reason is sent; after three, the game ends and counts."""
    stubborn = 'import sys\nfor n, line in enumerate(sys.stdin): print("jump", flush=True)'
    player = any_player(program(tmp_path, stubborn))
    with pytest.raises(ResignedError, match="'jump' is not a move"):
        player.choose(Game(RULES, seed=1))
    late = (
        'import sys\nfor line in sys.stdin: print("left" if "message" in line else "?", flush=True)'
    )
    game = Game(RULES, board="2 . ./. . .")
    assert (
        str(any_player(program(tmp_path, late)).choose(Game(RULES, board="2 4 ./. . 2"))) == "left"
    )
    assert game.board.max_tile == 2
    (played,) = run_job(Job(program(tmp_path, stubborn), RULES, 1, (0,), recorded=True)).played
    assert (played.moves, played.score) == (0, 0)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("program:/no/such/agent", "cannot be started"),
        (f"program:{sys.executable} -c pass", "ended with status 0"),
        ("endpoint:http://127.0.0.1:9/", "refused"),
        ("policy:no_such_module:act", "write it as policy:module:function"),
        ("policy", "write policy:…"),
        ("endpoint:ftp://example.org", "http://…"),
    ],
)
def test_an_agent_that_is_not_there_is_named(spec, told):
    """The error for an unavailable agent says how to write it, or what happened."""
    with pytest.raises(PlayerError, match=told):
        any_player(spec).choose(Game(RULES, seed=1))


def test_a_submission_is_what_its_records_say(tmp_path, monkeypatch, capsys):
    """A submission whose log contradicts its records, or lacks a game, is rejected."""
    monkeypatch.setitem(protocol.TRACKS, "tiny", ("classic:size=2x2", 3))  # type: ignore[arg-type]
    words = ["benchmark-agent", "greedy", "--track", "tiny", "--quiet", "--jobs", "1"]
    folder = tmp_path / "submission"
    assert main([*words, "--out", str(folder), "--ms", "1000"]) == 0
    first = ["benchmark-agent", "greedy", "--quiet", "--json", "--jobs", "1", "--track", "tiny:1"]
    capsys.readouterr()
    assert main([*first, "--out", str(tmp_path / "first")]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 1
    assert main([*first[:-1], "tiny:4", "--out", str(tmp_path / "more")]) == 2
    assert main([*words, "--out", str(folder), "--tokens", "5"]) == 1  # none are reported
    assert "no tokens reported" in capsys.readouterr().out
    check = ["benchmark-agent", str(folder), "--verify"]
    assert main([*check, "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert values["submission"]["agent"] == "greedy"
    assert values["regret"][0]["per_game"]["mean"] >= 0

    log = folder / "games.jsonl"
    text = log.read_text()
    head, first, *rest = text.splitlines(keepends=True)
    better = json.loads(first)
    better["score"] += 4
    log.write_text("".join([head, json.dumps(better) + "\n", *rest]))
    assert main(check) == 2
    log.write_text(cut := "".join([head, *rest, "{"]))
    assert main(check) == 2
    assert "has 2 of 3 games" in capsys.readouterr().err
    assert log.read_text() == cut  # who verifies writes nothing
    log.write_text(text)
    for path in (log, folder / "submission.json"):
        path.write_text(path.read_text().replace("greedy", "stranger"))
    (folder / "records" / "1-greedy").rename(folder / "records" / "1-stranger")
    assert main(check) == 1  # over its budget still, and not to be had here
    with pytest.raises(TournamentError, match="holds stranger on tiny"):
        protocol.open_submission(folder, protocol.AgentSubmission("corner", "tiny", {}, "", ""))


def test_a_search_tells_how_many_boards_it_rated():
    """A search's reported number of boards does not depend on how it is played."""
    job = Job("expectimax:evaluation=heuristic,nodes=50", RULES, 1, (0,), recorded=True)
    (few,), (whole,) = run_job(job).played, run_job(replace(job, recorded=False)).played
    assert 0 < few.boards <= 60 * few.moves
    assert whole.boards == few.boards
    (more,) = run_job(replace(job, player="expectimax:evaluation=heuristic,nodes=500")).played
    assert more.boards / more.moves > few.boards / few.moves
