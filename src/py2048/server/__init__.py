"""The web server: browser play, verified leaderboards and a JSON API. Needs the extra ``web``."""

from __future__ import annotations

from py2048.core.errors import extra_for
from py2048.server.settings import ServerError, ServerSettings, find_key

__all__ = ["ServerError", "ServerSettings", "find_key", "serve"]


def serve(settings: ServerSettings, log_level: str = "info") -> None:
    """Run the server until the process receives SIGINT or SIGTERM.

    Raises:
        ServerError: If the address is not available.
        MissingExtraError: If the extra ``web`` is not installed.
    """
    with extra_for("the server", "web"):
        from py2048.server.run import run
    run(settings, log_level)
