"""The website's HTML pages and forms."""
