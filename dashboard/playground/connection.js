"use strict";
/* The connection with the process that runs what is shown, and everything that came over it. */

const known = JSON.parse(document.getElementById("known").textContent);
const byId = id => document.getElementById(id);
const state = {
  scene: null,        // as `picture_of` makes it, with title, sliders, frames, interval
  panels: [],         // {label, state, reason, sliders, frames: [{poses, twists, forces, contacts ...}], measured}
  asked: 0,           // the frame until which the engines were moved on
  record: null,       // {address, pulls, keys}: what a link to this has
  bands: [],          // {body, anchor, points: Map(frame -> point)}: what was pulled since the scene came
  wait: "",           // why the clock stands
};
const listeners = {};
const on = (kind, act) => { listeners[kind] = act; };

let socket = null, queue = [];
function ask(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else queue.push(message);
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}${location.pathname.replace(/page$/, "connection")}`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => { for (const message of queue) socket.send(JSON.stringify(message)); queue = []; };
  socket.onmessage = event => receive(event.data);
  socket.onclose = () => say("The connection is closed. Reload the page to go on; its address has what you did.", true);
}

function receive(data) {
  const view = new DataView(data);
  const headerLength = Number(view.getBigUint64(0, true)), bodyLength = Number(view.getBigUint64(8, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 16, headerLength)));
  header.body = data.slice(16 + headerLength, 16 + headerLength + bodyLength);
  (takers[header.kind] || (() => {}))(header);
  if (listeners[header.kind]) listeners[header.kind](header);
}

const takers = {
  scene(header) {
    state.scene = header;
    state.panels = header.setup.engines.map(label => ({label, state: "starting", reason: "", frames: [], sliders: [], heard: performance.now()}));
    state.asked = header.at;
    state.bands = [];
    say("");
  },
  panel(header) {
    Object.assign(state.panels[header.panel], header);
  },
  frames(header) {
    const {scene} = state, panel = state.panels[header.panel];
    const bodies = scene.outlines.length;
    const wide = scene.planar ? 3 : 7, narrow = scene.planar ? 3 : 6;
    const numbers = new Float32Array(header.body), rest = header.count * bodies * wide;
    panel.heard = performance.now();
    for (let k = 0; k < header.count; k++) {
      panel.frames[header.first + k] = {
        poses: numbers.subarray(k * bodies * wide, (k + 1) * bodies * wide),
        twists: numbers.subarray(rest + k * bodies * narrow, rest + (k + 1) * bodies * narrow),
        forces: header.forces[k], contacts: header.contacts[k],
        kinetic: header.kinetic[k], potential: header.potential[k], gap: header.gap[k],
      };
    }
  },
  cut(header) {
    const panel = state.panels[header.panel];
    panel.heard = performance.now();
    panel.frames.length = Math.min(panel.frames.length, header.frame);
    panel.measured = null;
  },
  measured(header) { state.panels[header.panel].measured = header; },
  record(header) { state.record = header; },
  error(header) { say(header.text, true); },
};

function say(text, wrong = false) {
  const place = byId("message");
  place.className = wrong && text ? "alarm" : "soft";
  place.textContent = text;
}

/** The last frame that each panel has that is waited for. What is computed ahead is not, beside a live one, once it
    takes longer than PATIENCE for its next piece: then it is behind, and says so. */
const PATIENCE = 1500;  // ms
function available() {
  const moving = state.panels.filter(panel => !["declined", "failed"].includes(panel.state));
  const live = moving.some(panel => panel.live && panel.frames.length);
  const whole = panel => panel.frames.length > state.scene.frames;
  const late = panel => !panel.live && !whole(panel) && performance.now() - (panel.heard || 0) > PATIENCE;
  const waited = moving.filter(panel => !(live && late(panel)));
  if (!waited.length) return Math.max(...state.panels.map(panel => panel.frames.length), 0) - 1;
  return Math.min(...waited.map(panel => panel.frames.length)) - 1;
}

/** The address bar of the page around this one. */
function outside() {
  try { return window.parent.location.href && window.parent; } catch { return window; }
}

function rememberIn(address) {
  const page = outside(), url = new URL(page.location.href);
  if (!address || address.length > known.longest) url.searchParams.delete("play");
  else url.searchParams.set("play", address);
  for (const name of ["scenario", "engine"]) url.searchParams.delete(name);
  page.history.replaceState(page.history.state, "", url);
  return url.href;
}
