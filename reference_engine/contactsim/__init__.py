"""ContactSim as its author's engine does it, run for run: estimate, back up, bounce in a seeded order.

settings      its parameters, by the original's names in our words, with its defaults
layout        outlines, connectors and forces as arrays
edges         distances to edges, points on them, where a path crosses them
collision     one row for each contact or connector, and what is asked of it
paths         where on a curve a point is that is held on it
detection     who meets whom: corners, arcs, connectors; of several names for one contact one is kept
contact       the accelerations of gaps: A and b, independent subsets
pivoting      forces or impulses from A and b, joints first, redundant contacts put off
impulse       simultaneous, serial and hybrid impacts
integrator    Runge-Kutta, modified Euler, Euler
engine        a step in time, cut until energy agrees where it adapts

Source of all rules and numbers: the public myPhysicsLab engine (Erik Neumann, release of November 2024) and its
pages "Collisions With Contact" and "ContactSim Math"; Baraff 1994 for the forces; Neumann, "Curved Edge Physics".
"""
