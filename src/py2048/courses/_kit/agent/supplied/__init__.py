"""Modules that submissions find beside the standard library."""
