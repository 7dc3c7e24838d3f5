/* The page that plays motions: panels side by side or over each other, curves below them, the bar. Needs drawing.js. */

const data = JSON.parse(document.getElementById("data").textContent), scene = data.scene;
const floats = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
const times = floats(data.times), frames = times.length, end = times[frames - 1] || 1;
const bodies = scene.outlines.length, width = bodies * (scene.planar ? 3 : 7), PLOT = 84;
const camera = new Camera(scene);
let palette = usePalette(document.documentElement);
const tracks = data.tracks.map((track, i) => ({
  ...track, index: i, poses: floats(track.poses), impacts: floats(track.impacts),
  plots: Object.entries(track.series).map(([name, s]) => ({name, t: floats(s.t), y: floats(s.y)})),
}));
const limits = {};
for (const track of tracks) for (const q of track.plots) {
  const seen = limits[q.name] || [Infinity, -Infinity];
  for (const y of q.y) { if (y < seen[0]) seen[0] = y; if (y > seen[1]) seen[1] = y; }
  limits[q.name] = seen;
}
let panels = [], size = 300, over = data.ghost;
const made = (tag, text = "", into = null) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (into) into.append(element);
  return element;
};

function prepare(canvas, w, h) {
  const ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, {width: w * ratio, height: h * ratio});
  Object.assign(canvas.style, {width: `${w}px`, height: `${h}px`});
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return g;
}

function build() {
  const holder = document.getElementById("panels");
  holder.replaceChildren();
  const groups = over ? [tracks] : tracks.map(track => [track]), pad = data.bare ? 0 : 28;
  const room = document.documentElement.clientWidth - (data.bare ? 0 : 40), most = data.bare ? 560 : over ? 460 : 420;
  size = Math.max(200, Math.min(most, Math.floor(room / Math.min(groups.length, 4)) - pad));
  panels = groups.map(group => {
    const figure = made("figure", "", holder), caption = made("figcaption", "", figure);
    figure.style.width = `${size}px`;
    for (const track of group) {
      const name = made("span", "", caption), mark = made("i", "", name);
      mark.style.borderColor = palette[`t${track.index % COLOURS}`];
      mark.style.background = palette[`f${track.index % COLOURS}`];
      made("bdi", track.label, name);
      if (track.note) made("small", track.note, caption);
    }
    const drawing = new Drawing(made("canvas", "", figure), scene, camera);
    drawing.palette = palette;
    drawing.resize(size, data.bare ? Math.round(0.75 * size) : size);
    drawing.listen(show);
    const names = data.bare ? [] : [...new Set(group.flatMap(track => track.plots.map(q => q.name)))];
    const plots = names.map(name => {
      const plot = made("canvas", "", figure);
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", name);
      const lines = group.flatMap(({plots, index}) => plots.filter(q => q.name === name).map(q => ({...q, index})));
      return {name, g: prepare(plot, size, PLOT), lines};
    });
    return {group, drawing, plots};
  });
}

function drawPanel({group, drawing, plots}, k) {
  // The first track is what it is about: on top, and filled.
  const layers = group.map((track, i) => ({
    poses: track.poses.subarray(k * width, (k + 1) * width), forces: track.forces[k], contacts: track.contacts[k],
    colour: track.index, ghost: i > 0,
  }));
  drawing.draw(layers.reverse(), {legend: group[0].forces.some(rows => rows.length)});
  for (const plot of plots) drawPlot(plot, times[k]);
}

function drawPlot({name, g, lines}, now) {
  const [low, high] = limits[name], span = high - low || 1;
  g.clearRect(0, 0, size, PLOT);
  g.fillStyle = palette.soft; g.font = "11px system-ui, sans-serif";
  g.fillText(`${name}   ${low.toPrecision(3)} to ${high.toPrecision(3)}`, 4, 12);
  for (const line of lines) {
    g.strokeStyle = palette[`t${line.index % COLOURS}`]; g.lineWidth = 1.2; g.beginPath();
    for (let i = 0; i < line.t.length; i++) {
      const x = size * line.t[i] / end, y = 80 - 62 * (line.y[i] - low) / span;
      i ? g.lineTo(x, y) : g.moveTo(x, y);
    }
    g.stroke();
    g.globalAlpha = 0.5; g.beginPath();
    for (const t of tracks[line.index].impacts) { const x = size * t / end; g.moveTo(x, 80); g.lineTo(x, PLOT); }
    g.stroke(); g.globalAlpha = 1;
  }
  g.strokeStyle = palette.now; g.lineWidth = 1; g.beginPath();
  g.moveTo(size * now / end, 16); g.lineTo(size * now / end, 82); g.stroke();
}

const [slider, out, play, speed, ghost] =
  ["slider", "time", "play", "speed", "ghost"].map(id => document.getElementById(id));
slider.max = frames - 1;
let now = 0, running = !window.matchMedia("(prefers-reduced-motion: reduce)").matches, last = null;

function show() {
  const k = Math.min(frames - 1, Math.round(now / end * (frames - 1)));
  slider.value = k;
  out.textContent = `t = ${times[k].toFixed(3)} s`;
  for (const panel of panels) drawPanel(panel, k);
}

function tick(stamp) {
  if (running) {
    if (last !== null) now += (stamp - last) / 1000 * Number(speed.value);
    if (now > times[frames - 1]) now = 0;
    show();
  }
  last = stamp;
  requestAnimationFrame(tick);
}

function setRunning(value) { running = value; play.textContent = running ? "Pause" : "Play"; }

function setOver(value) {
  over = value;
  ghost.setAttribute("aria-pressed", String(over));
  build(); show();
}

play.onclick = () => setRunning(!running);
slider.oninput = () => { setRunning(false); now = times[slider.value]; show(); };
ghost.onclick = () => setOver(!over);
ghost.hidden = tracks.length < 2;
document.onkeydown = event => {
  if (event.target.tagName === "SELECT" || event.target.tagName === "BUTTON") return;
  if (event.key === " ") { event.preventDefault(); setRunning(!running); }
};
window.matchMedia(DARK).addEventListener("change", () => {
  palette = usePalette(document.documentElement);
  setOver(over);
});
let seenWidth = document.documentElement.clientWidth;
window.onresize = () => {
  if (document.documentElement.clientWidth === seenWidth) return;
  seenWidth = document.documentElement.clientWidth;
  setOver(over);
};
document.body.classList.toggle("bare", data.bare);
// A frame lets the page below it shine through only where it names no colours of its own.
if (window.self !== window.top) {
  document.body.classList.add("inside");
  document.documentElement.style.colorScheme = "normal";
}
setRunning(running); setOver(over); requestAnimationFrame(tick);
