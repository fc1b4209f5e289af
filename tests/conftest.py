"""Fixtures shared by all tests: an isolated data folder, and a display for windows."""

from __future__ import annotations

import gc
import os
import random
import secrets
import shutil
import signal
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from py2048.core.language import set_language

if TYPE_CHECKING:
    from tests.app.storage.postgresql_server import PostgresqlServer
    from tests.command_line import CommandLine

# Compiling dominates a first run and is three times as fast with fewer optimisations. A slow
# conformance test uses full optimisation.
os.environ.setdefault("NUMBA_OPT", "1")

# A kernel may compile for seconds on its first call, so Hypothesis examples have no deadline. Every
# run tries new examples, even in CI, where Hypothesis would repeat the same ones.
settings.register_profile("py2048", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("py2048")

# Background jobs of a shell ignore Ctrl-C, and so would programs started by the tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Isolate each test's games and scores from other tests and from the user."""
    folder = tmp_path / "py2048-home"
    monkeypatch.setenv("PY2048_HOME", str(folder))
    monkeypatch.delenv("PY2048_DATABASE_URL", raising=False)
    return folder


@pytest.fixture(autouse=True)
def in_english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run every test in English, whatever the user's language or that of the previous test."""
    monkeypatch.setenv("LANGUAGE", "en")
    set_language("en")
    yield
    set_language("en")


@pytest.fixture(autouse=True)
def patient_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never give up on slow saves, because a busy machine must not change results."""
    monkeypatch.setattr("py2048.app.session.autosave.WRITE_WAIT_S", 60.0)
    monkeypatch.setattr("py2048.app.session.autosave.READ_TIMEOUT_S", 60.0)


@pytest.fixture(autouse=True)
def fresh_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw fresh seeds from `random`, which pytest-randomly seeds.

    Runs with the same `--randomly-seed` play the same games, except in other processes, so failures
    can be reproduced.
    """
    monkeypatch.setattr("py2048.core.rng.urandom", random.randbytes)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Runs ``py2048`` in this process and returns what it prints."""
    from tests.command_line import CommandLine

    return CommandLine(capsys)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Free Tk windows in the thread that created them.

    Tk aborts the process if another thread collects them later. Older objects are frozen first,
    because collecting them takes most of a second.
    """
    is_gui = item.get_closest_marker("gui")
    if is_gui:
        gc.freeze()
    result = yield
    if is_gui:
        gc.collect()
    return result


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A PostgreSQL server shared by all tests, with a schema for each."""
    from tests.app.storage.postgresql_server import PostgresqlServer, find_binaries

    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL programs (initdb, pg_ctl): install postgresql")
    server = PostgresqlServer(binaries)
    yield server
    server.remove()


@pytest.fixture
def postgresql_url(postgresql: PostgresqlServer) -> Iterator[str]:
    """The URL of an empty schema on the server."""
    schema = f"test_{secrets.token_hex(6)}"
    postgresql.create_schema(schema)
    yield postgresql.url(schema=schema)
    postgresql.drop_schema(schema)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of an empty SQLite database."""
    return f"sqlite:///{tmp_path / 'store.sqlite3'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, for each database system."""
    return str(request.getfixturevalue(f"{request.param}_url"))


_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""


@pytest.fixture
def only_dejavu(tmp_path: Path) -> dict[str, str]:
    """Provide an environment in which DejaVu is the only font, as on minimal Debian."""
    import matplotlib  # includes the fonts

    fonts, folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf", tmp_path / "fonts"
    folder.mkdir()
    for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        shutil.copy(fonts / name, folder)
    configuration = folder / "fonts.conf"
    configuration.write_text(_FONTS.format(folder=folder))
    return os.environ | {"FONTCONFIG_FILE": str(configuration)}


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """Set ``DISPLAY`` to an X display, an Xvfb server on a free number.

    Tests press keys, so the user's display is used only if Xvfb is not installed.
    """
    before = os.environ.get("DISPLAY")
    if not shutil.which("Xvfb"):
        if not before:
            pytest.skip("no display and no Xvfb: install xvfb")
        yield before
        return
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24"]
    server = subprocess.Popen(
        [*command, "-nolisten", "tcp", "-noreset"],
        pass_fds=[writing],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as answer:
        number = answer.readline().strip()
    if not number:
        pytest.fail(f"Xvfb ended with {server.wait()} and opened no display")
    os.environ["DISPLAY"] = f":{number}"
    try:
        yield os.environ["DISPLAY"]
    finally:
        server.terminate()
        server.wait()
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before
