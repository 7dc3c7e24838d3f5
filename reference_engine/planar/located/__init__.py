"""The located mode of time: every event is found on the solution itself, and nothing is left over as a gap.

settings       Settings
layout         bodies, places of contact and room to work, as the kernels see them
rows           geometry of places, the forces that hold them, projection
integrator     DOP853 with dense output
touching       which features are in touch at an instant
advancement    the first touch of a step, by conservative advancement
release        the first place of a step that lets go, grips, slips or slides off its edge
impact         laws of impact
resolve        what happens at an event, and what holds from then on
log            what is written down
clock          the loop: integrate, locate, resolve; compiled as a whole
run            Python around it: room, and failures in words
motion         LocatedMotion and its event log
simulate       the way in
"""
