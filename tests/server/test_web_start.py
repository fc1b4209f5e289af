"""The start of ``py2048 serve``: fast, or with a clear error."""

from __future__ import annotations

import subprocess
import sys

import pytest

from py2048 import cli


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--port 70000", "65535"), ("--sockets 0", "--sockets"), ("--prot 80", "--port"),
        ("--durability paper", "paper"), ("--port", "--port"), ("here", "here"),
        ("--public-url x.org", "'x.org' is not the public URL of a server"),
        ("--public-url https://x.org/2048", "without a path"),
        ("--trusted-proxies nginx", "'nginx' is not an address or network"),
        ("--trusted-proxies *", "127.0.0.1"), ("--trusted-proxies 10.0.0.1/8", "10.0.0.0/8"),
    ],
)  # fmt: skip
def test_mistakes_are_told(words, says, capsys):
    """Invalid options are reported in one line with status 2."""
    assert cli.main(["serve", *words.split()]) == 2
    assert says in capsys.readouterr().err


def test_the_first_page_waits_for_no_database_or_socket(tmp_path):
    """The first page is served before the database and WebSocket libraries are imported."""
    code = (
        "import sys; from py2048 import cli;"
        "import py2048.server.run as server; server.run = lambda *_: None;"
        "cli.main(['serve', '--port', '0']);"
        "print({'websockets', 'sqlalchemy', 'argon2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PY2048_HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "set()"
