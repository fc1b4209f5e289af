#!/usr/bin/env bash
# Grades one submission and writes results/results.json. See docs/how-to/run-a-course.md.
cd "$(dirname "$0")" && exec py2048 course autograde source/term @ASSIGNMENT@ .
