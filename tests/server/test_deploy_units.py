"""The shipped systemd units are valid and sandboxed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from py2048.server.commands import serve

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted([*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")])


def test_units_start_what_there_is() -> None:
    """The units call existing commands and agree on paths; the image can build the package."""
    copied = re.search(r"COPY (.+) /src/\n", (DEPLOY / "Dockerfile").read_text())
    assert {"pyproject.toml", "hatch_build.py", "README.md"} <= set(copied[1].split())
    commands = dict(
        re.search(r"ExecStart=/opt/py2048/bin/py2048 (\w+) (.+)", unit.read_text()).groups()  # type: ignore[union-attr]
        for unit in DEPLOY.glob("*.service")
    )
    assert set(commands) == {"serve", "backup"}
    options = commands["serve"].split()[::2]
    assert {name[2:].replace("-", "_") for name in options} <= set(signature(serve).parameters)
    folder, option, number = commands["backup"].split()
    state = (DEPLOY / "py2048-backup.service").read_text()
    assert f"StateDirectory=py2048 {folder.removeprefix('/var/lib/')}\n" in state
    assert option == "--keep"
    assert int(number) > 1


def test_what_the_page_says_of_the_units_and_of_nginx_is_so() -> None:
    """The page states the log level, the memory limit and who may read the metrics."""
    unit = (DEPLOY / "py2048.service").read_text()
    assert "--log-level warning" in unit
    assert "MemoryMax=4G\n" in unit
    page = (DEPLOY.parent / "docs" / "how-to" / "run-a-server.md").read_text()
    assert "sets the log level to `warning`, gives the server at most 4 GB of memory" in page
    nginx = page.split("```nginx")[1].split("```")[0]
    denied = re.search(r"location ~ (\S+) \{\s+deny all;", nginx)
    for path in ("/metrics", "/readyz", "/healthz"):
        assert re.search(denied[1], path)


@pytest.mark.slow
def test_systemd_takes_the_units_and_calls_them_safe(tmp_path: Path) -> None:
    """systemd-analyze accepts the units and rates their exposure at 2 or less."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze: install the package systemd")
    for unit in UNITS:
        text = unit.read_text().replace("/opt/py2048/bin/py2048", sys.executable)
        (tmp_path / unit.name).write_text(text)
    names = [unit.name for unit in UNITS]
    calls = [["verify", *names]] + [
        ["security", "--offline=true", "--threshold=20", name]
        for name in names
        if name.endswith("service")
    ]
    for words in calls:
        done = subprocess.run(
            ["systemd-analyze", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == ""


def test_a_restore_as_described_sees_what_the_backup_saw() -> None:
    """The documented restore uses the unit's account, folder and settings."""
    page = (DEPLOY.parent / "docs" / "how-to" / "run-a-server.md").read_text()
    command = page[page.index("systemd-run") : page.index("py2048 restore /var/lib")]
    given = set(re.findall(r" -p (\S+)", command))
    unit = set((DEPLOY / "py2048-backup.service").read_text().splitlines())
    assert {line for line in unit if line.startswith(("Environment", "User"))} <= given
    assert given - {"StateDirectory=py2048"} <= unit
