"""PhysX 5, by way of SAPIEN."""
