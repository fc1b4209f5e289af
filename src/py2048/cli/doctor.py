"""The command ``doctor``, which checks the installation."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from py2048.app.storage import FILE_NAME, URL_VARIABLE, open_store
from py2048.core import errors
from py2048.core.folders import data_folder
from py2048.core.installation import install_line
from py2048.core.language import LANGUAGES, N_, _, language, number, use_language
from py2048.core.language import language_of_environment as wanted_language
from py2048.presentation import options, streams

COLOURS = {"truecolor": "24", "256": "8", "standard": "4"}
"""Colour depth in bits for each of Rich's colour systems."""

EXTRA = re.compile(r"([\w.-]+).*extra == ['\"](\w+)['\"]")
"""Matches an optional requirement in the package metadata; captures the library and the extra."""


class ComponentStatus(NamedTuple):
    """The result of checking a component.

    Attributes:
        part: Name of the component.
        state: ``ok``, ``missing`` or ``broken``.
        about: Details about the component or, if it is missing or broken, how to fix it.
    """

    part: str
    state: str
    about: str


def doctor(json: options.JsonOption = False) -> int:
    """Check the installation and print how to fix what is missing or broken.

    The exit status is 1 if any component is broken, and 0 if components are only missing.
    """
    with use_language(wanted_language()), streams.StatusLine(quiet=json):
        rows = [_checked(_(part), check) for part, check in CHECKS.items()]
        rows += [_checked(name, partial(_extra, name, each)) for name, each in _extras().items()]
    if json:
        options.print_json([each._asdict() for each in rows])
    else:
        width = max(len(each.part) for each in rows)
        signs = {"ok": "✓", "missing": "-", "broken": "✗"}
        print("\n".join(f"{signs[each.state]} {each.part:<{width}}  {each.about}" for each in rows))
    return int(any(each.state == "broken" for each in rows))


def _checked(part: str, check: Callable[[], str]) -> ComponentStatus:
    try:
        return ComponentStatus(part, "ok", check())
    except (errors.MissingExtraError, errors.CourseError) as error:
        return ComponentStatus(part, "missing", str(error))
    except errors.WeightsError as error:
        return ComponentStatus(part, "broken", f"{error}: {install_line(repair=True)}")
    except (errors.Py2048Error, OSError) as error:
        return ComponentStatus(part, "broken", str(error))


def _versions() -> str:
    return f"py2048 {importlib.metadata.version('py2048')}, Python {platform.python_version()}"


def _window() -> str:
    from py2048.app import desktop

    if reason := desktop.why_unavailable():
        raise errors.MissingExtraError(reason)
    return _("Tk and a display")


def _terminal() -> str:
    from rich.console import Console

    if not streams.are_terminal():
        raise errors.MissingExtraError(_("standard input and output are not a terminal"))
    columns, rows = os.get_terminal_size()
    if streams.is_dumb():
        return _("line mode only: set TERM and a UTF-8 locale")
    bits = COLOURS.get(Console().color_system or "", "1")
    more = "" if bits == "24" else _("; if it supports more, set COLORTERM=truecolor")
    return f"{columns} x {rows}, " + _("{bits}-bit colour").format(bits=bits) + more


def _games() -> str:
    folder = data_folder()
    if trouble := options.why_unwritable(folder, is_folder=True):
        raise errors.StorageError(f"{folder}: {trouble}; " + _("set PY2048_HOME to another folder"))
    file = folder / FILE_NAME
    if not os.environ.get(URL_VARIABLE) and not file.exists():
        return _("none yet; the first creates {folder}").format(folder=folder)
    with open_store() as store:
        store.check()
        store.settings.check_writable()
        begun = store.games.select(limit=10**9, with_turns=False)
        count = len(begun) + len(store.records.select(limit=10**9))
        text = _("{count}, intact, writable; {name}").format(count=number(count), name=store.name)
        is_own_file = not os.environ.get(URL_VARIABLE)
        return text + (f", {number(file.stat().st_size / 1e6, 1)} MB" if is_own_file else "")


def _networks() -> str:
    from py2048.players.ntuple import weights

    files = weights.shipped_files()
    for file in files:
        weights.checked_header_of(file)
    text = _("{n}, all intact").format(n=len(files))
    if len(weights.shipped_folders()) == 1 and (line := install_line("strong")):
        text += _("; stronger ones: {line}").format(line=line)
    return text


def _compiler() -> str:
    from py2048.engine.jit.disk_cache import cache_directory

    errors.need_compiler(_("fast play"))
    if (folder := cache_directory()) is None:
        raise errors.StorageError(_("no writable folder for compiled code: set NUMBA_CACHE_DIR"))
    is_used = folder.exists() and any(folder.iterdir())
    return str(folder) if is_used else _("nothing compiled yet: run py2048 warm-up")


def _grader() -> str:
    from py2048.courses.grading.sandbox import choose_protection

    return choose_protection().name


def _extras() -> dict[str, list[str]]:
    """Return the names of the libraries that each extra installs."""
    extras: dict[str, list[str]] = {}
    for each in importlib.metadata.requires("py2048") or ():
        if (parts := EXTRA.match(each)) and parts[1] != "py2048" and parts[2] != "all":
            extras.setdefault(parts[2], []).append(parts[1])
    return extras


def _extra(name: str, libraries: list[str]) -> str:
    try:
        return ", ".join(f"{each} {importlib.metadata.version(each)}" for each in libraries)
    except importlib.metadata.PackageNotFoundError:
        raise errors.MissingExtraError(install_line(name)) from None


CHECKS = {
    N_("versions"): _versions,
    N_("language"): lambda: LANGUAGES[language()],
    N_("window"): _window,
    N_("terminal"): _terminal,
    N_("games"): _games,
    N_("networks"): _networks,
    N_("compiler"): _compiler,
    N_("grader"): _grader,
}
"""Check functions by component."""
