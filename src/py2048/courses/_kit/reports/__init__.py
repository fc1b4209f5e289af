"""Reports in the forms that people and machines read."""

from __future__ import annotations
