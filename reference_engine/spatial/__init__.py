"""Rigid bodies in space, every event located: free flights with impacts."""
