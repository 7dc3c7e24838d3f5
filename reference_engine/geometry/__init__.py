"""The geometry by which every engine is measured: gaps, contact points, mass properties.

mass_properties     area or volume, centroid, second moments
polygon             faults, orientation, convex pieces of vertex lists
planar_shapes       Polygon, Disc, HalfPlane, Bowl, packed for the kernels
planar_proximity    planar_proximities
spatial_shapes      Sphere, Capsule, Box, Cylinder, Cone, Ellipsoid, ConvexMesh, HalfSpace, SphereInterior
spatial_proximity   spatial_proximities
ellipsoid_proximity ellipsoid_proximities, half_space_proximities, sphere_interior_proximities: certified, for engines
mpr                 mpr_pair: of two convex bodies by Minkowski portal refinement, for engines
cells               overlapping_boxes
proximities         what they return
"""
