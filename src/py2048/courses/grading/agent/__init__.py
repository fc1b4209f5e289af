"""The grader's agent, which runs inside a submission's process. It never receives expected results.

The modules are loaded by path as the package ``_grader``. These modules do not import py2048, which
is not accessible to submissions.
"""

from __future__ import annotations
