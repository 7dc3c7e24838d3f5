/* The page that plays motions: panels side by side or over each other, curves below them, the bar. Needs drawing.js. */

const source = `<!doctype html>\n${document.documentElement.outerHTML}`;  // of the page as it came, to be saved
const data = JSON.parse(document.getElementById("data").textContent), scene = data.scene;
const floats = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
const element = id => document.getElementById(id);
const made = (tag, text = "", into = null) => {
  const one = document.createElement(tag);
  one.textContent = text;
  if (into) into.append(one);
  return one;
};
const width = scene.outlines.length * (scene.planar ? 3 : 7), PLOT = 84, SAME = 1e-9, AFTERWARDS = 0.8, NARROW = 480;
const camera = new Camera(scene);
let palette = usePalette(document.documentElement);

// --- motions -------------------------------------------------------------------------------------------------------

const tracks = data.tracks.map((track, index) => {
  const moved = floats(track.moved), poses = new Float64Array(moved.length);
  for (let i = 0; i < moved.length; i++) poses[i] = track.start[i % width] + moved[i];
  const rows = group => ({...group, rows: floats(group.rows)});
  return {...track, index, poses, contacts: rows(track.contacts), forces: rows(track.forces),
          impacts: floats(track.impacts), end: track.time[track.time.length - 1],
          plots: Object.entries(track.series).map(([name, s]) => ({name, t: floats(s.t), y: floats(s.y)}))};
});
const end = Math.max(...tracks.map(track => track.end)) || 1;
const apart = values => values.sort((a, b) => a - b).filter((t, i, all) => !i || t - all[i - 1] > SAME * end);
const steps = apart(tracks.flatMap(track => track.time));
const impacts = tracks.flatMap(track => [...track.impacts].map(time => ({time, track})));
const events = tracks.flatMap(track => [
  ...track.events.map(event => ({...event, track})),
  ...(track.ended ? [{time: track.end, kind: "law", text: track.ended, bodies: [], track}] : []),
]).sort((a, b) => a.time - b.time);
const jumps = apart([...events, ...impacts].map(event => event.time));

/** Index of the last of ascending values that is not above `most`, or -1. */
function lastUpTo(values, most) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = low + high >> 1;
    if (values[middle] <= most) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** Between two samples the straight line, beyond the last one that. */
function posesAt(track, t) {
  const k = Math.max(0, lastUpTo(track.time, t + SAME * end)), at = k * width, {poses, time} = track;
  if (k + 1 >= time.length || t <= time[k]) return poses.subarray(at, at + width);
  const share = (t - time[k]) / (time[k + 1] - time[k]), out = new Float64Array(width);
  for (let i = 0; i < width; i++) out[i] = poses[at + i] + share * (poses[at + width + i] - poses[at + i]);
  for (let i = 3; !scene.planar && i < width; i += 7) {
    const length = Math.hypot(out[i], out[i + 1], out[i + 2], out[i + 3]) || 1;
    for (let j = i; j < i + 4; j++) out[j] /= length;
  }
  return out;
}

function rowsOf(group, k) {
  const found = [];
  for (let i = group.first[k]; i < group.first[k + 1]; i++)
    found.push(Array.from(group.rows.subarray(i * group.width, (i + 1) * group.width)));
  return found;
}

function layerAt(track, t, ghost) {
  const report = lastUpTo(track.forces.time, t + SAME), sample = Math.max(0, lastUpTo(track.time, t + SAME * end));
  const recent = report >= 0 && t - track.forces.time[report] <= data.forceShown;
  const forces = ghost || !recent ? [] : rowsOf(track.forces, report), poses = posesAt(track, t);
  const reported = forces.length && track.forces.time[report] < t ? posesAt(track, track.forces.time[report]) : poses;
  return {poses, forces, reported, contacts: ghost ? [] : rowsOf(track.contacts, sample), colour: track.index, ghost};
}

// --- panels --------------------------------------------------------------------------------------------------------

const limits = {};
for (const track of tracks) for (const q of track.plots) {
  const seen = limits[q.name] || [Infinity, -Infinity];
  for (const y of q.y) { if (y < seen[0]) seen[0] = y; if (y > seen[1]) seen[1] = y; }
  limits[q.name] = seen;
}
// Below one another they would not be seen together.
const narrow = document.documentElement.clientWidth < NARROW && tracks.length > 1;
let panels = [], size = 300, over = data.ghost || narrow, now = 0, last = null, marked = [];
let running = !window.matchMedia("(prefers-reduced-motion: reduce)").matches;

function prepare(canvas, w, h) {
  const ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, {width: w * ratio, height: h * ratio});
  Object.assign(canvas.style, {width: `${w}px`, height: `${h}px`});
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return g;
}

function build() {
  const holder = element("panels");
  holder.replaceChildren();
  const groups = over ? [tracks] : tracks.map(track => [track]), pad = data.bare ? 0 : 28;
  const room = document.documentElement.clientWidth - (data.bare ? 0 : 14);
  const most = data.bare ? 560 : Math.round((groups.length === 1 ? 520 : 420) / Math.sqrt(scene.aspect));
  const columns = Math.min(groups.length, 4, Math.max(1, Math.floor(room / 300)));
  size = Math.max(200, Math.min(most, Math.floor(room / columns) - pad));
  panels = groups.map(group => {
    const figure = made("figure", "", holder), caption = made("figcaption", "", figure);
    figure.style.width = `${size}px`;
    for (const track of group) {
      const name = made("span", "", caption), mark = made("i", "", name);
      mark.style.borderColor = palette[`t${track.index % COLOURS}`];
      mark.style.background = palette[`f${track.index % COLOURS}`];
      made("bdi", track.label, name);
      if (track.note) made("small", track.note, caption);
      if (track.ended) made("small", track.ended, caption).className = "ended";
    }
    const drawing = new Drawing(made("canvas", "", figure), scene, camera);
    drawing.palette = palette;
    drawing.resize(size, Math.round((data.bare ? Math.min(0.75, scene.aspect) : scene.aspect) * size));
    drawing.listen(show);
    drawing.canvas.setAttribute("role", "img");
    const names = data.bare ? [] : [...new Set(group.flatMap(track => track.plots.map(q => q.name)))];
    const plots = names.map(name => {
      const plot = made("canvas", "", figure), [low, high] = limits[name];
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", `curve of ${described(name, low, high)}`);
      const lines = group.flatMap(({plots, index}) => plots.filter(q => q.name === name).map(q => ({...q, index})));
      return {name, g: prepare(plot, size, PLOT), lines};
    });
    return {group, drawing, plots, legend: group[0].forces.rows.length > 0};
  });
  describe();
}

/** What a picture shows, for those who do not see it; not while it runs, when nobody could follow. */
function describe() {
  const shown = scene.names.slice(0, scene.outlines.length), few = shown.slice(0, 5).join(", ");
  const bodies = `${shown.length} ${shown.length === 1 ? "body" : "bodies"} (${few}${shown.length > 5 ? ", ..." : ""})`;
  for (const {group, drawing} of panels) {
    const names = group.map(track => track.label).join(" over "), {contacts, forces} = layerAt(group[0], now, false);
    const moment = running ? `playing, ${end.toPrecision(4)} s long`
      : `at ${now.toFixed(4)} s: ${contacts.length} contact points, ${forces.length} contact forces`;
    drawing.canvas.setAttribute("aria-label", `motion of ${names}: ${bodies}; ${moment}`);
  }
}

function drawPanel({group, drawing, plots, legend}) {
  const {factor, from} = exaggeration();
  // The first track is what it is about: on top, and filled.
  const layers = group.map((track, i) => layerAt(track, now, i > 0)).reverse(), shown = [...group].reverse();
  const origins = shown.map(track => from === null ? track.poses.subarray(0, width)
    : track === from ? null : posesAt(from, now));
  const ended = group.find(track => track.ended && now >= track.end - SAME);
  const words = factor === 1 ? [] : [`displacements from ${from ? from.label : "the start"} enlarged \u00d7 ${factor}`];
  if (ended) words.push(`${ended.label} ended at ${ended.end.toPrecision(4)} s`);
  const exaggerate = factor === 1 ? null : {factor, from: origins};
  drawing.draw(layers, {legend, marked, caption: words, exaggerate, time: now});
  for (const plot of plots) drawPlot(plot);
}

/** Of "smallest gap (m)" and its limits: smallest gap: -6 mm to 15.6 mm. */
function described(name, low, high) {
  const [, title, unit] = /^(.*?)(?: \((.*)\))?$/.exec(name);
  return `${title}: ${withUnit(low, unit || "")} to ${withUnit(high, unit || "")}`;
}

function drawPlot({name, g, lines}) {
  const [low, high] = limits[name], span = high - low || 1;
  g.clearRect(0, 0, size, PLOT);
  g.fillStyle = palette.soft; g.font = "11px system-ui, sans-serif";
  g.fillText(described(name, low, high), 4, 12);
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

// --- the bar -------------------------------------------------------------------------------------------------------

const slider = element("slider"), play = element("play"), ghost = element("ghost"), THUMB = 8;
slider.max = end;

function exaggeration() {
  const factor = Number((10 ** Number(element("exaggerate").value)).toPrecision(2)), chosen = element("from").value;
  return {factor, from: chosen === "" ? null : tracks[chosen]};
}

function drawMarks() {
  const wide = slider.clientWidth, g = prepare(element("marks"), wide, 14);
  const x = time => THUMB + (wide - 2 * THUMB) * time / end;
  g.globalAlpha = 0.6;
  for (const {time, track} of impacts) {
    g.fillStyle = palette[`t${track.index % COLOURS}`];
    g.fillRect(x(time) - 0.5, 0, 1, 6);
  }
  g.globalAlpha = 1;
  for (const {time, kind} of events) {
    g.fillStyle = {law: palette.force, difference: palette.contact}[kind] || palette.text;
    g.beginPath(); g.moveTo(x(time), 1); g.lineTo(x(time) - 5, 12); g.lineTo(x(time) + 5, 12); g.fill();
  }
}

function show() {
  const [first] = tracks, k = Math.max(0, lastUpTo(first.time, now + SAME * end)), digits = end < 0.1 ? 6 : 4;
  slider.value = now;
  slider.setAttribute("aria-valuetext", `${now.toFixed(digits)} s of ${end.toPrecision(4)} s`);
  const sample = Math.abs(first.time[k] - now) <= SAME * end && !data.bare;
  const here = sample ? `, sample ${first.sample[k]} of ${first.samples - 1}` : "";
  element("time").textContent = `t = ${now.toFixed(digits)} s${here}`;
  const recent = running ? AFTERWARDS * Number(element("speed").value) : SAME * end;
  const near = events.filter(({time}) => now >= time - SAME * end && now - time <= recent);
  const text = near.map(event => tracks.length > 1 ? `${event.track.label}: ${event.text}` : event.text).join("; ");
  if (element("what").textContent !== text) element("what").textContent = text;
  marked = near.flatMap(event => event.bodies);
  for (const panel of panels) drawPanel(panel);
}

function tick(stamp) {
  if (running) {
    if (last !== null) now += (stamp - last) / 1000 * Number(element("speed").value);
    if (now > end) now = 0;
    show();
  }
  last = stamp;
  requestAnimationFrame(tick);
}

function setRunning(value) {
  running = value;
  play.textContent = running ? "Pause" : "Play";
  element("what").setAttribute("aria-live", running ? "off" : "polite");
  describe();
}

function goTo(time) {
  now = Math.min(end, Math.max(0, time));
  setRunning(false); show();
}

/** To the next of ascending times, or the one before. */
function goAlong(times, forward) {
  const k = lastUpTo(times, now + SAME * end), here = k >= 0 && now - times[k] <= SAME * end;
  const found = times[forward ? k + 1 : here ? k - 1 : k];
  if (found !== undefined) goTo(found); else setRunning(false);
}

function setOver(value) {
  over = value;
  ghost.setAttribute("aria-pressed", String(over));
  build(); drawMarks(); show();
}

function zoom(factor) { camera.zoomBy(factor); show(); }
function resetView() { camera.reset(); show(); }

play.onclick = () => setRunning(!running);
slider.oninput = () => goTo(Number(slider.value));
ghost.onclick = () => setOver(!over);
ghost.hidden = tracks.length < 2;
for (const [id, act] of Object.entries({
  step: () => goAlong(steps, true), stepBack: () => goAlong(steps, false),
  event: () => goAlong(jumps, true), eventBack: () => goAlong(jumps, false),
  in: () => zoom(1.5), out: () => zoom(1 / 1.5), reset: resetView,
})) element(id).onclick = act;
element("event").disabled = element("eventBack").disabled = !jumps.length;
element("what").hidden = element("marks").hidden = element("events").hidden = !jumps.length;
element("marks").onclick = ({offsetX}) => {
  const time = (offsetX - THUMB) / (slider.clientWidth - 2 * THUMB) * end;
  goTo(jumps.length ? jumps.reduce((a, b) => Math.abs(b - time) < Math.abs(a - time) ? b : a) : time);
};
for (const event of events) {
  const owner = tracks.length > 1 ? `${event.track.label}: ` : "";
  const chip = made("button", `${withUnit(event.time, "s")}, ${owner}${event.text}`, element("events"));
  chip.type = "button"; chip.className = event.kind;
  chip.onclick = () => goTo(event.time);
}
if (impacts.length) {
  const chip = made("button", `${impacts.length} impacts: next`, element("events"));
  chip.type = "button";
  chip.onclick = () => goAlong(apart(impacts.map(impact => impact.time)), true);
}
for (const sentence of data.absent) made("li", sentence, element("absent"));
element("absent").hidden = !data.absent.length;
made("option", "the start", element("from")).value = "";
if (tracks.length > 1) for (const track of tracks) made("option", track.label, element("from")).value = track.index;
element("exaggerate").oninput = element("from").onchange = () => {
  element("many").textContent = `\u00d7 ${exaggeration().factor}`;
  show();
};
const KEYS = {
  " ": () => setRunning(!running), ArrowRight: () => goAlong(steps, true), ArrowLeft: () => goAlong(steps, false),
  PageDown: () => goAlong(jumps, true), PageUp: () => goAlong(jumps, false), Home: () => goTo(0), End: () => goTo(end),
  "+": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: resetView,
};
document.onkeydown = event => {
  const {target, key} = event, typed = target.tagName === "SELECT" || target.id === "exaggerate";
  if (typed || !KEYS[key] || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === " " && target.tagName === "BUTTON") return;
  event.preventDefault();
  KEYS[key]();
};
const sent = tracks.map(track => Math.round((track.samples - 1) / Math.max(1, track.sample.length - 1)));
element("pulls").hidden = !scene.links.some(link => link.path);
element("hint").textContent = [
  `zoom: wheel${window.self !== window.top ? " with Ctrl, or after a click" : ""}, pinch`,
  scene.planar ? "pan: drag" : "turn: drag, pan: Shift and drag",
  ...(Math.max(...sent) > 1 ? [`one of ${Math.max(...sent)} samples is here`] : []),
].join("; ");

// --- files ---------------------------------------------------------------------------------------------------------

const GIF_FRAMES = 150, GIF_RATE = 20, HEAD = 22;

/** The panels side by side as they are now, each under its names. */
function composed(canvas, ratio) {
  const g = canvas.getContext("2d"), total = panels.length * size, {height} = panels[0].drawing;
  Object.assign(canvas, {width: Math.round(total * ratio), height: Math.round((height + HEAD) * ratio)});
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = palette.back; g.fillRect(0, 0, total, height + HEAD);
  panels.forEach(({group, drawing}, i) => {
    g.drawImage(drawing.canvas, i * size, HEAD, size, height);
    g.fillStyle = palette.text; g.font = FONT;
    const words = `${group.map(track => track.label).join(" over ")}   t = ${now.toFixed(3)} s`;
    g.fillText(words, i * size + 6, 15, size - 12);
  });
  return g;
}

function save(blob, ending) {
  const link = made("a"), words = data.title.replace(/[^\p{L}\p{N}.=-]+/gu, "-");
  const name = words.replace(/^[-.]+|[-.]+$/g, "").slice(0, 120);
  link.href = URL.createObjectURL(blob);
  link.download = `${name || "motion"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function motionAsGif() {
  const button = element("gif"), speed = Number(element("speed").value), before = now;
  const count = Math.max(2, Math.min(GIF_FRAMES, Math.round(end / speed * GIF_RATE)));
  const canvas = made("canvas"), {width, height} = (composed(canvas, 1), canvas), gif = new Gif(width, height);
  setRunning(false);
  button.disabled = true;
  for (let k = 0; k < count; k++) {
    now = end * k / (count - 1);
    show();
    gif.add(composed(canvas, 1).getImageData(0, 0, width, height).data, 1000 * end / speed / count);
    button.textContent = `${Math.round(100 * (k + 1) / count)} %`;
    await new Promise(resolve => setTimeout(resolve));
  }
  button.disabled = false;
  button.textContent = "GIF";
  goTo(before);
  return gif.blob();
}

element("html").onclick = () => save(new Blob([source], {type: "text/html"}), "html");
element("gif").onclick = async () => save(await motionAsGif(), "gif");
element("png").onclick = () => {
  const canvas = made("canvas");
  composed(canvas, Math.max(2, window.devicePixelRatio || 1));
  canvas.toBlob(blob => save(blob, "png"));
};

// --- start ---------------------------------------------------------------------------------------------------------

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
document.body.classList.toggle("inside", window.self !== window.top);
element("exaggerate").oninput(); setRunning(running); setOver(over); requestAnimationFrame(tick);
