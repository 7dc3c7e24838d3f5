"""DART, the dynamic animation and robotics toolkit."""
