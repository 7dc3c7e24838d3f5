/* The clock, the panels, what the pointer and the keys do. The browser's clock leads: engines follow it by frames. */

const LEAD = 3;            // frames that engines are ahead of what is shown: what is done acts so much later
const BAND_RATE = 2.0;     // Hz, of the pulled body on the band at stiffness 1
const BAND_DAMPING = 0.3;  // of critical
const PUSH = 2.0;          // times its weight, or of 10 m/s^2 without gravity: the force of a key
const KEYS = {i: [0, 1], k: [0, -1], j: [-1, 0], l: [1, 0]};
const KEYS_IN_SPACE = {i: [0, 1, 0], k: [0, -1, 0], j: [-1, 0, 0], l: [1, 0, 0], u: [0, 0, 1], o: [0, 0, -1]};

let palette = usePalette(document.documentElement);
let camera = null, views = [], clock = 0, running = false, last = null, chosen = -1, grabbed = null, moving = null;
const pressed = new Set();

const shownFrame = () => Math.min(Math.round(clock / (state.scene ? state.scene.interval : 1)), Math.max(0, available()));

// --- panels --------------------------------------------------------------------------------------------------------

function makePanels() {
  const {scene} = state;
  byId("panels").replaceChildren();
  views = state.panels.map((panel, index) => {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const head = document.createElement("div"), mark = document.createElement("i"), engine = document.createElement("span");
    head.className = "head"; engine.className = "head";
    mark.style.borderColor = palette[`t${index % COLOURS}`]; mark.style.background = palette[`f${index % COLOURS}`];
    head.append(mark, engine);
    const canvas = document.createElement("canvas"), words = document.createElement("div");
    const details = document.createElement("details"), summary = document.createElement("summary");
    const settings = document.createElement("div");
    canvas.setAttribute("role", "img"); words.className = "state soft";
    summary.textContent = "settings";
    details.append(summary, settings);
    caption.append(head); figure.append(caption, canvas, words, details);
    byId("panels").append(figure);
    const drawing = new Drawing(canvas, scene, camera);
    drawing.palette = palette;
    const view = {index, figure, canvas, drawing, engine, words, settings, details};
    drawing.listen(() => draw(), (x, y) => !takesHold(view, x, y));
    canvas.addEventListener("pointermove", event => moveTo(view, event.offsetX, event.offsetY));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, letGo);
    return view;
  });
  views.forEach(view => showPanel(view.index));
  makePlots();
}

function layOut() {
  for (const {figure, drawing} of views) {
    const width = Math.max(180, figure.clientWidth - 18);
    drawing.resize(width, Math.round(Math.min(width, 420)));
  }
  const ratio = window.devicePixelRatio || 1;
  for (const {canvas, holder} of plots) {
    const width = Math.max(160, holder.clientWidth - 18);
    Object.assign(canvas, {width: width * ratio, height: PLOT_HEIGHT * ratio});
    Object.assign(canvas.style, {width: `${width}px`, height: `${PLOT_HEIGHT}px`});
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  fitOutside();
  draw();
}

/** The frame around this page is as high as the page. */
function fitOutside() {
  const frame = window.frameElement;
  if (!frame) return;
  const height = `${byId("all").scrollHeight + 24}px`;
  if (frame.style.height !== height) frame.style.height = height;
}

function showPanel(index) {
  const panel = state.panels[index], view = views[index];
  fillEngine(index, view.engine);
  fillSettings(index, view.settings);
  view.details.hidden = !(panel.sliders || []).length;
  showWords(index);
}

function showWords(index) {
  const panel = state.panels[index], {words} = views[index];
  words.replaceChildren();
  const add = (text, wrong) => {
    const line = document.createElement("div");
    line.textContent = text; line.className = wrong ? "wrong" : "";
    words.append(line);
  };
  if (panel.state === "starting" || panel.state === "planning") add("starts …");
  else if (panel.state === "declined") add(`declines the scene: ${panel.reason}`);
  else if (panel.state === "failed") add(panel.reason, true);
  else if (panel.measured && panel.measured.error) add(panel.measured.error, true);
  else if (panel.measured) {
    for (const one of panel.measured.outcomes.slice(0, 3)) add(one.text, one.right === false);
    if (panel.measured.outcomes.length > 3) add(`and ${panel.measured.outcomes.length - 3} more below`);
  } else if (!panel.live && panel.frames.length <= state.scene.frames) {
    const to = ((panel.frames.length - 1) * state.scene.interval).toFixed(2);
    add(`computed to ${to} s of ${(state.scene.frames * state.scene.interval).toFixed(2)} s ${panel.frames.length - 1 < shownFrame() ? "(behind)" : ""}`);
  }
}

function draw() {
  const {scene} = state;
  if (!scene) return;
  const k = shownFrame();
  for (const view of views) {
    const panel = state.panels[view.index], frame = panel.frames[Math.min(k, panel.frames.length - 1)];
    const poses = frame ? frame.poses : Float32Array.from(scene.start.flat());
    view.poses = moving && moving.view === view ? moving.poses : poses;
    view.drawing.draw([{poses: view.poses, colour: view.index, forces: frame && !moving ? frame.forces : [],
      contacts: frame && !moving ? frame.contacts : []}], {legend: true, marked: [chosen],
      time: k * scene.interval});
    drawBands(view, k);
  }
}

/** Pulls since the scene came; those before are part of it. */
function drawBands({drawing, poses}, k) {
  for (const {anchor, body, points} of state.bands)
    drawing.drawPull(drawing.moved(anchor, poses, body), points.get(k), [...points.values()]);
}

// --- the clock -----------------------------------------------------------------------------------------------------

function tick(stamp) {
  const {scene} = state;
  if (scene && running) {
    const began = performance.now();
    if (last !== null) clock += Math.min(0.1, (stamp - last) / 1000) * Number(byId("speed").value);
    const most = Math.max(0, available()) * scene.interval;
    if (clock >= scene.frames * scene.interval && available() >= scene.frames) { clock = most; setRunning(false); }
    clock = Math.min(clock, most + scene.interval / 2);
    goOn(Math.floor(clock / scene.interval) + LEAD);
    showTime(); draw();
    if (Math.round(stamp / 16.7) % 6 === 0) {
      drawPlots();
      for (const {index} of views) if (!state.panels[index].live) showWords(index);
    }
    frameTimes.push(performance.now() - began);
    if (frameTimes.length > 1000) frameTimes.shift();
  }
  last = stamp;
  requestAnimationFrame(tick);
}
const frameTimes = [];  // ms of script, of frames that were shown

/** Move the engines on, with what is done to the scene now. */
function goOn(until) {
  const {scene} = state, to = Math.min(until, scene.frames);
  if (to <= state.asked) return;
  const message = {do: "advance", until: to, keys: keysDown()};
  if (grabbed) {
    message.pull = {body: scene.names[grabbed.body], anchor: grabbed.anchor, from: grabbed.from, to: grabbed.to,
      stiffness: grabbed.stiffness, damping: grabbed.damping};
    for (let k = state.asked; k <= to; k++) grabbed.points.set(k, grabbed.to);
  }
  state.asked = to;
  ask(message);
}

function keysDown() {
  const {scene} = state;
  if (chosen < 0 || scene.fixed[chosen]) return [];
  const map = scene.planar ? KEYS : KEYS_IN_SPACE, g = Math.hypot(...scene.gravity) || 10;
  const size = PUSH * scene.masses[chosen] * g;
  return [...pressed].filter(key => map[key]).map(key => ({body: scene.names[chosen], force: map[key].map(c => c * size)}));
}

function setRunning(value) {
  const {scene} = state;
  if (value && scene && clock >= scene.frames * scene.interval - 1e-9) clock = 0;
  running = value;
  byId("run").textContent = running ? "Pause" : "Run";
  if (!running) { drawPlots(); showTime(); describe(); }
}

function showTime() {
  const {scene} = state, k = shownFrame();
  byId("time").max = scene.frames;
  if (document.activeElement !== byId("time") || running) byId("time").value = k;
  const waits = running && available() < state.asked - 2 * LEAD ? " (waits)" : "";
  byId("clock").textContent = `t = ${(k * scene.interval).toFixed(3)} s${waits}`;
}

/** For who does not see the picture. */
function describe() {
  for (const view of views) {
    const panel = state.panels[view.index], frame = panel.frames[shownFrame()];
    const forces = frame ? `${frame.forces.length} contact forces` : "not computed yet";
    view.canvas.setAttribute("aria-label", `${state.scene.title} on ${panel.label}, ${byId("clock").textContent}, ${forces}`);
  }
}

function stepTo(k) {
  const {scene} = state;
  setRunning(false);
  const to = Math.max(0, Math.min(scene.frames, k));
  goOn(to);
  clock = to * scene.interval;
  showTime(); draw(); drawPlots();
}

// --- pointer -------------------------------------------------------------------------------------------------------

/** Whether the pointer takes hold of a body here: before the start to move it, afterwards to pull it. */
function takesHold(view, x, y) {
  const {scene} = state, poses = view.poses;
  if (!poses) return false;
  const body = view.drawing.bodyAt(x, y, poses);
  if (body !== chosen) { chosen = body; fillBody(body); drawPlots(); draw(); fitOutside(); }
  if (body < 0) return false;
  const centre = Array.from(poses.subarray(body * view.drawing.poseWidth, body * view.drawing.poseWidth + view.drawing.dimension));
  const at = view.drawing.toWorld(x, y, centre);
  if (shownFrame() === 0 && !running) {
    moving = {view, body, from: at, centre, poses: Float32Array.from(poses), moved: false};
    return true;
  }
  const k = shownFrame();
  const anchor = view.drawing.moved(at, poses, body, true);
  const stiffness = scene.masses[body] * (2 * Math.PI * BAND_RATE) ** 2 * 10 ** Number(byId("band").value);
  grabbed = {view, body, anchor, from: at, to: at, centre, stiffness, points: new Map(),
    damping: 2 * BAND_DAMPING * Math.sqrt(stiffness * scene.masses[body])};
  if (state.asked - k > 2 * LEAD) ask({do: "rewind", frame: k});
  state.bands.push(grabbed);
  setRunning(true);
  return true;
}

function moveTo(view, x, y) {
  if (grabbed && grabbed.view === view) grabbed.to = view.drawing.toWorld(x, y, grabbed.centre);
  if (moving && moving.view === view) {
    const at = view.drawing.toWorld(x, y, moving.centre), start = moving.body * view.drawing.poseWidth;
    at.forEach((c, i) => { moving.poses[start + i] = moving.centre[i] + c - moving.from[i]; });
    moving.moved = true;
    draw();
  }
}

function letGo() {
  grabbed = null;
  if (moving && moving.moved) {
    const {scene} = state, width = moving.view.drawing.poseWidth, {dimension} = moving.view.drawing;
    const start = moving.body * width, offset = [...moving.poses.subarray(start, start + dimension)];
    change({bodies: {[scene.names[moving.body]]: {position: offset.map(c => Number(c.toPrecision(6)))}}});
  }
  moving = null;
}

// --- what comes ----------------------------------------------------------------------------------------------------

let before = "";
on("scene", scene => {
  const same = before === JSON.stringify([scene.planar, scene.setup.engines, scene.names]);
  before = JSON.stringify([scene.planar, scene.setup.engines, scene.names]);
  clock = scene.at * scene.interval;
  if (grabbed) state.bands.push(grabbed);
  if (same) {
    camera.scene = scene;
    for (const view of views) view.drawing.scene = scene;
  } else {
    camera = new Camera(scene); chosen = -1; grabbed = null;
    makePanels();
  }
  fillControls(); fillBody(chosen); showMeasured(); showTime(); layOut();
  first.waiting = true;
});
const first = {waiting: false, at: 0};  // when the first frame after a change was drawn
on("panel", header => showPanel(header.panel));
on("frames", header => {
  if (running) return;
  draw();
  if (first.waiting) { first.waiting = false; first.at = performance.now(); }
  if (header.first <= shownFrame() + 1) describe();
  showWords(header.panel); drawPlots();
});
on("cut", header => showWords(header.panel));
on("measured", header => { showWords(header.panel); showMeasured(); fitOutside(); });
on("record", record => {
  const fits = record.address.length <= known.longest;
  record.link = rememberIn(fits ? record.address : "");
  const done = [record.pulls ? `${record.pulls} ${record.pulls === 1 ? "pull" : "pulls"}` : "",
    record.keys ? `${record.keys} ${record.keys === 1 ? "key" : "keys"}` : ""].filter(Boolean).join(", ");
  byId("inputs").textContent = done ? `Recorded as part of the scene: ${done}.` : "";
  byId("forget").hidden = !done;
  if (record.stored) share(record);
});
on("taken", taken => {
  const link = byId("download");
  link.href = URL.createObjectURL(new Blob([taken.scene], {type: "application/json"}));
  link.download = taken.file;
  byId("command").value = taken.command; byId("python").value = taken.python;
  // In the middle of the frame, which is as high as the page, nobody would see it.
  byId("taking").style.top = `${byId("take").getBoundingClientRect().bottom + 8}px`;
  byId("taking").showModal();
});

function showMeasured() {
  const table = byId("measured"), panels = state.panels;
  table.replaceChildren();
  const row = (head, cells, kind = "td") => {
    const tr = table.insertRow(), th = document.createElement("th");
    th.textContent = head; th.scope = "row"; tr.append(th);
    for (const cell of cells) {
      const td = document.createElement(kind);
      if (typeof cell === "string") td.textContent = cell; else td.append(cell);
      tr.append(td);
    }
  };
  row("", panels.map(panel => panel.label), "th");
  row("what happened", panels.map(panel => {
    const list = document.createElement("ul");
    for (const one of panel.measured && panel.measured.outcomes || []) {
      const item = document.createElement("li");
      item.textContent = one.text; item.className = one.right === false ? "wrong" : "";
      list.append(item);
    }
    return list;
  }));
  const names = [...new Set(panels.flatMap(panel => (panel.measured && panel.measured.values || []).map(v => v.name)))];
  for (const name of names) row(name, panels.map(panel => {
    const value = (panel.measured && panel.measured.values || []).find(v => v.name === name);
    if (!value) return "";
    const cell = document.createElement("span");
    cell.textContent = value.law ? `${value.text}; ${value.law}` : value.text;
    cell.className = value.law ? "wrong" : "";
    return cell;
  }));
  row("as recorded", panels.map(panel => {
    if (!panel.measured || panel.measured.repeats === null || panel.measured.repeats === undefined) return "";
    return panel.measured.repeats === 0 ? "the recorded scene repeats it to the last bit"
      : `the recorded scene ends up to ${withUnit(panel.measured.repeats, "m")} away from it`;
  }));
  row("bits", panels.map(panel => panel.measured ? panel.measured.bits || "" : ""));
  const truth = panels.map(panel => panel.measured && panel.measured.truth).find(Boolean);
  byId("truth").textContent = truth ? `Compared with the exact solution: ${truth}` : "";
}

function share(record) {
  const link = record.link;
  if (record.address.length > known.longest && !record.stored) { ask({do: "share"}); return; }
  const done = () => say(`The link is copied: ${link.length} characters.`);
  (navigator.clipboard ? navigator.clipboard.writeText(link) : Promise.reject()).then(done, () => say(`The link: ${link}`));
}

// --- what is pressed -----------------------------------------------------------------------------------------------

function begin() {
  for (const one of known.presets) byId("preset").add(new Option(one.title, one.name));
  byId("preset").add(new Option("your own", ""));
  byId("preset").onchange = () => {
    const preset = known.presets.find(one => one.name === byId("preset").value);
    byId("story").textContent = preset ? preset.text : "";
    if (preset) { before = ""; ask({do: "setup", setup: preset.play}); }
  };
  for (const [name, summary] of Object.entries(known.scenarios)) {
    const option = new Option(name, name);
    option.title = summary;
    byId("scenario").add(option);
  }
  byId("scenario").onchange = () => { byId("preset").value = ""; byId("story").textContent = ""; change({scenario: byId("scenario").value}); };
  byId("run").onclick = () => setRunning(!running);
  byId("back").onclick = () => stepTo(shownFrame() - 1);
  byId("step").onclick = () => stepTo(shownFrame() + 1);
  byId("rewind").onclick = () => stepTo(0);
  byId("time").oninput = () => stepTo(Number(byId("time").value));
  byId("view").onclick = () => { camera.reset(); draw(); };
  byId("add").onclick = () => {
    const free = known.engines.find(name => !state.panels.some(panel => parts(panel.label).name === name));
    if (state.panels.length >= known.most) say(`${known.most} engines at once are the most.`);
    else setEngine(state.panels.length, free || known.engines[0]);
  };
  byId("share").onclick = () => state.record && share(state.record);
  byId("take").onclick = () => ask({do: "take"});
  byId("forget").onclick = () => change({pulls: [], thrusts: []});
  byId("band").oninput = () => { byId("bandshown").textContent = `× ${(10 ** Number(byId("band").value)).toPrecision(2)}`; };
  byId("band").oninput();
  document.onkeydown = event => {
    if (["SELECT", "INPUT", "TEXTAREA", "BUTTON"].includes(event.target.tagName) && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {" ": () => setRunning(!running), ArrowRight: () => stepTo(shownFrame() + 1),
      ArrowLeft: () => stepTo(shownFrame() - 1), Home: () => stepTo(0)}[event.key];
    if (act) { event.preventDefault(); act(); }
    pressed.add(event.key.toLowerCase());
  };
  document.onkeyup = event => pressed.delete(event.key.toLowerCase());
  window.onblur = () => pressed.clear();
  window.matchMedia(DARK).addEventListener("change", () => {
    palette = usePalette(document.documentElement);
    for (const view of views) view.drawing.palette = palette;
    draw(); drawPlots();
  });
  let wide = document.documentElement.clientWidth;
  window.onresize = () => { if (document.documentElement.clientWidth !== wide) { wide = document.documentElement.clientWidth; layOut(); } };
  connect();
  const given = new URL(outside().location.href).searchParams;
  const preset = known.presets[0];
  byId("preset").value = "";
  if (given.get("play")) ask({do: "setup", setup: given.get("play")});
  else if (given.get("scenario")) {
    ask({do: "setup", setup: {scenario: given.get("scenario"), ...(given.getAll("engine").length ? {engines: given.getAll("engine")} : {})}});
  } else {
    byId("preset").value = preset.name; byId("story").textContent = preset.text;
    ask({do: "setup", setup: preset.play});
  }
  say("Starting the engines …");
  fitOutside();
  requestAnimationFrame(tick);
}
begin();
