"""pybullet (Bullet)."""
