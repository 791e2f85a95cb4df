// Part 2: the search, and its path as it grows.
import {$, h, message, options, percent} from "./dom.js";
import {post} from "./api.js";
import {known, part, take} from "./store.js";
import {bestOfSizes} from "./charts.js";
import {picture, room} from "./room.js";

const PRESETS = ["few", "balanced", "accurate"];
const HIGHER = ["log-likelihood", "auc", "penalised-auc"];
let points = [], waiting = false, redraw = null, trail = null;

const words = {
  auto: "chosen by the data", error: "wrong rows", probability: "expected share of wrong rows", "log-likelihood": "likelihood", auc: "ranking (AUC)", "penalised-auc": "ranking, fewer features preferred",
  forward: "add one by one", backward: "drop one by one", "forward-backward": "add, then drop, in turn", "backward-forward": "drop, then add, in turn", sffs: "add, with steps back", sbfs: "drop, with steps back", shortlist: "among the best alone",
};

const higher = () => HIGHER.includes(known.state.criterion);

async function search(fresh) {
  message();
  points = [];
  take(await post("search", {preset: PRESETS[$("preset").value], search: $("kind").value, criterion: $("criterion").value, fresh}));
}

const halt = async what => take(await post("halt", {what}));

async function pick(at) {
  if (!known.state.running) take(await post("pick", {at}));
}

// Shares of wrong rows from 0 on, with two standard errors around them.
function paint(width) {
  const found = bestOfSizes(points, higher()).filter(([, at]) => points[at][2] !== null);
  if (!found.length) { trail = null; return h("p", {class: "soft small"}, "No search yet."); }
  const line = found.map(([size, at]) => [size, points[at][2], points[at][3], at, 0]);
  const now = line.find(([size]) => size === known.state.subset?.length) ?? line.at(-1);
  trail = Charts.trail(width, {lines: [{name: "wrong rows", kind: "judge", points: line}], chosen: now, log: false, zoom: false, what: "features", zero: true, format: share => percent(share, share < 0.04 && share > 0 ? 1 : 0)});
  return trail;
}

function chart() {
  waiting = false;
  if (redraw) redraw(); else redraw = picture($("path"), paint);
}

function clicked(event) {
  const svg = room($("path")).querySelector("svg");
  if (trail && svg) pick(trail.nearest(event.clientX - svg.getBoundingClientRect().left));
}

export function heard(data) {
  if (data.n < points.length) points = [];
  points.push(...data.points);
  const left = data.left === null ? "" : `, about ${data.left < 1 ? "1 s" : `${Math.ceil(data.left)} s`} left`;
  const last = points.at(-1);
  $("progress").textContent = `${last[0]} features, wrong on ${percent(last[2])}; ${data.seconds.toFixed(1)} s${left}`;
  if (!waiting) { waiting = true; requestAnimationFrame(chart); }
}

function draw(what) {
  if (what !== "state") return;
  const {state} = known, run = state.running;
  options($("kind"), state.choices?.searches.map(name => [name, words[name] ?? name]) ?? [], state.settings?.search);
  options($("criterion"), state.choices?.criteria.map(name => [name, words[name] ?? name]) ?? [], state.settings?.criterion);
  if (state.settings && document.activeElement !== $("preset")) $("preset").value = Math.max(0, PRESETS.indexOf(state.settings.preset));
  $("preset").setAttribute("aria-valuetext", PRESETS[$("preset").value]);
  $("start").disabled = !state.open || run;
  $("start").textContent = state.subset?.length ? "Search on" : "Search";
  $("anew").disabled = !state.open || run || !state.subset?.length;
  $("pause").disabled = $("stop").disabled = !run;
  $("pause").textContent = state.paused ? "Go on" : "Pause";
  if (!run) {
    points = state.points ?? [];
    $("progress").textContent = points.length ? `${points.length} subsets visited` : state.open ? "Ready to search." : "";
  } else if (points.length < (state.points?.length ?? 0)) points = state.points;
  if (state.paused) $("progress").textContent = "paused; edit the list, or go on";
  const sizes = bestOfSizes(points, higher()).map(([size]) => size).filter(size => size > 0);
  $("sizes").hidden = run || sizes.length < 2;
  const slider = $("size");
  slider.min = 0;
  slider.max = Math.max(0, sizes.length - 1);
  if (document.activeElement !== slider) slider.value = Math.max(0, sizes.findIndex(size => size >= (state.subset?.length ?? 0)));
  $("size-now").textContent = `${sizes[slider.value] ?? ""} features`;
  slider.setAttribute("aria-valuetext", $("size-now").textContent);
  if (state.open || redraw) chart();
}

export function begin() {
  part(draw);
  $("path").addEventListener("click", clicked);
  $("start").addEventListener("click", () => search(false));
  $("anew").addEventListener("click", () => search(true));
  $("stop").addEventListener("click", () => halt("stop"));
  $("pause").addEventListener("click", () => halt(known.state.paused ? "go_on" : "pause"));
  $("preset").addEventListener("input", () => $("preset").setAttribute("aria-valuetext", PRESETS[$("preset").value]));
  const sizes = () => bestOfSizes(points, higher()).filter(([size]) => size > 0);
  $("size").addEventListener("input", () => { $("size-now").textContent = `${sizes()[$("size").value]?.[0]} features`; });
  $("size").addEventListener("change", () => { const found = sizes()[$("size").value]; if (found) pick(found[1]); });
}
