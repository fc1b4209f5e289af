"""What all tests share: a data folder of their own, and a display for windows."""

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

# Most of a first run is compiling, which takes two thirds of the time with fewer optimisations.
# A slow test of conformance asks for all of them.
os.environ.setdefault("NUMBA_OPT", "1")

# The first call of a compiled kernel may take seconds, so no example has a deadline. Every run
# looks for new examples, also where Hypothesis would repeat the same ones (it does if CI is set).
settings.register_profile("py2048", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("py2048")

# What a shell starts in its background is deaf to Ctrl-C, and so is what our tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep each test's games and scores apart from the others' and from the user's own."""
    folder = tmp_path / "py2048-home"
    monkeypatch.setenv("PY2048_HOME", str(folder))
    monkeypatch.delenv("PY2048_DATABASE_URL", raising=False)
    return folder


@pytest.fixture(autouse=True)
def in_english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every screen speak English, whatever the tester speaks and another test has chosen."""
    monkeypatch.setenv("LANGUAGE", "en")
    set_language("en")
    yield
    set_language("en")


@pytest.fixture(autouse=True)
def patient_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a slow disk as long as it takes: on a busy machine no test means the difference."""
    monkeypatch.setattr("py2048.app.session.autosave.WRITE_WAIT_S", 60.0)
    monkeypatch.setattr("py2048.app.session.autosave.READ_TIMEOUT_S", 60.0)


@pytest.fixture(autouse=True)
def fresh_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw fresh seeds from `random`, which pytest-randomly seeds.

    So a run with the same `--randomly-seed` plays the same games, other processes' apart, and what
    fails can be seen again.
    """
    monkeypatch.setattr("py2048.core.rng.urandom", random.randbytes)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Free the windows of a test in the thread that opened them.

    Tk aborts the process if a thread of a later test happens to be the one that collects them.
    What was there before the test, a compiler among it, is left out: it takes most of a second.
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
    """A server that all tests share, each in a schema of its own."""
    from tests.app.storage.postgresql_server import PostgresqlServer, find_binaries

    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL programs (initdb, pg_ctl): install postgresql")
    server = PostgresqlServer(binaries)
    yield server
    server.remove()


@pytest.fixture
def postgresql_url(postgresql: PostgresqlServer) -> Iterator[str]:
    """The URL of an empty place on the server."""
    schema = f"test_{secrets.token_hex(6)}"
    postgresql.create_schema(schema)
    yield postgresql.url(schema=schema)
    postgresql.drop_schema(schema)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of an empty file."""
    return f"sqlite:///{tmp_path / 'store.sqlite3'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database, once of each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""


@pytest.fixture
def only_dejavu(tmp_path: Path) -> dict[str, str]:
    """Offer an environment whose one font is a wide one: DejaVu, as on a bare Debian."""
    import matplotlib  # it brings the fonts

    fonts, folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf", tmp_path / "fonts"
    folder.mkdir()
    for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        shutil.copy(fonts / name, folder)
    configuration = folder / "fonts.conf"
    configuration.write_text(_FONTS.format(folder=folder))
    return os.environ | {"FONTCONFIG_FILE": str(configuration)}


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """Offer an X display and name it in ``DISPLAY``: an Xvfb of our own on a free number.

    Tests press keys, so a person's own display is taken only where Xvfb is not installed.
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
