"""The JSON API and its computer players."""
