"""The command ``doctor``."""

from __future__ import annotations

import re
import shutil

from tests.command_line import CommandLine

from py2048.app.session import open_session
from py2048.core.installation import install_line
from py2048.players.ntuple import weights


def found(cli: CommandLine, status: int = 0) -> dict[str, tuple[str, str]]:
    """Return the state and details of each component."""
    parts = cli.json("doctor", "--json", status=status)
    return {each["part"]: (each["state"], each["about"]) for each in parts}


def test_missing_components_are_not_errors(cli, monkeypatch, data_folder):
    """A missing display or game is not an error, and checking creates nothing."""
    monkeypatch.delenv("DISPLAY", raising=False)
    parts = found(cli)
    assert parts["window"][0] == parts["terminal"][0] == "missing"
    assert parts["games"] == ("ok", f"none yet; the first creates {data_folder}")
    assert {parts[name][0] for name in ("versions", "language", "networks")} == {"ok"}
    assert not list(data_folder.glob("*"))


def test_it_counts_the_games_and_speaks_the_readers_language(cli, monkeypatch):
    """Games in progress are counted, in the user's language."""
    networks = weights.shipped_files()[:1]
    monkeypatch.setattr(weights, "shipped_files", lambda: networks)
    session = open_session()
    session.start()
    session.move(session.game.legal_directions()[0])
    session.close()
    monkeypatch.setenv("LANGUAGE", "pt")
    assert re.search("✓ jogos +1, íntegros e graváveis; .*, 0,. MB\n", cli("doctor"))
    monkeypatch.setenv("PY2048_DATABASE_URL", "sqlite://")
    assert re.search("✓ jogos +0, íntegros e graváveis; [^,]*\n", cli("doctor"))


def test_what_was_set_up_and_is_broken_is_status_1(cli, monkeypatch, tmp_path, data_folder):
    """A damaged store and damaged weights are reported with a fix."""
    session = open_session()
    session.start()
    session.close()
    store = data_folder / "py2048.sqlite3"
    store.write_bytes(store.read_bytes()[:4096] + b"\xff" * 60_000)
    broken = tmp_path / "classic.npz"
    shutil.copy(weights.shipped_files()[0], broken)
    with broken.open("r+b") as file:
        file.seek(2000)
        file.write(b"\0" * 500)
    monkeypatch.setattr(weights, "shipped_files", lambda: (broken,))
    parts = found(cli, status=1)
    assert parts["games"][0] == parts["networks"][0] == "broken"
    assert "is damaged" in parts["games"][1]
    assert "restore" in parts["games"][1]
    assert install_line(repair=True) in parts["networks"][1]
