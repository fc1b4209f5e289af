"""Static files, served under URLs that contain a hash of their contents."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from py2048.core.language import _
from py2048.server.bounds import MAX_COMPRESSED

STATIC = Path(__file__).parents[1] / "static"
LASTING = "max-age=31536000, immutable"
WORKER = "js/worker.js"  # The service worker, which controls the whole site.

_VERSION_DIGITS = 12
_UNNEEDED = {
    ".css": re.compile(rb"^[ \t]+|/\*(?:[^*]|\*(?!/))*\*/", re.MULTILINE),
    ".js": re.compile(rb"^[ \t]*(?:(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)$)?", re.MULTILINE),
}
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


class Assets:
    """The files served below ``/static``: the folder ``static/`` and generated files.

    Every path begins with a version: a hash of the contents of all files. Browsers can therefore
    cache files forever, and JavaScript modules can import each other by relative paths. A page
    never mixes files of two server versions.

    Args:
        made: Additional files. Maps each name to the contents, or to the path of a source from
            which the file is generated on its first request.
        make: Function that generates a file's contents from its source.
    """

    def __init__(self, made: Mapping[str, bytes | Path], make: Callable[[Path], bytes]) -> None:
        self._files: dict[str, bytes | Path] = {
            path.relative_to(STATIC).as_posix(): _content(path)
            for path in sorted(STATIC.rglob("*"))
            if path.suffix in _TYPES
        }
        self._files |= made
        self._make = make
        digest = hashlib.sha256()
        for name, file in self._files.items():
            content = file.read_bytes() if isinstance(file, Path) else file
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.version = digest.hexdigest()[:_VERSION_DIGITS]

    def address(self, name: str) -> str:
        """Return the URL path of a file.

        Raises:
            KeyError: If there is no such file.
        """
        self._files[name]
        return f"/static/{self.version}/{name}"

    def content(self, name: str) -> bytes:
        """Return the contents of a file. Generating a file may take a second.

        Raises:
            KeyError: If there is no such file.
        """
        found = self._files[name]
        if isinstance(found, Path):
            self._files[name] = found = self._make(found)
        return found

    async def file(self, request: Request) -> Response:
        """Serve a file. Responses for outdated versions are not cacheable."""
        path = request.path_params["path"]
        version, _slash, rest = path.partition("/")
        name = path if path in self._files else rest
        if name not in self._files:
            raise HTTPException(404, _("There is no such file."))
        headers = {
            "cache-control": LASTING if version == self.version else "no-cache",
            "content-type": _TYPES[Path(name).suffix],
            "vary": "accept-encoding",
        }
        if name == WORKER:
            headers["service-worker-allowed"] = "/"
        content = await asyncio.to_thread(self.content, name)
        if "gzip" in request.headers.get("accept-encoding", ""):
            content = await asyncio.to_thread(compressed, content)
            headers["content-encoding"] = "gzip"
        return Response(content, headers=headers)


def _content(path: Path) -> bytes:
    """Return a file's contents without comments and indentation; line numbers are preserved."""
    content, unneeded = path.read_bytes(), _UNNEEDED.get(path.suffix)
    return (
        unneeded.sub(lambda found: b"\n" * found[0].count(b"\n"), content) if unneeded else content
    )


@lru_cache(MAX_COMPRESSED)
def compressed(content: bytes) -> bytes:
    """Compress contents with gzip at the highest level."""
    return gzip.compress(content, 9, mtime=0)
