"""The game in the menu of a desktop: a desktop entry and its icon, as freedesktop.org has them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from py2048.errors import Py2048Error
from py2048.ui.shared.themes import DEFAULT_THEME

ICON_SIDE = 256

ENTRY = """\
[Desktop Entry]
Type=Application
Name=2048
GenericName=Puzzle Game
Comment=Slide and merge tiles
Exec={command}
TryExec={python}
Icon={icon}
Terminal=false
Categories=Game;LogicGame;
StartupWMClass=Py2048
"""


def files() -> tuple[Path, Path]:
    """Return where this user's desktop looks for the entry and for its icon.

    Raises:
        Py2048Error: on a system without such menus.
    """
    if sys.platform in ("win32", "darwin"):
        raise Py2048Error(
            "desktop entries are for Linux and BSD: here make a shortcut to "
            f"{sys.executable} -P -m py2048"
        )
    share = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share").absolute()
    icons = share / "icons" / "hicolor" / f"{ICON_SIDE}x{ICON_SIDE}" / "apps"
    return share / "applications" / "py2048.desktop", icons / "py2048.png"


def install() -> tuple[Path, Path]:
    """Write the entry of this installation, and its icon; return the files.

    Raises:
        Py2048Error: on a system without such menus.
        OSError: if a file cannot be written.
    """
    from py2048.ui.desktop.board_image import icon

    entry, picture = files()
    for file in (entry, picture):
        file.parent.mkdir(parents=True, exist_ok=True)
    icon(ICON_SIDE, DEFAULT_THEME).save(picture)
    # -P: what lies in the folder that the desktop starts programs in is none of our modules.
    command = f"{_argument(sys.executable)} -P -m py2048"
    text = ENTRY.format(
        command=_string(command), python=_string(sys.executable), icon=_string(str(picture))
    )
    entry.write_text(text, encoding="utf-8")
    return entry, picture


def remove() -> list[Path]:
    """Remove the entry and its icon; return the files that were there.

    Raises:
        Py2048Error: on a system without such menus.
        OSError: if a file cannot be removed.
    """
    found = [file for file in files() if file.exists()]
    for file in found:
        file.unlink()
    return found


def _argument(text: str) -> str:
    """Return a word of the key Exec, in quotes."""
    return '"' + re.sub(r'(["`$\\])', r"\\\1", text).replace("%", "%%") + '"'


def _string(text: str) -> str:
    """Return a value of type string."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")
