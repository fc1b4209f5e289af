"""What stands between the network and the pages: connections, limits, logs, metrics, files."""
