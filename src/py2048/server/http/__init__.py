"""Between the network and the pages: connections, limits, security, logs, metrics, static files."""
