// Part 4: what the model says, of all rows and of one; thresholds; two subsets side by side.
import {$, h, options, percent, put} from "./dom.js";
import {get, post} from "./api.js";
import {changed, known, part, take} from "./store.js";
import {tradeOff} from "./charts.js";

const MOST_VALUES = 7;
let model = null, version = -1, due = null, verdicts = null, threshold = 50;

const times = ratio => {
  const factor = Math.exp(Math.abs(ratio));
  return factor < 1.005 ? "–" : `× ${factor < 10 ? factor.toFixed(1) : factor < 1000 ? Math.round(factor) : "> 1000"}`;
};
const shown = value => (typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value ?? "missing"));

function bar(ratio, most) {
  const wide = 50 * Math.min(1, Math.abs(ratio) / most);
  return h("span", {class: "track"}, h("i", {class: ratio > 0 ? "for" : "against", style: {left: `${ratio > 0 ? 50 : 50 - wide}%`, width: `${wide}%`}}));
}

function lines(found, most, kind = "scale") {
  return found.map(([value, ratio]) => h("div", {class: kind}, value instanceof Node ? h("span", {class: "value"}, value) : h("span", {class: "value", title: shown(value)}, shown(value)), bar(ratio, most), h("span", {class: "times"}, times(ratio))));
}

function some(values) {
  if (values.length <= MOST_VALUES) return values;
  return Array.from({length: MOST_VALUES}, (_, i) => values[Math.round(i * (values.length - 1) / (MOST_VALUES - 1))]);
}

function nomogram() {
  if (!model) return;
  const names = model.classes.map((name, k) => [String(k), String(name)]);
  options($("for"), names);
  options($("against"), names);
  if ($("for").dataset.set !== names.length.toString()) {
    $("for").dataset.set = names.length.toString();
    $("for").value = names.length > 1 ? "1" : "0";
    $("against").value = "0";
  }
  const k = Number($("for").value), other = Number($("against").value);
  const found = model.features.map(each => [each, each.values.map((value, i) => [value, ((each.terms[i]?.[k] ?? 0) - (each.terms[i]?.[other] ?? 0)) / model.temperature])]);
  const most = Math.max(0.1, ...found.flatMap(([, pairs]) => pairs.map(([, ratio]) => Math.abs(ratio))));
  const long = ([, pairs]) => Math.max(0, ...pairs.map(([, r]) => r)) - Math.min(0, ...pairs.map(([, r]) => r));
  found.sort((a, b) => long(b) - long(a));
  put($("nomogram"),
    h("p", {class: "soft small"}, k === other ? "Choose two classes that differ." : `${found.length} ${found.length === 1 ? "feature" : "features, strongest first"}: how many times likelier each value makes ${model.classes[k]} (right) or ${model.classes[other]} (left).`),
    ...found.map(([each, pairs]) => h("div", {class: "feature"}, h("strong", {}, each.feature), lines(some(pairs), most))));
}

async function fetchModel() {
  const at = known.state.version;
  const found = await get("model");
  if (!found || at !== known.state.version) return;
  model = known.model = found;
  if (known.active !== null) changed("active");
  version = at;
  nomogram();
  if ($("evidence").childElementCount) row();
}

let changes = {};

function typed(one) {
  const held = one.value === null ? "" : String(one.value);
  return h("label", {}, `${one.feature} = `, h("input", {
    class: "typed", value: held, "aria-label": one.feature, onchange: event => { changes[one.feature] = event.target.value; row(); },
  }));
}

async function row() {
  const at = Math.max(0, Math.round(Number($("row").value) || 0)), other = Object.keys(changes).length > 0;
  const found = await post("row", {at, changes});
  if (!found) return;
  const [each] = found.found, right = String(each.target) === found.truth;
  const most = Math.max(0.1, ...each.evidence.map(one => Math.abs(one.log_ratio)));
  put($("evidence"),
    h("p", {}, "Taken for ", h("strong", {}, String(each.target)), ` (${percent(each.probability)})`, other ? ", with values of your own. " : right ? ", rightly." : `, but it is ${found.truth}.`,
      other && h("button", {onclick: () => { changes = {}; row(); }}, "As it was")),
    h("p", {class: "soft small"}, `What speaks for ${each.target} (right) and for ${each.against} (left):`),
    ...lines(each.evidence.slice().sort((a, b) => Math.abs(b.log_ratio) - Math.abs(a.log_ratio)).slice(0, 30).map(one =>
      [one.feature === "(prior)" ? "before looking" : typed(one), one.log_ratio]), most, "scale long"));
}

async function judge() {
  put($("decisions"), h("p", {class: "soft"}, "Judging …"));
  const found = await get("decisions");
  verdicts = found?.verdicts ?? null;
  if (!verdicts) { put($("decisions")); return; }
  const select = h("select", {id: "alarm", "aria-label": "Alarm for", onchange: trade});
  options(select, verdicts.map((each, k) => [String(k), String(each.name)]), verdicts.length > 1 ? "1" : "0");
  const slider = (id, text, min, max, value, act) => [h("label", {for: id}, text, " ", h("output", {id: `${id}-now`})), h("input", {id, type: "range", min, max, step: 1, value, oninput: act})];
  put($("decisions"),
    h("p", {class: "small"}, `Wrong on ${percent(found.error)} of ${found.n_rows.toLocaleString("en")} rows. Each was judged by a model made anew of other rows, which the figure at the top is not: they may differ a little. The list itself was made with all rows.`),
    h("div", {class: "bar"}, h("label", {for: "alarm"}, "Alarm for"), select),
    h("div", {id: "curve"}),
    ...slider("threshold", "Alarm from a probability of", 0, verdicts[0].thresholds.length - 1, threshold, () => { threshold = Number($("threshold").value); trade(); }),
    ...slider("ceiling", "At most this share of false alarms:", 0, 50, 5, () => { threshold = within(Number($("ceiling").value) / 100); trade(); }),
    ...slider("cost", "A missed case costs as much as this many false alarms:", 1, 100, 1, () => { threshold = cheapest(Number($("cost").value)); trade(); }),
    ...slider("unsure", "Ask a person below a certainty of", 50, 99, 50, trade));
  threshold = verdicts[0].thresholds.findIndex(([t]) => t >= 0.5);
  trade();
}

const verdict = () => verdicts[Number($("alarm").value)];
const within = share => Math.max(0, verdict().thresholds.findIndex(([, , f]) => (f ?? 0) <= share));
function cheapest(cost) {
  const {positives, negatives, thresholds} = verdict();
  const paid = thresholds.map(([, d, f]) => cost * positives * (1 - (d ?? 0)) + negatives * (f ?? 0));
  return paid.indexOf(Math.min(...paid));
}

function trade() {
  const {thresholds, calibration, positives, negatives} = verdict(), [t, found, wrong] = thresholds[threshold];
  $("threshold").value = threshold;
  $("threshold-now").textContent = percent(t, t < 0.01 || t > 0.99 ? 3 : 0);
  $("ceiling-now").textContent = `${$("ceiling").value} %`;
  $("cost-now").textContent = $("cost").value;
  const sure = Number($("unsure").value) / 100;
  const asked = calibration.filter(([mean]) => Math.max(mean, 1 - mean) < sure).reduce((sum, each) => sum + each[2], 0) / (positives + negatives);
  $("unsure-now").textContent = `${$("unsure").value} %: ${sure > 0.5 ? `about ${percent(asked, 0)} of rows` : "nobody is asked"}`;
  put($("curve"), tradeOff(thresholds, threshold), h("p", {class: "small"}, `Finds ${percent(found)} of ${verdict().name}, with ${percent(wrong)} false alarms.`));
}

async function compare() {
  const found = await get("compared");
  if (!found) return;
  put($("compared"),
    h("p", {class: "small"}, `Now wrong on ${percent(found.error[0])}, remembered ${percent(found.other_error[0])} (${found.other.length} features). They differ on ${found.n_apart.toLocaleString("en")} of ${found.n_rows.toLocaleString("en")} rows.`),
    found.rows.length ? h("div", {class: "scroll", tabindex: "0", "aria-label": "Rows that differ"}, h("table", {},
      h("thead", {}, h("tr", {}, ["row", "is", "now", "remembered"].map(each => h("th", {scope: "col"}, each)))),
      h("tbody", {}, found.rows.map(each => h("tr", {}, h("td", {}, each.row), h("td", {}, each.truth), h("td", {}, each.now), h("td", {}, each.before)))))) : "");
}

function draw(what) {
  if (what !== "state") return;
  const {state} = known, there = Boolean(state.open && state.subset.length);
  $("model-part").hidden = !there;
  $("no-model").hidden = there;
  $("compare").disabled = !state.compared;
  if (!there) { model = known.model = null; return; }
  if (!state.running && version !== state.version) { clearTimeout(due); due = setTimeout(fetchModel, 150); }
}

export function begin() {
  part(draw);
  $("for").addEventListener("change", nomogram);
  $("against").addEventListener("change", nomogram);
  const fresh = () => { changes = {}; row(); };
  $("show-row").addEventListener("click", fresh);
  $("row").addEventListener("keydown", event => { if (event.key === "Enter") fresh(); });
  $("judge").addEventListener("click", judge);
  $("remember").addEventListener("click", async () => take(await post("remember")));
  $("compare").addEventListener("click", compare);
}
