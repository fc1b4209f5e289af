"""The part of the grader inside a submission's process; it never sees expected results.

The modules are loaded by path as the package ``_grader``. They do not import py2048, which
submissions cannot access.
"""

from __future__ import annotations
