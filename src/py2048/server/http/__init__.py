"""HTTP infrastructure: connections, limits, security, logs, metrics, static files."""
