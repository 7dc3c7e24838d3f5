"""Rigid bodies held by joints, in the plane and in space: mechanisms, with two ways to keep the joints closed."""
