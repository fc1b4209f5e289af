"""The web server: play in the browser, honest leaderboards, a JSON API. Needs the extra ``web``."""

from __future__ import annotations

from py2048.errors import MissingExtraError
from py2048.server.settings import ServerError, Settings, find_key, find_proxies

__all__ = ["ServerError", "Settings", "find_key", "find_proxies", "serve"]


def serve(settings: Settings, log_level: str = "info") -> None:
    """Serve until the process is asked to stop.

    Raises:
        ServerError: if the address cannot be listened on.
        MissingExtraError: if the extra ``web`` is not installed.
    """
    try:
        from py2048.server.run import run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("py2048"):
            raise
        raise MissingExtraError(
            f"the server needs {error.name}, which is not installed: pip install 'py2048[web]'"
        ) from None
    run(settings, log_level)
