/* Curves below the panels: energies, the smallest gap, and any two quantities of a body against each other. */

const PLOT_POINTS = 400, PLOT_HEIGHT = 120;
const ENERGIES = {total: f => f.kinetic + f.potential, kinetic: f => f.kinetic, potential: f => f.potential};
const PLANAR = ["x (m)", "y (m)", "angle (rad)", "vx (m/s)", "vy (m/s)", "spin (rad/s)"];
const SPATIAL = ["x (m)", "y (m)", "z (m)", "vx (m/s)", "vy (m/s)", "vz (m/s)", "spin x (rad/s)", "spin y (rad/s)",
  "spin z (rad/s)"];

const quantities = () => ["time (s)", ...(state.scene.planar ? PLANAR : SPATIAL)];

/** One quantity of a body in a frame. */
function quantityOf(name, frame, k, body) {
  if (name === "time (s)") return k * state.scene.interval;
  if (state.scene.planar) {
    const i = PLANAR.indexOf(name);
    return i < 3 ? frame.poses[3 * body + i] : frame.twists[3 * body + i - 3];
  }
  const i = SPATIAL.indexOf(name);
  return i < 3 ? frame.poses[7 * body + i] : frame.twists[6 * body + i - 3];
}

const plots = [];
function makePlot(title, choices, curve) {
  const holder = document.createElement("div"), head = document.createElement("div");
  holder.className = "plot"; head.className = "head";
  const name = document.createElement("span");
  name.textContent = title;
  head.append(name);
  const selects = choices.map(([label, options, chosen]) => {
    const select = document.createElement("select");
    select.setAttribute("aria-label", `${title}: ${label}`);
    for (const option of options) select.add(new Option(option));
    select.value = chosen;
    select.onchange = () => drawPlots();
    head.append(select);
    return select;
  });
  const range = document.createElement("span"), canvas = document.createElement("canvas");
  range.className = "soft";
  head.append(range);
  canvas.setAttribute("role", "img");
  holder.append(head, canvas);
  byId("plots").append(holder);
  plots.push({title, canvas, range, selects, curve, holder});
}

function makePlots() {
  plots.length = 0;
  byId("plots").replaceChildren();
  makePlot("energy", [["which", Object.keys(ENERGIES), "total"]], (frame, k, [which]) =>
    [k * state.scene.interval, ENERGIES[which](frame)]);
  makePlot("smallest gap", [], (frame, k) => [k * state.scene.interval, frame.gap]);
  const all = quantities(), [x, y] = state.scene.planar ? ["angle (rad)", "spin (rad/s)"] : ["x (m)", "vx (m/s)"];
  makePlot("phase", [["across", all, x], ["up", all, y]], (frame, k, [across, up]) => {
    const body = Math.max(0, chosen);
    return [quantityOf(across, frame, k, body), quantityOf(up, frame, k, body)];
  });
  layOut();
}

/** What is less is round-off and fills no curve: J, or m. */
const LEAST_SHARE = 1e-9;
function leastOf(title) {
  const {scene} = state;
  if (title === "smallest gap") return LEAST_SHARE * scene.half;
  const heaviest = Math.max(...scene.masses.map(mass => mass || 0));
  return title === "energy" ? LEAST_SHARE * heaviest * scene.half * (Math.hypot(...scene.gravity) || 1) : 0;
}

const UNITS = {energy: "J", "smallest gap": "m"};
const unitOf = (title, words) => UNITS[title] || words[1].replace(/.*\((.*)\)/, "$1");

function drawPlots() {
  for (const plot of plots) drawPlot(plot);
}

function drawPlot(plot) {
  const {canvas, selects, curve, title} = plot, words = selects.map(select => select.value);
  const width = canvas.clientWidth || 260, g = canvas.getContext("2d"), until = Math.max(0, shownFrame());
  const curves = state.panels.map(panel => {
    const found = [], step = Math.max(1, Math.ceil(panel.frames.length / PLOT_POINTS));
    for (let k = 0; k < panel.frames.length; k += step) {
      const frame = panel.frames[k];
      if (!frame) continue;
      const [x, y] = curve(frame, k, words);
      if (x !== null && y !== null && Number.isFinite(x) && Number.isFinite(y)) found.push([x, y]);
    }
    return found;
  });
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const points of curves) for (const [x, y] of points) {
    if (x < x0) x0 = x; if (x > x1) x1 = x; if (y < y0) y0 = y; if (y > y1) y1 = y;
  }
  if (title !== "phase" || words[0] === "time (s)") { x0 = 0; x1 = state.scene.frames * state.scene.interval; }
  const least = leastOf(title), middle = (y0 + y1) / 2, known = Number.isFinite(y0);
  const shown = value => withUnit(Math.abs(value) < least ? 0 : value, unit), unit = unitOf(title, words);
  const text = known ? `${shown(y0)} to ${shown(y1)}` : "no pair is near";
  if (known && y1 - y0 < least) [y0, y1] = [middle - least / 2, middle + least / 2];
  const spanX = x1 - x0 || 1, spanY = y1 - y0 || 1;
  const px = x => 4 + (width - 8) * (x - x0) / spanX, py = y => PLOT_HEIGHT - 6 - (PLOT_HEIGHT - 14) * (y - y0) / spanY;
  g.clearRect(0, 0, width, PLOT_HEIGHT);
  curves.forEach((points, i) => {
    g.strokeStyle = palette[`t${i % COLOURS}`]; g.lineWidth = 1.3; g.beginPath();
    points.forEach(([x, y], k) => k ? g.lineTo(px(x), py(y)) : g.moveTo(px(x), py(y)));
    g.stroke();
    const frame = state.panels[i].frames[until];
    if (!frame) return;
    const [x, y] = curve(frame, until, words);
    if (x === null || y === null) return;
    g.fillStyle = palette[`t${i % COLOURS}`]; g.beginPath(); g.arc(px(x), py(y), 3, 0, 7); g.fill();
  });
  plot.range.textContent = text;
  canvas.setAttribute("aria-label", `${title}, ${words.join(" and ")}: ${text}`);
}
