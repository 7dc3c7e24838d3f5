"""Rapier."""
