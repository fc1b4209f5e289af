"""The checks of the CMPUT 175 tasks; ``cmput175.tasks`` puts them together."""

from __future__ import annotations
