"""Columns of the rows that kernels of geometry fill, of a vector that of its first number.

A row of `found` is of two bodies p and q: normal from p to q, points from the centre of p, in world axes.
"""

# In space; UNCERTAINTY: width of the certified bracket of the gap. m, 1, m, m, m
GAP, NORMAL, ON_P, ON_Q, UNCERTAINTY, FIELDS = 0, 1, 4, 7, 10, 11
# In the plane. m, 1, m, m
PLANAR_NORMAL, PLANAR_ON_P, PLANAR_ON_Q, PLANAR_FIELDS = 1, 3, 5, 7
# Middle index of support points (N, 3, 3) [m]: of P - Q, of P, of Q
DIFFERENCE, OF_P, OF_Q = range(3)
# A row of the table of ellipsoids {centre + A u: |u| <= 1}: A = R diag(semi-axes) by rows, M = A A^T as xx, yy, zz, xy,
# xz, yz, the longest semi-axis. m, m, m^2, m
CENTRE, A, M, LONGEST, ELLIPSOID_COLUMNS = 0, 3, 12, 18, 19
