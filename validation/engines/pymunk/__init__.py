"""pymunk (Chipmunk)."""
