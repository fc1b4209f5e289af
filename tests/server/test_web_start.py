"""How ``py2048 serve`` starts: soon, and with the same settings whoever reads its words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048 import cli
from py2048 import server as web
from py2048.cli.serving import plain_options
from py2048.server.settings import Settings

PLAIN = {
    "--host": ("0.0.0.0", "::1", "localhost"),
    "--port": ("0", "80", "00080", "2048", "59999", "64999"),
    "--database": ("sqlite:///a b.sqlite3", "postgresql://user:p@host/name"),
    "--public-url": ("http://10.0.0.7:8080/", "https://2048.example-1.org"),
    "--trusted-proxies": ("10.0.0.0/8,::1", "127.0.0.1,::1", "127.0.0.1"),
    "--moves-rate": ("1", "30.0", "0.1", "999999999.123456"),
    "--address-rate": ("600", "12.5"),
    "--requests-rate": ("7",),
    "--sockets": ("1", "5000"),
    "--sockets-per-address": ("200",),
    "--reviews": ("1", "4"),
    "--durability": ("disk", "process"),
    "--log-level": ("debug", "info", "warning", "error"),
}
DOUBTFUL = ("", "-1", "0", "1e3", "1_000", " 5", "65535", "65536", "0.05", "nan", "DISK", "--help")

good = st.sampled_from([(name, text) for name, texts in PLAIN.items() for text in texts])
other = st.tuples(st.sampled_from(sorted(PLAIN)), st.sampled_from(DOUBTFUL))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start")


def served(words: list[str], home: Path, *, plainly: bool) -> tuple[Settings, str] | None:
    """Return what would be served, read with or without the parser; None if it is refused."""
    asked: list[tuple[Settings, str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PY2048_HOME", str(home))
        patch.setattr(web, "serve", lambda *given: asked.append(given))
        status = cli.main(["serve", *words]) if plainly else cli._run(["serve", *words])
    assert (status == 0) is bool(asked)
    return asked[0] if asked else None


@given(pairs=st.lists(st.one_of(good, good, other), max_size=4))
def test_plain_words_mean_what_the_parser_reads(pairs, home):
    """What is understood without the parser, the parser understands in the same way."""
    words = [word for pair in pairs for word in pair]
    options = plain_options(words)
    if options is not None:
        read = served(words, home, plainly=True)
        assert read is not None
        assert read == served(words, home, plainly=False)


@pytest.mark.parametrize("name", PLAIN)
def test_usual_values_are_plain(name):
    """The parser is not asked about the usual options."""
    assert plain_options([name, PLAIN[name][-1]])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--port", "70000"], "65535"),
        (["--sockets", "0"], "--sockets"),
        (["--prot", "80"], "--port"),
        (["--durability", "paper"], "paper"),
        (["--port"], "--port"),
        (["here"], "here"),
        (["--public-url", "x.org"], "'x.org' is no public URL of a server"),
        (["--public-url", "https://x.org/2048"], "without a path"),
        (["--trusted-proxies", "nginx"], "'nginx' is no address or network"),
        (["--trusted-proxies", "*"], "127.0.0.1"),
        (["--trusted-proxies", "10.0.0.1/8"], "10.0.0.0/8"),
    ],
)
def test_mistakes_are_explained_by_the_parser(words, says, capsys):
    """A mistake gets the parser's answer and the status 2."""
    assert cli.main(["serve", *words]) == 2
    assert says in capsys.readouterr().err


def test_help_is_the_parsers(capsys):
    """Help comes from the parser, beside other options too."""
    assert cli.main(["serve", "--port", "80", "--help"]) == 0
    assert "--moves-rate" in capsys.readouterr().out


def test_the_first_page_waits_for_no_parser(tmp_path):
    """Neither the parser nor what only sockets need is loaded before the first page."""
    code = (
        "import sys; from py2048 import cli;"
        "import py2048.server.run as server; server.run = lambda *_: None;"
        "cli.main(['serve', '--port', '0']);"
        "print({'typer', 'pydantic', 'websockets', 'sqlalchemy', 'argon2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PY2048_HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "set()"
