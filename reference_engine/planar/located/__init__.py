"""The located mode of time: every event is found on the solution itself, and nothing is left over as a gap.

settings       Settings
parts          what shapes are made of: polygons, convex parts with arcs, hollows
layout         bodies, places of contact and room to work, as the kernels see them
solids         the bodies and connectors of a world in that form
rows           geometry of places, and the forces that hold them
projection     back onto the constraints: least changes that close gaps and stop rates
integrator     DOP853 with dense output
features       corners, edges and arcs of parts, and how far contacts are from their ends
rounded        which features of parts with arcs are in touch at an instant
touching       the same of all parts
approach       for how long parts with arcs are certain to stay apart
advancement    the first touch of a step, by conservative advancement
release        the first place of a step that lets go, grips, slips or slides off its edge
impact         laws of impact
jam            impulses where several places slide and no finite forces exist
resolve        what happens at an instant: what touches, what approaches, and the impulses
settle         which places hold from an instant on, and how; ends of accumulations
log            what is written down
room           room for a run, kept for the next
clock          the loop: integrate, locate, resolve; compiled as a whole
run            Python around it: room, and failures in words
motion         LocatedMotion and its event log
simulate       the way in
"""
