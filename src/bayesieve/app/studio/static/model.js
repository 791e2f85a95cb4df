// Part 4: what the model says, of all rows and of one; two subsets side by side.  The report draws it.
import {$, h, message, options, percent, put} from "./dom.js";
import {get, post} from "./api.js";
import {changed, known, part, take} from "./store.js";
import {picture, room} from "./room.js";
import * as rule from "./rule.js";

let model = null, version = -1, due = null, explorer = null, redraw = null, wanted = null, waiting = false;

const className = (problem, k) => problem.name === null ? String(problem.classes[k]) : k === 1 ? problem.name : `not ${problem.name}`;

function classes() {
  const problem = model.portable.problems[0], names = problem.classes.map((_, k) => [String(k), className(problem, k)]);
  options($("for"), names);
  options($("against"), names);
  if ($("for").dataset.set !== names.length.toString()) {
    $("for").dataset.set = names.length.toString();
    $("for").value = names.length > 1 ? "1" : "0";
    $("against").value = "0";
  }
}

function nomogram(width) {
  const {features, problems} = model.portable, values = explorer?.state.problem === 0 ? explorer.state.values : null;
  if ($("for").value === $("against").value) return h("p", {class: "soft"}, "Choose two classes that differ.");
  const said = features.map((each, j) => ({...each, name: model.rows.spoken[j]?.sentence ?? each.name}));
  const drawn = Nomogram.picture(width, said, problems[0], {target: Number($("for").value), against: Number($("against").value), values});
  return h("div", {}, drawn, model.shapes.map(([name, shape]) => [h("h4", {}, name), ...pictures(shape)]).flat());
}

// Nothing in a text that is parsed apart is run.
const pictures = text => [...new DOMParser().parseFromString(text, "text/html").body.children].map(each => document.importNode(each, true));

function nomogramLater() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; redraw?.(); });
}

// The same row, or the same values, in a model of other features.
function explore() {
  const old = explorer, place = h("div"), row = wanted ?? old?.told().row ?? null;
  room($("explorer")).replaceChildren(place);
  explorer = Explorer.mount(place, {...model, changed: nomogramLater});
  const at = row === null ? -1 : model.rows.at.indexOf(row);
  if (at >= 0) explorer.pickRow(at);
  else if (old) {
    const held = new Map(old.features.map((each, j) => [each.name, old.state.values[j]]));
    explorer.load(explorer.features.map((each, j) => held.has(each.name) ? held.get(each.name) : explorer.state.values[j]), null);
  }
}

async function fetchModel() {
  const at = known.state.version;
  const found = await get(wanted === null ? "model" : `model?rows=${wanted}`);
  if (!found || at !== known.state.version) return;
  model = known.model = found;
  version = at;
  if (model.said) message(model.said);
  if (known.active !== null) changed("active");
  classes();
  explorer = explorer && explorer.features.length ? explorer : null;
  explore();
  if (redraw) redraw(); else redraw = picture($("nomogram"), nomogram);
  rule.told(model);
}

async function showRow() {
  wanted = Math.max(0, Math.round(Number($("row").value) || 0));
  await fetchModel();
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
  if (!there) { model = known.model = explorer = null; return; }
  if (!state.running && version !== state.version) { clearTimeout(due); due = setTimeout(fetchModel, 150); }
}

export function begin() {
  part(draw);
  rule.begin();
  for (const id of ["for", "against"]) $(id).addEventListener("change", () => redraw?.());
  $("show-row").addEventListener("click", showRow);
  $("row").addEventListener("keydown", event => { if (event.key === "Enter") showRow(); });
  $("remember").addEventListener("click", async () => take(await post("remember")));
  $("compare").addEventListener("click", compare);
}
