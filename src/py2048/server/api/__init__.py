"""The JSON API, and computer players on the server."""
