/* Sliders, choices, engines: what changes the setup. Every change goes to the process, which answers with the scene. */

const change = set => ask({do: "change", set});

/** A range of whole numbers behind every slider: powers of ten where the range is wide. */
const STEPS = 1000;
function toRange(slider, value) {
  if (slider.powers) return STEPS * Math.log(value / slider.low) / Math.log(slider.high / slider.low);
  return STEPS * (value - slider.low) / (slider.high - slider.low);
}
function fromRange(slider, position) {
  const share = position / STEPS;
  if (slider.powers) return Number((slider.low * (slider.high / slider.low) ** share).toPrecision(4));
  const value = slider.low + share * (slider.high - slider.low);
  return slider.whole ? Math.round(value) : Number(value.toPrecision(4));
}
const shown = (slider, value) =>
  `${typeof value === "number" ? Number(value.toPrecision(4)) : value}${slider.unit ? ` ${slider.unit.replace("^2", "²")}` : ""}`;

/** A labelled control; `act(value)` at each change, at most eight times a second while a slider moves. */
function control(slider, act) {
  const row = document.createElement("label"), title = document.createElement("span");
  row.className = "row";
  title.textContent = slider.title;
  row.append(title);
  const explained = () => {
    if (slider.help) row.append(Object.assign(document.createElement("small"), {textContent: slider.help}));
    return row;
  };
  if (slider.choices.length || typeof slider.value === "boolean") {
    const select = document.createElement("select");
    for (const choice of slider.choices.length ? slider.choices : ["true", "false"]) select.add(new Option(choice));
    select.value = String(slider.value);
    select.onchange = () => act(slider.choices.length ? select.value : select.value === "true");
    row.append(select);
    return explained();
  }
  if (typeof slider.value === "string") {
    const input = document.createElement("input");
    input.type = "text"; input.value = slider.value;
    input.onchange = () => act(input.value);
    row.append(input);
    return explained();
  }
  const output = document.createElement("output"), range = document.createElement("input");
  Object.assign(range, {type: "range", min: 0, max: STEPS, step: 1});
  range.value = toRange(slider, slider.value);
  range.dataset.name = slider.name;
  range.setAttribute("aria-valuetext", shown(slider, slider.value));
  output.textContent = shown(slider, slider.value);
  let timer = null, sent = slider.value;
  const send = () => {
    clearTimeout(timer); timer = null;
    const value = fromRange(slider, range.value);
    if (value !== sent) { sent = value; act(value); }
  };
  range.oninput = () => {
    const value = shown(slider, fromRange(slider, range.value));
    output.textContent = value;
    range.setAttribute("aria-valuetext", value);
    timer = timer || setTimeout(send, 125);
  };
  range.onchange = send;
  row.append(output, range);
  return explained();
}

let busySlider = null;
document.addEventListener("pointerdown", event => { busySlider = event.target.type === "range" ? event.target : null; });
document.addEventListener("pointerup", () => { busySlider = null; });

/** Puts the controls of a list into a holder, unless somebody is moving one of them. */
function fill(holder, sliders, act) {
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.name : "";
  if (busySlider && holder.contains(busySlider)) return;
  holder.replaceChildren(...sliders.map(slider => control(slider, value => act(slider, value))));
  const again = focused && holder.querySelector(`[data-name="${CSS.escape(focused)}"]`);
  if (again) again.focus();
}

function scenarioWord(name, sliders) {
  const given = sliders.filter(s => String(s.value) !== String(s.default)).map(s => `${s.name}=${s.value}`);
  return name + (given.length ? `:${given.join(",")}` : "");
}

function fillControls() {
  const {scene} = state, own = scene.sliders.filter(s => s.group === "scenario");
  const name = (scene.setup.scenario || "").split(":")[0];
  byId("scenario").value = name;
  fill(byId("sliders"), scene.sliders, (slider, value) => {
    if (slider.group === "scenario") {
      change({scenario: scenarioWord(name, own.map(s => s === slider ? {...s, value} : s))});
    } else if (slider.name === "gravity") {
      const size = Math.hypot(...scene.gravity), down = scene.planar ? [0, -1] : [0, 0, -1];
      change({gravity: (size ? scene.gravity.map(c => c / size) : down).map(c => c * value)});
    } else change({[slider.name]: value});
  });
  byId("truth").textContent = "";
}

/** Of the body that was clicked. */
function fillBody(index) {
  const {scene} = state, holder = byId("bodysliders");
  byId("bodyname").textContent = index < 0 ? "" : scene.names[index];
  if (index < 0 || scene.fixed[index]) { holder.replaceChildren(); return; }
  const name = scene.names[index], pose = scene.start[index], mass = scene.masses[index];
  const far = 2 * scene.half, common = {choices: [], help: "", whole: false, powers: false};
  const sliders = [{...common, name: "mass", title: "mass", value: mass, low: mass / 100, high: mass * 100, unit: "kg",
    powers: true}];
  for (const [i, axis] of ["x", "y", "z"].slice(0, scene.planar ? 2 : 3).entries())
    sliders.push({...common, name: axis, title: axis, value: pose[i], low: scene.centre[i] - far,
      high: scene.centre[i] + far, unit: "m"});
  if (scene.planar) sliders.push({...common, name: "angle", title: "angle", value: pose[2], low: pose[2] - 3.15,
    high: pose[2] + 3.15, unit: "rad"});
  fill(holder, sliders, (slider, value) => {
    const axis = ["x", "y", "z"].indexOf(slider.name);
    if (axis < 0) change({bodies: {[name]: {[slider.name]: value}}});
    else change({bodies: {[name]: {position: scene.start[index].slice(0, scene.planar ? 2 : 3)
      .map((c, i) => i === axis ? value : c)}}});
  });
}

// --- engines -------------------------------------------------------------------------------------------------------

/** name@profile:k=v,k=v in its parts. */
function parts(word) {
  const [head, ...tail] = word.split(":"), [name, profile] = head.split("@");
  const overrides = Object.fromEntries(tail.join(":").split(",").filter(Boolean).map(item => item.split(/=(.*)/s, 2)));
  return {name, profile: profile || "", overrides};
}
function wordOf({name, profile, overrides}) {
  const given = Object.entries(overrides).map(([key, value]) => `${key}=${value}`);
  return name + (profile ? `@${profile}` : "") + (given.length ? `:${given.join(",")}` : "");
}
function setEngine(index, word) {
  const engines = [...state.scene.setup.engines];
  if (word === null) engines.splice(index, 1); else engines[index] = word;
  if (engines.length) change({engines});
}

function fillEngine(index, holder) {
  const panel = state.panels[index], of = parts(panel.label);
  holder.replaceChildren();
  const engine = document.createElement("select");
  engine.setAttribute("aria-label", `engine ${index + 1}`);
  for (const name of known.engines.includes(of.name) ? known.engines : [...known.engines, of.name])
    engine.add(new Option(name));
  engine.value = of.name;
  engine.onchange = () => setEngine(index, engine.value);
  holder.append(engine);
  if ((panel.profiles || []).length > 1) {
    const profile = document.createElement("select");
    profile.setAttribute("aria-label", `profile of engine ${index + 1}`);
    for (const name of panel.profiles) profile.add(new Option(name));
    profile.value = panel.profile;
    profile.onchange = () => setEngine(index, wordOf({...of, profile: profile.value}));
    holder.append(profile);
  }
  if (state.panels.length > 1) {
    const remove = document.createElement("button");
    remove.type = "button"; remove.textContent = "✕"; remove.setAttribute("aria-label", `remove ${panel.label}`);
    remove.onclick = () => setEngine(index, null);
    holder.append(remove);
  }
}

function fillSettings(index, holder) {
  const panel = state.panels[index], of = parts(panel.label);
  fill(holder, panel.sliders || [], (slider, value) =>
    setEngine(index, wordOf({...of, overrides: {...of.overrides, [slider.name]: value}})));
}
