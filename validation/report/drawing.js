/* Draws moving bodies, contacts and forces of one scene on a canvas, in the plane and in space. It loads nothing; its
   only state is the camera. A page inlines vectors.js and this file as they stand (`drawing.script()` in Python), and
   gives it what `drawing.scene_data(scene, centre, half)` makes.

   const palette = usePalette(document.documentElement)   colours, light or dark; also as CSS variables --text, --force
   const camera = new Camera(scene)                       several drawings may share one
   const drawing = new Drawing(canvas, scene, camera)
   drawing.resize(width, height)                          CSS pixels
   drawing.palette = palette                              after each change of it
   drawing.draw(layers, options)                          layers from the back to the front
     layer    poses     Float32Array or Float64Array: x, y, angle or x, y, z, quaternion w, x, y, z of each
                        body; m, rad; NaN: not drawn
              colour    0 to 5
              ghost     dashed, without fill, contacts and forces
              forces    [[body, ...point, ...force]], m and N, as `motion.forces_at` has them; each is an arrow
              reported  poses when these forces were reported, if not now: their points have moved with the bodies
              contacts  [[a, b, gap, ...point]], m, as `player.contacts_at` has them; boundaries count on after bodies
     options  exaggerate {factor, from: [poses, or null, for each layer]}: displacements from these poses, enlarged
              legend    true: an arrow with its force in N
              time      s, of pulls: springs whose end in the world moves; without it none is drawn
              marked    body, or bodies, whose outlines are thick
              caption   lines of words at the top
   drawing.toScreen(point), drawing.toWorld(x, y, through)    CSS pixels of the canvas; in space the point on the plane
                                                          across the view that has the point `through`
   drawing.bodyAt(x, y, poses)                            the topmost movable body there, or -1
   drawing.listen(changed, mayDrag)                       wheel, drag and pinch move the camera, then changed() is
                                                          called; mayDrag(x, y) === false leaves a drag to the page
   camera.zoomBy(factor), panBy(right, up), turnBy(right, up), reset(); camera.moved */

const PALETTES = {
  light: {text: "#222222", soft: "#5b6470", back: "#ffffff", line: "#d5dae0", ground: "#8a939d", fixed: "#e3e6ea",
    force: "#d62728", deep: "214, 39, 40", contact: "#b45309", now: "#d62728",
    t0: "#1f4e79", f0: "#cfe0f3", t1: "#8a5a00", f1: "#f7e3bd", t2: "#2e7d32", f2: "#d3ecd4", t3: "#7b1fa2",
    f3: "#ead5f2", t4: "#00707a", f4: "#cdebee", t5: "#a0303c", f5: "#f5d3d7"},
  dark: {text: "#e6e8eb", soft: "#9aa3ad", back: "#0e1117", line: "#3a414b", ground: "#6b7480", fixed: "#2a3038",
    force: "#ff6b6b", deep: "255, 90, 90", contact: "#f5a742", now: "#ff6b6b",
    t0: "#8ec1f0", f0: "#1d3a56", t1: "#e9b44c", f1: "#4b3a14", t2: "#7fcf85", f2: "#1f4222", t3: "#d09be6",
    f3: "#43254f", t4: "#6fd0d9", f4: "#123f44", t5: "#f08e99", f5: "#52232a"},
};
const COLOURS = 6, FONT = "12px system-ui, sans-serif", ARROW = 8, LEGEND = 70, DARK = "(prefers-color-scheme: dark)";
const ZOOM = [0.05, 1e4];

/** Of the reader's system, unless data-theme of the element is "light" or "dark". */
function usePalette(root) {
  const theme = root.dataset.theme || (window.matchMedia(DARK).matches ? "dark" : "light");
  for (const [name, value] of Object.entries(PALETTES[theme])) root.style.setProperty(`--${name}`, value);
  root.style.setProperty("--scheme", theme);
  // A frame lets the page below it shine through only where it names no colours of its own.
  root.style.colorScheme = window.self === window.top ? theme : "normal";
  return PALETTES[theme];
}

/** Pan in units of half the picture, so that drawings of several sizes share it; angles in rad. */
class Camera {
  constructor(scene) {
    this.scene = scene; this.reset();
  }
  reset() {
    [this.azimuth, this.elevation] = this.scene.camera;
    Object.assign(this, {zoom: 1, right: 0, up: 0});
  }
  get moved() { return this.zoom !== 1 || this.right !== 0 || this.up !== 0; }
  /** About a point of the picture, in units of half of it. */
  zoomBy(factor, right = 0, up = 0) {
    const zoom = Math.min(ZOOM[1], Math.max(ZOOM[0], this.zoom * factor)), ratio = zoom / this.zoom;
    this.zoom = zoom;
    this.right = right + ratio * (this.right - right);
    this.up = up + ratio * (this.up - up);
  }
  panBy(right, up) { this.right += right; this.up += up; }
  turnBy(right, up) {
    this.azimuth -= right;
    this.elevation = Math.max(-1.5, Math.min(1.5, this.elevation + up));
  }
  /** What of a world vector points right, up and to the eye. */
  get axes() {
    if (this.scene.planar) return [[1, 0], [0, 1], [0, 0]];
    const {azimuth, elevation} = this, {cos, sin} = Math;
    const ca = cos(azimuth), sa = sin(azimuth), ce = cos(elevation), se = sin(elevation);
    return [[ca, sa, 0], [-sa * se, ca * se, ce], [sa * ce, -ca * ce, se]];
  }
}

/** 1, 2 or 5 times a power of ten, not above `most`. */
function roundDown(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1);
}

/** Of [time, ...point] rows the point at a time, or null before the first and from the last on, as scenes have it. */
function pathEnd(path, time) {
  const k = path.findIndex(([t]) => t > time);
  if (k < 1) return null;
  const [[t, ...start], [until, ...end]] = [path[k - 1], path[k]], share = (time - t) / (until - t);
  return start.map((v, i) => v + share * (end[i] - v));
}

/** With a prefix where people write one: 20 mN, 5 kN, 0.4 rad/s. */
const PREFIXED = ["m", "s", "m/s", "J", "N"];
function withUnit(value, unit) {
  if (!PREFIXED.includes(unit)) return `${Number(value.toPrecision(3))} ${unit}`.trim();
  const prefixes = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const [factor, prefix] = prefixes.find(([size]) => Math.abs(value) >= 0.9995 * size) || [1, ""];
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}

class Drawing {
  constructor(canvas, scene, camera) {
    Object.assign(this, {canvas, scene, camera, palette: PALETTES.light, poseWidth: scene.planar ? 3 : 7});
    Object.assign(this, {dimension: scene.planar ? 2 : 3, bodies: scene.outlines.length, pointers: new Map()});
    this.context = canvas.getContext("2d");
    this.resize(300, 300);
  }

  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this, {width, height});
    Object.assign(this.canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
    Object.assign(this.canvas.style, {width: `${width}px`, height: `${height}px`});
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.view();
  }

  /** Takes over where the camera is. */
  view() {
    const {camera, scene, width, height} = this;
    this.half = Math.min(width, height / (scene.aspect)) / 2;
    this.scale = this.half * camera.zoom / scene.half;
    this.axes = camera.axes;
    this.x0 = width / 2 + this.half * camera.right;
    this.y0 = height / 2 - this.half * camera.up;
  }

  toScreen(point) {
    const [right, up] = this.axes, centre = this.scene.centre;
    let x = 0, y = 0;
    for (let i = 0; i < this.dimension; i++) {
      x += right[i] * (point[i] - centre[i]);
      y += up[i] * (point[i] - centre[i]);
    }
    return [this.x0 + this.scale * x, this.y0 - this.scale * y];
  }

  toWorld(x, y, through = this.scene.centre) {
    const [sx, sy] = this.toScreen(through), [right, up] = this.axes;
    return through.map((v, i) => v + ((x - sx) * right[i] - (y - sy) * up[i]) / this.scale);
  }

  /** A point of the body's frame in the world, or, `inverse`, the other way round. */
  moved(point, poses, body, inverse = false) {
    const at = body * this.poseWidth;
    if (this.scene.planar) {
      const c = Math.cos(poses[at + 2]), s = Math.sin(poses[at + 2]), [x, y] = [poses[at], poses[at + 1]];
      if (inverse) return [c * (point[0] - x) + s * (point[1] - y), c * (point[1] - y) - s * (point[0] - x)];
      return [x + c * point[0] - s * point[1], y + s * point[0] + c * point[1]];
    }
    const p = poses.subarray(at, at + 3), q = poses.subarray(at + 3, at + 7);
    if (inverse) return rotated(q, point.map((v, i) => v - p[i]), true);
    return rotated(q, point).map((v, i) => v + p[i]);
  }

  bodyAt(x, y, poses) {
    this.view();
    const {scene} = this;
    let found = -1, nearest = -Infinity;
    for (let body = 0; body < this.bodies; body++) {
      if (scene.fixed[body]) continue;
      const at = body * this.poseWidth, eye = this.axes[2];
      const lines = scene.outlines[body].map(line => line.map(point => this.toScreen(this.moved(point, poses, body))));
      const depth = scene.planar ? body : eye[0] * poses[at] + eye[1] * poses[at + 1] + eye[2] * poses[at + 2];
      const areas = scene.planar ? lines.filter(line => line.length > 2) : [convexHull(lines.flat())];
      const inside = areas.some(area => isInside(x, y, area));
      if (inside && depth >= nearest) [found, nearest] = [body, depth];
    }
    return found;
  }

  draw(layers, options = {}) {
    const g = this.context, {palette, scene} = this;
    this.view();
    g.clearRect(0, 0, this.width, this.height);
    g.lineWidth = 1.5; g.strokeStyle = palette.ground; g.beginPath();
    for (const line of scene.boundaries) this.trace(line);
    g.stroke();
    layers.forEach((layer, i) => {
      const from = options.exaggerate && options.exaggerate.from[i];
      const shown = from ? exaggerated(layer.poses, from, options.exaggerate.factor, scene.planar) : layer.poses;
      this.drawBodies(layer, shown, [].concat(options.marked ?? []));
      if (layer.ghost) return;
      this.drawLinks(shown, options.time);
      this.drawContacts(layer, shown);
    });
    if (options.legend) this.drawLegend();
    [].concat(options.caption || []).forEach((line, i) => this.words(line, 6, 16 + 16 * i, palette.text));
  }

  words(text, x, y, colour) {
    const g = this.context;
    Object.assign(g, {font: FONT, lineWidth: 3, lineJoin: "round", strokeStyle: this.palette.back, fillStyle: colour});
    g.strokeText(text, x, y); g.fillText(text, x, y);
  }

  trace(points) {
    points.forEach((point, i) => {
      const [x, y] = this.toScreen(point);
      i ? this.context.lineTo(x, y) : this.context.moveTo(x, y);
    });
  }

  /** As `trace` of the moved points, with what of a vector of the body points right and up. */
  traceBody(line, poses, body) {
    const g = this.context, at = body * this.poseWidth, s = this.scale;
    const [x, y] = this.toScreen(poses.subarray(at, at + this.dimension));
    let right, up;
    if (this.scene.planar) {
      const cosine = Math.cos(poses[at + 2]), sine = Math.sin(poses[at + 2]);
      right = [cosine, -sine, 0]; up = [sine, cosine, 0];
    } else {
      const q = poses.subarray(at + 3, at + 7);
      right = rotated(q, this.axes[0], true); up = rotated(q, this.axes[1], true);
    }
    for (let i = 0; i < line.length; i++) {
      const [u, v, w = 0] = line[i];
      const px = x + s * (right[0] * u + right[1] * v + right[2] * w), py = y - s * (up[0] * u + up[1] * v + up[2] * w);
      i ? g.lineTo(px, py) : g.moveTo(px, py);
    }
  }

  drawBodies(layer, poses, marked) {
    const g = this.context, {palette, scene, bodies} = this, ghost = Boolean(layer.ghost);
    const depth = new Float32Array(bodies);
    for (const [a, b, gap] of ghost ? [] : layer.contacts || []) for (const i of [a, b])
      if (i < bodies && !scene.fixed[i]) depth[i] = Math.max(depth[i], -gap);
    const edge = palette[`t${layer.colour % COLOURS}`], fill = palette[`f${layer.colour % COLOURS}`];
    g.setLineDash(ghost ? [5, 4] : []);
    for (let body = 0; body < bodies; body++) {
      if (!Number.isFinite(poses[body * this.poseWidth])) continue;
      const red = Math.min(1, depth[body] / scene.deep);
      for (const line of scene.outlines[body]) {
        g.beginPath();
        this.traceBody(line, poses, body);
        if (scene.planar && line.length > 2 && !ghost) {
          g.fillStyle = scene.fixed[body] ? palette.fixed : fill; g.fill();
          if (red > 0.02) { g.fillStyle = `rgba(${palette.deep}, ${0.15 + 0.55 * red})`; g.fill(); }
        }
        g.strokeStyle = scene.fixed[body] ? palette.ground : red > 0.3 && !scene.planar ? `rgb(${palette.deep})` : edge;
        g.lineWidth = marked.includes(body) ? 3 : ghost ? 1.5 : 1;
        g.stroke();
      }
    }
    g.setLineDash([]);
  }

  /** Joints and springs: a line, dashed for a spring, with dots at its ends, and faint ones to the centres of mass. */
  drawLinks(poses, time) {
    const g = this.context;
    for (const {a, b, from, to, elastic, path} of this.scene.links) {
      const start = this.moved(from, poses, a);
      if (path) {
        if (time !== undefined) this.drawPull(start, pathEnd(path, time), path.map(([, ...point]) => point));
        continue;
      }
      g.strokeStyle = g.fillStyle = this.palette.soft; g.lineWidth = 1.5;
      const centre = i => this.toScreen(poses.subarray(i * this.poseWidth, i * this.poseWidth + this.dimension));
      const [x, y] = this.toScreen(start), [tx, ty] = this.toScreen(b < 0 ? to : this.moved(to, poses, b));
      g.setLineDash(elastic ? [3, 3] : []);
      g.beginPath(); g.moveTo(x, y); g.lineTo(tx, ty); g.stroke();
      g.setLineDash([]); g.globalAlpha = 0.35;
      g.beginPath(); g.moveTo(...centre(a)); g.lineTo(x, y);
      if (b >= 0) { g.moveTo(tx, ty); g.lineTo(...centre(b)); }
      g.stroke(); g.globalAlpha = 1;
      g.beginPath(); g.arc(x, y, 2.5, 0, 7); g.moveTo(tx + 2.5, ty); g.arc(tx, ty, 2.5, 0, 7); g.fill();
    }
  }

  /** From a point of a body to a moving end, or to none while it does not act, with the path of that end. */
  drawPull(start, end, path) {
    const g = this.context;
    g.strokeStyle = g.fillStyle = this.palette.contact;
    g.lineWidth = 1; g.globalAlpha = 0.4;
    g.beginPath(); this.trace(path); g.stroke();
    g.globalAlpha = 1;
    if (!end) return;
    const [x, y] = this.toScreen(end);
    g.lineWidth = 2; g.setLineDash([6, 3]);
    g.beginPath(); this.trace([start, end]); g.stroke();
    g.setLineDash([]);
    g.beginPath(); g.arc(x, y, 4, 0, 7); g.fill();
  }

  /** Points go where their body goes. */
  drawContacts(layer, shown) {
    const {palette, scene, context: g} = this;
    const where = (body, point, from = layer.poses) =>
      shown === from ? point : this.moved(this.moved(point, from, body, true), shown, body);
    for (const [body, ...row] of layer.forces || []) {
      const point = where(body, row.slice(0, this.dimension), layer.reported), force = row.slice(this.dimension);
      this.arrow(this.toScreen(point), this.toScreen(point.map((v, i) => v + scene.forceScale * force[i])));
    }
    for (const [a, b, gap, ...point] of layer.contacts || []) {
      const [x, y] = this.toScreen(where(b < this.bodies && !scene.fixed[b] ? b : a, point));
      g.fillStyle = gap < -0.02 * scene.deep ? `rgb(${palette.deep})` : palette.contact;
      g.beginPath(); g.arc(x, y, 2.5, 0, 7); g.fill();
    }
  }

  arrow([x, y], [tx, ty]) {
    const g = this.context, length = Math.hypot(tx - x, ty - y);
    if (length < 1) return;
    const head = Math.min(ARROW, 0.5 * length), u = (tx - x) / length, v = (ty - y) / length;
    g.strokeStyle = g.fillStyle = this.palette.force; g.lineWidth = 2; g.lineCap = "butt";
    g.beginPath(); g.moveTo(x, y); g.lineTo(tx - head * u, ty - head * v); g.stroke();
    g.beginPath(); g.moveTo(tx, ty);
    g.lineTo(tx - head * u - 0.45 * head * v, ty - head * v + 0.45 * head * u);
    g.lineTo(tx - head * u + 0.45 * head * v, ty - head * v - 0.45 * head * u);
    g.fill();
  }

  drawLegend() {
    const each = this.scene.forceScale * this.scale, force = roundDown(LEGEND / each), y = this.height - 10;
    this.arrow([8, y], [8 + each * force, y]);
    this.words(withUnit(force, "N"), 14 + each * force, y + 4, this.palette.force);
  }

  /** In units of half the picture from its centre, right and up. */
  relative(event) {
    const box = this.canvas.getBoundingClientRect();
    const right = event.clientX - box.left - this.width / 2, down = event.clientY - box.top - this.height / 2;
    return [right / this.half, -down / this.half];
  }

  /** In a frame of another page the wheel scrolls that page, unless Ctrl is pressed or the picture was clicked. */
  listen(changed, mayDrag = () => true) {
    const {canvas, camera, pointers} = this, act = () => {
      canvas.style.touchAction = camera.moved ? "none" : "pan-y";
      changed();
    };
    canvas.style.touchAction = "pan-y"; canvas.style.cursor = "grab";
    canvas.addEventListener("wheel", event => {
      if (window.self !== window.top && !event.ctrlKey && !event.metaKey && !this.clicked) return;
      event.preventDefault();
      const lines = event.deltaMode ? 33 * event.deltaY : event.deltaY;
      camera.zoomBy(Math.exp(-0.0015 * Math.max(-300, Math.min(300, lines))), ...this.relative(event)); act();
    }, {passive: false});
    canvas.addEventListener("pointerleave", () => { this.clicked = false; });
    const two = event => { if (event.touches.length > 1) event.preventDefault(); };
    for (const name of ["touchstart", "touchmove"]) canvas.addEventListener(name, two, {passive: false});
    canvas.addEventListener("pointerdown", event => {
      this.clicked = event.pointerType === "mouse";
      if (mayDrag(event.offsetX, event.offsetY) === false) return;
      pointers.set(event.pointerId, this.relative(event));
      try { canvas.setPointerCapture(event.pointerId); } catch { /* gone already */ }
    });
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, event => pointers.delete(event.pointerId));
    canvas.addEventListener("pointermove", event => {
      if (!pointers.has(event.pointerId)) return;
      const before = [...pointers.values()];
      pointers.set(event.pointerId, this.relative(event));
      const after = [...pointers.values()];
      if (before.length === 1) {
        const [right, up] = [after[0][0] - before[0][0], after[0][1] - before[0][1]];
        if (this.scene.planar || event.shiftKey) camera.panBy(right, up);
        else camera.turnBy(1.5 * right, -1.5 * up);
      } else {
        const middle = ([p, q]) => [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
        const apart = ([p, q]) => Math.hypot(p[0] - q[0], p[1] - q[1]);
        const [m, n] = [middle(before), middle(after)];
        camera.panBy(n[0] - m[0], n[1] - m[1]);
        camera.zoomBy(apart(after) / Math.max(apart(before), 1e-3), ...n);
      }
      act();
    });
  }
}
