"""The geometry by which every engine is measured: gaps, contact points, mass properties."""
