"""ContactSim, the method of myPhysicsLab, as an engine."""
