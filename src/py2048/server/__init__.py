"""The web server: play in the browser, honest leaderboards, a JSON API. Needs the extra ``web``."""

from __future__ import annotations

from py2048.core.errors import extra_for
from py2048.server.settings import ServerError, Settings, find_key, find_proxies

__all__ = ["ServerError", "Settings", "find_key", "find_proxies", "serve"]


def serve(settings: Settings, log_level: str = "info") -> None:
    """Serve until the process is asked to stop.

    Raises:
        ServerError: if the address cannot be listened on.
        MissingExtraError: if the extra ``web`` is not installed.
    """
    with extra_for("the server", "web"):
        from py2048.server.run import run
    run(settings, log_level)
