"""The playground: a scenario to change, to run on several engines at once, and to pull at while it runs."""

ENGINES = ("reference", "contactsim")
"""Of a setup that names none."""
