"""The part of the grader inside a submission's process: nothing here knows an expected answer.

These modules are loaded by path under the package name ``_grader`` and never import py2048,
which a submission cannot reach.
"""

from __future__ import annotations
