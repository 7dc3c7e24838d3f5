"""A package, and no mere folder: dartpy installs one of this name, which would hide it."""
