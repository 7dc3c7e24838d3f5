"""MuJoCo."""
