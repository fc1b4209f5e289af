"""External agents on published games, and verification of submissions."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count
from pathlib import Path

import pytest

from py2048 import Game, Record, get_rules
from py2048.cli import main
from py2048.core import fairness
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


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Add a track on 2x3 and let policies be found; return the folder of a run. Fix the secrets."""
    secrets = count(1)
    monkeypatch.setattr(fairness, "new_secret", lambda: f"{next(secrets):064x}")
    monkeypatch.setitem(protocol.TRACKS, "tiny", ("classic:size=2x3", 60))  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "run"


def play(agent: str, *words: str, status: int = 0) -> None:
    """Play the track."""
    command = ["benchmark-agent", agent, "--track", "tiny", "--output", "run", "-q", "-j1"]
    assert main([*command, *words]) == status


def check(capsys: pytest.CaptureFixture[str], *words: str, status: int) -> str:
    """Verify the submission; return what is printed."""
    capsys.readouterr()
    assert main(["benchmark-agent", "run", "--verify", "-q", "-j1", *words]) == status
    return "".join(capsys.readouterr())


def change(folder: Path, *pairs: tuple[str, str]) -> None:
    """Replace text in a submission's file and log."""
    for path in (folder / "submission.json", folder / "games.jsonl"):
        text = path.read_text()
        for old, new in pairs:
            text = text.replace(old, new)
        path.write_text(text)


def test_a_submission_is_what_its_records_say(tiny, capsys):
    """A submission whose files contradict each other, or lack a game, is rejected."""
    play("greedy", "--ms", "1000")
    assert not (tiny / "secret").exists()
    play("greedy", "--tokens", "5", status=1)
    assert "over the budget: 0 tokens" in capsys.readouterr().out
    values = json.loads(check(capsys, "--json", status=1))
    assert values["submission"]["agent"] == "greedy"
    assert values["judged"][0]["per_game"]["mean"] > 0
    assert main(["benchmark-agent", "greedy", "--track", "tiny:61", "--output", "more"]) == 2

    log = tiny / "games.jsonl"
    text = log.read_text()
    head, first, *rest = text.splitlines(keepends=True)
    better = json.loads(first)
    better["score"] += 4
    log.write_text("".join([head, json.dumps(better) + "\n", *rest]))
    assert "contradicts the log" in check(capsys, status=2)
    log.write_text(cut := "".join([head, *rest, "{"]))
    assert "has 59 of 60 games" in check(capsys, status=2)
    assert log.read_text() == cut  # who verifies writes nothing
    with pytest.raises(TournamentError, match="holds greedy on tiny"):
        protocol.begin(tiny, protocol.AgentSubmission("corner", "tiny", {}, "", ""))


def test_a_run_goes_on_with_the_tiles_it_has_committed_to(tiny, capsys):
    """The secret is hidden until the end, and stays the same when a run continues."""
    wanted = protocol.AgentSubmission("random", "tiny", {}, "", "")
    begun, secret = protocol.begin(tiny, wanted)
    assert protocol.begin(tiny, wanted) == (begun, secret)
    assert secret not in (tiny / "submission.json").read_text()
    assert "does not match the commitment" in check(capsys, status=2)
    play("random")
    said = check(capsys, "--commitment", begun.commitment, status=0)
    assert "every move replayed" in said
    assert "self-reported" not in said
    assert "self-reported" in check(capsys, status=0)
    assert "another run" in check(capsys, "--commitment", 64 * "0", status=1)


# --- agents that cheat ---------------------------------------------------------------------------

LOOKAHEAD = """
import sys
from py2048 import Board, Game
from py2048.core import rng
from py2048.players.solving import solve

solution = solve("classic:size=2x3")

def stolen(position):
    frame = sys._getframe()
    while "number" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["game"].copy()

def predicted(position):
    return Game(position.rules, seed=rng.derive_seed(2048, 0), board=position.board)

def act(exponents, mask, look=%s):
    rows = (2 ** exponents.astype(int) * (exponents > 0)).tolist()
    position = Game("classic:size=2x3", board=Board(rows))
    ratings = {}
    for direction in position.legal_directions():
        game = look(position)
        score = game.score
        game.play(direction)
        ratings[direction] = game.score - score + solution.value_of(game.board)
    return max(ratings, key=ratings.get).value
"""


@pytest.fixture
def thief(tiny: Path) -> str:
    """Return an agent that reads the coming tile from the memory of its own process."""
    Path("thief.py").write_text(LOOKAHEAD % "stolen")
    return "policy:thief:act"


def test_an_agent_that_predicts_by_the_generator_gains_nothing(tiny, capsys):
    """Published seeds no longer tell the tiles, and its luck is chance."""
    Path("seer.py").write_text(LOOKAHEAD % "predicted")
    play("policy:seer:act")
    said = check(capsys, status=0)
    assert "moves and costs as reported" in said
    assert "could stay hidden" in said


def test_an_agent_that_sees_the_tiles_is_caught_by_its_luck(thief, capsys):
    """Its luck is beyond chance, and the refusal gives both numbers."""
    play(thief, status=1)
    assert re.search(r"refused: a luck of \d+ a game, .* at most \d+", check(capsys, status=1))


def test_a_cheat_under_the_name_of_our_player_is_caught_by_its_moves(thief, tiny, capsys):
    """Our players play the games again, whatever the costs in the log say."""
    play(thief, status=1)
    change(tiny, (thief, "greedy"))
    games = tiny / "records"
    (games / f"1-{thief.replace(':', '_')}").rename(games / "1-greedy")
    for path in games.glob("*/*"):
        replace(Record.load(path), player="greedy").save(path)
    assert "greedy makes other moves here" in check(capsys, status=1)


def test_forged_costs_of_our_players_are_measured_again(tiny, capsys):
    """A budget counts what the player costs when it plays again."""
    play("greedy", "--ms", "1e-6", status=1)
    log = tiny / "games.jsonl"
    log.write_text(re.sub(r'"seconds": [^,]+', '"seconds": 1e-12', log.read_text()))
    assert "over the budget" in check(capsys, status=1)


def test_tiles_chosen_after_the_commitment_are_caught(tiny, capsys):
    """Neither another game's tiles nor another secret fits the commitment."""
    play("greedy")
    first, second, *_ = sorted((tiny / "records").glob("*/*"))
    first.write_bytes(second.read_bytes())
    assert "differs from the secret's draw" in check(capsys, status=2)
    secret = protocol.read_submission(tiny).secret
    change(tiny, (secret, secret[::-1]))
    assert "does not match the commitment" in check(capsys, status=2)


def test_a_search_tells_how_many_boards_it_rated():
    """A search's reported number of boards does not depend on how it is played."""
    job = Job("expectimax:evaluation=heuristic,nodes=50", RULES, 1, (0,), recorded=True)
    (few,), (whole,) = run_job(job).played, run_job(replace(job, recorded=False)).played
    assert 0 < few.boards <= 60 * few.moves
    assert whole.boards == few.boards
    (more,) = run_job(replace(job, player="expectimax:evaluation=heuristic,nodes=500")).played
    assert more.boards / more.moves > few.boards / few.moves
