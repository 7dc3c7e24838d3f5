"""Box2D."""
