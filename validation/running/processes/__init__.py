"""Processes of their own: every simulation in one, watched and killed in time; measuring in others."""
