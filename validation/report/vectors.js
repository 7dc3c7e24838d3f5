/* Rotations of vectors and poses, hulls, what is inside: for drawing.js, which needs it before itself. */

/** q p for quaternions w, x, y, z. */
function quaternionProduct(q, p) {
  return [q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
          q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
          q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
          q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0]];
}

function rotated(q, p, inverse = false) {
  const w = inverse ? -q[0] : q[0], [, x, y, z] = q;
  const t = [2 * (y * p[2] - z * p[1]), 2 * (z * p[0] - x * p[2]), 2 * (x * p[1] - y * p[0])];
  return [p[0] + w * t[0] + y * t[2] - z * t[1], p[1] + w * t[1] + z * t[0] - x * t[2],
          p[2] + w * t[2] + x * t[1] - y * t[0]];
}

/** Poses with their displacements and rotations from `from` taken `factor` times. */
function exaggerated(poses, from, factor, planar) {
  const out = Float64Array.from(poses, (value, i) => from[i] + factor * (value - from[i]));
  if (planar) return out;
  for (let at = 3; at < poses.length; at += 7) {
    const q = [...poses.subarray(at, at + 4)], [w, x, y, z] = from.subarray(at, at + 4);
    let turn = quaternionProduct(q, [w, -x, -y, -z]);
    if (turn[0] < 0) turn = turn.map(v => -v);
    const sine = Math.hypot(turn[1], turn[2], turn[3]), half = factor * Math.atan2(sine, turn[0]);
    const share = sine > 0 ? Math.sin(half) / sine : 0;
    out.set(quaternionProduct([Math.cos(half), share * turn[1], share * turn[2], share * turn[3]], [w, x, y, z]), at);
  }
  return out;
}

/** Of [x, y] points, counter-clockwise (Andrew 1979). */
function convexHull(points) {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  const chain = all => {
    const found = [];
    for (const p of all) {
      for (let n = found.length; n > 1; n = found.length) {
        const [a, b] = [found[n - 2], found[n - 1]];
        if ((b[0] - a[0]) * (p[1] - a[1]) > (b[1] - a[1]) * (p[0] - a[0])) break;
        found.pop();
      }
      found.push(p);
    }
    return found.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function isInside(x, y, points) {
  let inside = false;
  points.forEach(([ax, ay], i) => {
    const [bx, by] = points[(i + 1) % points.length];
    if ((ay > y) !== (by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax)) inside = !inside;
  });
  return inside;
}
