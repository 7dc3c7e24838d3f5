"""Groups of verdicts, what was decided about them, and the history of commits. Pure."""
