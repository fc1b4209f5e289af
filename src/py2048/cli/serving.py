"""Serving, and ``py2048 serve`` read without the parser, which takes a quarter of its start.

Words that leave no question are read here. Everything else (help, a mistake, a rarer way to
write a value) is left to the parser, which has an answer for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_TEXT = (str, r"[!-,.-~][ -~]*")
_PORT = (int, r"\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}")
_COUNT = (int, r"[1-9]\d{0,8}")
_RATE = (float, r"[1-9]\d{0,8}(\.\d{1,6})?")

_OPTIONS = {
    "--host": _TEXT,
    "--port": _PORT,
    "--database": _TEXT,
    "--public-url": (str, r"https?://[a-z\d]+([.-][a-z\d]+)*(:[1-9]\d{0,3})?/?"),
    "--trusted-proxies": (str, r"127\.0\.0\.1|::1|127\.0\.0\.1,::1"),
    "--moves-rate": _RATE,
    "--bot-moves-rate": _RATE,
    "--bots-rate": _RATE,
    "--address-rate": _RATE,
    "--requests-rate": _RATE,
    "--sockets": _COUNT,
    "--sockets-per-address": _COUNT,
    "--reviews": _COUNT,
    "--workers": _COUNT,
    "--durability": (str, "disk|process"),
    "--log-level": (str, "debug|info|warning|error"),
}
"""The options of ``serve``: the type of each, and what values look like that are surely good."""


def plain_options(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the options that the words after ``serve`` give; None if the parser must decide."""
    if len(words) % 2:
        return None
    options: dict[str, Any] = {}
    for name, text in zip(words[::2], words[1::2], strict=True):
        kind, pattern = _OPTIONS.get(name, (str, ""))
        if not pattern or not re.fullmatch(pattern, text, re.ASCII):
            return None
        options[name[2:].replace("-", "_")] = kind(text)
    return options


def run_server(*, log_level: str = "info", **options: Any) -> int:
    """Serve until somebody stops it; what no option says is as in `Settings`."""
    from py2048.server import serve
    from py2048.server.settings import Settings, find_key, find_proxies
    from py2048.storage import data_folder

    if options.get("trusted_proxies") is None:
        options["trusted_proxies"] = find_proxies()
    serve(Settings(key=find_key(data_folder()), **options), log_level)
    return 0
