"""Planar rigid bodies in frictionless contact: ContactSim's algorithm."""
