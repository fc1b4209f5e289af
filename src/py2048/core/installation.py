"""Find out how this copy of py2048 was installed, and which command line installs an extra."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

STRONG = "strong"
"""The extra that installs py2048-weights, a separate package with the strongest networks."""


def install_line(extra: str = "", *, repair: bool = False) -> str:
    """Return the command line that installs an extra into this copy of py2048.

    The command uses pip, uv, pipx or uvx, and installs py2048 from the same source as this copy: a
    checkout, a wheel or a package index.

    Args:
        extra: The extra, such as ``web``. By default, only py2048 itself is installed.
        repair: Whether to replace files that are already installed.

    Returns:
        The command line, or an empty string if the strong networks are requested but not available.
    """
    origin, is_editable = _origin()
    packages = [f"py2048[{extra}]" if extra else "py2048"]
    if origin:
        more = list(_strong_networks(origin)) if extra == STRONG else []
        if extra == STRONG and not more:
            return ""
        asked = "fast" if more else extra
        packages = [f"{origin}[{asked}]" if asked else str(origin), *map(str, more)]
    if is_editable:
        packages.insert(0, "-e")
    command = [*_tool(packages, repair=repair)]
    return subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)


def _origin() -> tuple[Path | None, bool]:
    """Return the checkout or wheel that was installed, if any, and whether it is editable."""
    package: Distribution
    for package in distributions(name="py2048"):
        about = json.loads(package.read_text("direct_url.json") or '{"url": ""}')
        path = Path(url2pathname(urlsplit(about["url"]).path))
        if path.is_absolute() and path.exists():
            return path, about.get("dir_info", {}).get("editable", False)
    return None, False


def _strong_networks(origin: Path) -> list[Path]:
    """Find the strong networks in a checkout, or in the folder of py2048's wheel."""
    pattern = "weights" if origin.is_dir() else "py2048_weights-*.whl"
    return sorted((origin if origin.is_dir() else origin.parent).glob(pattern))[-1:]


def _tool(packages: list[str], *, repair: bool) -> list[str]:
    """Return the command that installs packages for this interpreter, as a list of words."""
    python, prefix, pip = sys.executable, Path(sys.prefix), shutil.which("pip")
    main, *more = packages
    if (prefix / "pipx_metadata.json").exists():
        return ["pipx", "inject", "py2048", *["--force"] * repair, *packages]
    if (prefix / "uv-receipt.toml").exists() or prefix.parent.name.startswith("archive-v"):
        is_kept = (prefix / "uv-receipt.toml").exists()
        words = ["uv", "tool", "install", "--force"] if is_kept else ["uvx", "--from"]
        added = [word for each in more for word in ("--with", each)]
        return [*words, main, *added, *["--reinstall"] * repair, *["py2048"] * (not is_kept)]
    if find_spec("pip") is None:
        tool = ["uv", "pip", "install", "--python", python, *["--reinstall"] * repair]
    elif pip and Path(pip).parent == Path(python).parent:
        tool = ["pip", "install", *["--force-reinstall"] * repair]
    else:
        tool = [python, "-m", "pip", "install", *["--force-reinstall"] * repair]
    return [*tool, *packages]
