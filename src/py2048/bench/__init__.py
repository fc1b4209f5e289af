"""Measurements of the engine and the environments, each beside a baseline in the same run.

``py2048 bench`` runs them from any installation. A *subject* is a group of tables on one topic;
`SUBJECTS` lists them.
"""

from __future__ import annotations

from py2048.bench.subjects import SUBJECTS, Subject, run

__all__ = ["SUBJECTS", "Subject", "run"]
