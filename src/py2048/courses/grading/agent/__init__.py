"""The grader's agent inside a submission's process. It never sees expected results.

The modules are loaded by path as the package ``_grader``. They do not import py2048, which
submissions cannot access.
"""

from __future__ import annotations
