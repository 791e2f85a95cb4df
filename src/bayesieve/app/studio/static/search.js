// Part 2: the search, and its path as it grows.
import {$, message, options, percent, put} from "./dom.js";
import {post} from "./api.js";
import {known, part, take} from "./store.js";
import {bestOfSizes, pathChart} from "./charts.js";

const PRESETS = ["few", "balanced", "accurate"];
const HIGHER = ["log-likelihood", "auc", "penalised-auc"];
let points = [], waiting = false;

const words = {
  auto: "as the table asks", error: "wrong rows", probability: "expected share of wrong rows", "log-likelihood": "likelihood", auc: "ranking (AUC)", "penalised-auc": "ranking, fewer features preferred",
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

function chart() {
  waiting = false;
  put($("path"), pathChart(points, known.state.subset?.length, higher(), pick));
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
  if (state.open) chart(); else put($("path"));
}

export function begin() {
  part(draw);
  $("start").addEventListener("click", () => search(false));
  $("anew").addEventListener("click", () => search(true));
  $("stop").addEventListener("click", () => halt("stop"));
  $("pause").addEventListener("click", () => halt(known.state.paused ? "go_on" : "pause"));
  $("preset").addEventListener("input", () => $("preset").setAttribute("aria-valuetext", PRESETS[$("preset").value]));
  const sizes = () => bestOfSizes(points, higher()).filter(([size]) => size > 0);
  $("size").addEventListener("input", () => { $("size-now").textContent = `${sizes()[$("size").value]?.[0]} features`; });
  $("size").addEventListener("change", () => { const found = sizes()[$("size").value]; if (found) pick(found[1]); });
}
