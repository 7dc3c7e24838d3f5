"""A find as a script in the engine's own API, which needs nothing of Upright (`script`), and as an issue (`issue`).

A file an engine has the calls that its adapter makes for a scene; `faults` has what shows each fault, and when.
"""
