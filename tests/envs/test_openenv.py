"""OpenEnv's client plays on our server, and OpenEnv's checks pass."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from py2048 import Direction, Game, Record, get_rules

pytest.importorskip("openenv.core", reason="pip install py2048[openenv]")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a server that runs in a thread."""
    import uvicorn

    from py2048.envs.openenv import app

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def test_their_client_plays_games_side_by_side(address: str) -> None:
    """Each connection plays its own seeded game and gets a verified record."""
    from openenv import GenericEnvClient

    with (
        GenericEnvClient(base_url=address).sync() as one,
        GenericEnvClient(base_url=address).sync() as other,
    ):
        started = one.reset(seed=7, rules="3x3", reward="largest")
        other.reset(seed=8, rules="3x3", observation="image")
        assert started.observation["message"].startswith("You play 2048")
        refused = one.step({"answer": "dunno"})
        assert (refused.observation["is_legal"], refused.reward, refused.done) == (False, 0, False)
        played = one.step({"answer": "My move: <move>left</move>"})
        picture = other.step({"answer": "left"}).observation["observation"]
        assert picture.startswith("data:image/png;base64,")
        game = Game(get_rules("3x3"), seed=7)
        game.attempt(Direction.LEFT)
        assert str(game.board) in played.observation["observation"]
        state = one.state()
        assert (state["seed"], state["step_count"]) == (None, 1)
        Record.from_json(state["record"]).verify()
        with pytest.raises(RuntimeError, match="no rules are called 'nope'"):
            one.reset(rules="nope")


def test_their_checks_of_a_running_server_pass(address: str) -> None:
    """OpenEnv's checks of a running server pass."""
    from openenv.cli.commands.validate import validate_running_environment

    report = validate_running_environment(address)
    assert report["passed"], report["criteria"]


def test_the_manifest_names_the_app() -> None:
    """The app named in ``openenv.yaml`` can be served."""
    yaml, loaded = pytest.importorskip("yaml"), pytest.importorskip("uvicorn.importer")
    manifest = yaml.safe_load((ROOT / "deploy/openenv/openenv.yaml").read_text("utf-8"))
    assert callable(loaded.import_from_string(manifest["app"]))


def test_the_page_s_script_works_as_written(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documentation's script runs against our server."""
    page = (ROOT / "docs/how-to/let-agents-play.md").read_text(encoding="utf-8")
    blocks = re.findall("```py\n(.*?)```", page, re.DOTALL)
    (script,) = [block for block in blocks if "openenv" in block]
    exec(script.replace("http://127.0.0.1:8000", address), {})
    score, _, record = capsys.readouterr().out.partition(" ")
    played = Record.from_json(record.removesuffix("\n"))
    played.verify()
    assert played.score == int(score)
