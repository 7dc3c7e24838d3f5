"""Planar rigid bodies in contact: every event is located on the solution itself, exact to a stated bound."""
