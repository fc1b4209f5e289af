"""A course's term, kept in a single folder: settings, roster, hand-ins and marks.

- ``settings``: what the teacher decides
- ``roster``: the students
- ``handins``: which student handed in what, and when
- ``marks`` and ``manual``: what it is worth, including marks given by hand
- ``pages`` and ``exports``: results for students and for learning platforms
- ``alike``: similar programs
- ``desk``: all of this in the browser
"""

from __future__ import annotations
