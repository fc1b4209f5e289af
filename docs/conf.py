"""Settings of the documentation (Sphinx)."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs" / "_extensions"), str(ROOT / "scripts")]

project = "py2048"
author = "The py2048 authors"
project_copyright = f"2026, {author}"
version = release = installed_version("py2048")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "api_pages",
    "command_pages",
    "look",
]
exclude_patterns = ["_build", "reference/generated/keys.md"]  # a page includes the keys
default_role = "code"  # docstrings name parameters in single backticks

myst_enable_extensions = ["colon_fence", "deflist", "linkify"]
myst_heading_anchors = 3

autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
# Present where the extra is installed; their pages are built everywhere.
autodoc_mock_imports = [
    "gymnasium",
    "mcp",
    "openenv",
    "ray",
    "stable_baselines3",
    "tkinter",
    "verifiers",
]
napoleon_use_ivar = True

html_theme = "py2048"  # in _theme
templates_path = ["../src/py2048/server/templates"]  # the icons of the game's pages
html_title = f"py2048 {version}"
html_favicon = "../src/py2048/server/static/icons/icon.svg"
