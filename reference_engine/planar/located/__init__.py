"""The located mode of time: every event is found on the solution itself, and nothing is left over as a gap.

settings       LocatedSettings
layout         bodies, contacts and room to work, as the kernels see them
constraint     geometry of contacts, A and b, the forces that hold contacts, projection
integrator     DOP853 with dense output
advancement    the first touch of a step, by conservative advancement
release        the first contact of a step that lets go or slides off its edge
touching       which features are in touch at an instant
impact         laws of impact
clock          the loop: integrate, locate, resolve
motion         LocatedMotion and its event log
locate         the way in
"""
