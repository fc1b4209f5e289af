"""Automatic grading of submissions, shared by all courses.

Authors of courses need the names below, as ``docs/how-to/write-a-graded-task.md`` explains.
"""

from __future__ import annotations

from py2048.courses.grading.patches import calling as calling
from py2048.courses.grading.patches import right_versions as right_versions
from py2048.courses.grading.sandbox import ProcessReport as ProcessReport
from py2048.courses.grading.session import SubmissionSession as SubmissionSession
from py2048.courses.grading.tasks import Array as Array
from py2048.courses.grading.tasks import Check as Check
from py2048.courses.grading.tasks import CheckFailed as CheckFailed
from py2048.courses.grading.tasks import Example as Example
from py2048.courses.grading.tasks import Grading as Grading
from py2048.courses.grading.tasks import Loosely as Loosely
from py2048.courses.grading.tasks import OneOf as OneOf
from py2048.courses.grading.tasks import Opaque as Opaque
from py2048.courses.grading.tasks import Raised as Raised
from py2048.courses.grading.tasks import Raises as Raises
from py2048.courses.grading.tasks import Satisfies as Satisfies
from py2048.courses.grading.tasks import SubmissionCrash as SubmissionCrash
from py2048.courses.grading.tasks import Task as Task
from py2048.courses.grading.tasks import TextLines as TextLines
from py2048.courses.grading.tasks import read_sheet as read_sheet
