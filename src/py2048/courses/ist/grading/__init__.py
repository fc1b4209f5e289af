"""The checks of the ist project, one module for each of the document's parts."""

from __future__ import annotations
