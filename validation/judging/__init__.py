"""Comparing results and judging them. Pure: knows no store and makes no text."""
