"""The line that installs more of py2048 works for every way in which it was installed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from py2048.core import installation
from py2048.core.installation import install_line

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs have other names")


def test_the_line_is_for_this_interpreter_and_this_checkout(monkeypatch):
    """Another pip on PATH is not used, and the strong networks come from the checkout."""
    for path in ("/usr/bin", str(Path(sys.executable).parent)):
        monkeypatch.setenv("PATH", path)
        *tool, install, editable, fast, weights = shlex.split(install_line("strong"))
        output = subprocess.run([*tool, "--version"], capture_output=True, text=True, check=True)
        assert sys.prefix in output.stdout
        assert (install, editable) == ("install", "-e")
        assert (Path(weights) / "pyproject.toml").exists()
        assert fast == f"{Path(weights).parent}[fast]"


NETWORKS = "_weights-1", "_weights-2"


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Pretend that py2048 was installed from a path, into an environment with one file."""
    (tmp_path / "checkout" / "weights").mkdir(parents=True)
    for wheel in ("alone/py2048.whl", *(f"both/py2048{x}.whl" for x in ("", *NETWORKS))):
        (tmp_path / wheel).parent.mkdir(exist_ok=True)
        (tmp_path / wheel).touch()
    monkeypatch.setattr(sys, "executable", "/opt/python")
    monkeypatch.setenv("PATH", "")

    def install(origin: str, environment: str, *, pip: bool = True, editable: bool = False) -> None:
        about = {"url": (tmp_path / origin).as_uri()}
        about |= {"dir_info": {"editable": True}} if editable else {}
        text = json.dumps(about) if origin else None
        package = SimpleNamespace(read_text=lambda _: text)
        monkeypatch.setattr(installation, "distributions", lambda **_: [package])
        monkeypatch.setattr(installation, "find_spec", lambda _: pip or None)
        prefix = tmp_path / environment
        prefix.parent.mkdir(parents=True, exist_ok=True)
        prefix.touch()
        monkeypatch.setattr(sys, "prefix", str(prefix.parent))

    return install


@pytest.mark.parametrize(
    ("origin", "file", "extra", "line"),
    [
        ("", "venv/x", "web", "/opt/python -m pip install 'py2048[web]'"),
        ("", "venv/x", "strong", "/opt/python -m pip install 'py2048[strong]'"),
        ("alone/py2048.whl", "venv/x", "web", "/opt/python -m pip install 'ROOT/{}[web]'"),
        ("alone/py2048.whl", "venv/x", "strong", ""),
        (
            *("both/py2048.whl", "venv/x", "strong"),
            "/opt/python -m pip install 'ROOT/{}[fast]' ROOT/both/py2048_weights-2.whl",
        ),
        ("checkout", "pipx/pipx_metadata.json", "web", "pipx inject py2048 'ROOT/{}[web]'"),
        ("checkout", "uv/uv-receipt.toml", "web", "uv tool install --force 'ROOT/{}[web]'"),
        (
            *("checkout", "archive-v0/x/y", "strong"),
            "uvx --from 'ROOT/{}[fast]' --with ROOT/checkout/weights py2048",
        ),
    ],
)
def test_the_line_names_the_origin_and_the_tool(installed, tmp_path, origin, file, extra, line):
    """py2048 comes from an index, a checkout or a wheel; networks only from where they are."""
    installed(origin, file)
    assert install_line(extra) == line.format(origin).replace("ROOT", str(tmp_path))


def test_a_repair_replaces_files_and_an_environment_may_have_no_pip(installed, tmp_path):
    """Every tool has its own word for installing again."""
    installed("", "venv/x")
    assert install_line(repair=True) == "/opt/python -m pip install --force-reinstall py2048"
    installed("checkout", "venv/x", pip=False, editable=True)
    line = f"uv pip install --python /opt/python --reinstall -e {tmp_path}/checkout"
    assert install_line(repair=True) == line
