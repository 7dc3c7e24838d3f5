"""The data that the other packages hand to one another."""
