"""The reference engine as an engine of the command."""
