"""A term of a course, stored in a single folder: settings, roster, hand-ins and marks.

- ``settings``: the teacher's settings
- ``roster``: the students
- ``handins``: hand-ins with their owners and submission times
- ``marks`` and ``manual``: marks from the grader and marks given by hand
- ``pages`` and ``exports``: results for students and for learning platforms
- ``alike``: similar programs
- ``desk``: a website for the teacher
"""

from __future__ import annotations
