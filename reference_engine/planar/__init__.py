"""Planar rigid bodies in contact: `located`, exact to a stated bound; `faithful`, ContactSim run for run."""
