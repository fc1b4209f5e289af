"""Games that are played on the server: sockets, rooms, battles, and what other processes do."""
