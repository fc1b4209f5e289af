"""Build hook: in the package's metadata, links of README.md lead to the public repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def with_absolute_links(text: str, source: str) -> str:
    """Return Markdown in which relative links and pictures lead into the repository at `source`."""
    text = re.sub(r"(!\[[^]]*\]\()(?![a-z]+:|#)", rf"\1{source}/raw/HEAD/", text)
    text = re.sub(r'(<img src=")(?![a-z]+:)', rf"\1{source}/raw/HEAD/", text)
    return re.sub(r"(\]\()(?![a-z]+:|#)", rf"\1{source}/blob/HEAD/", text)


class ReadmeHook(MetadataHookInterface):
    """Sets the description. Links stay relative until ``[project.urls]`` has a ``Source``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the package's description."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        if source := metadata.get("urls", {}).get("Source"):
            text = with_absolute_links(text, source)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
