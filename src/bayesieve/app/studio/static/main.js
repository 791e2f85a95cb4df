// The page: five parts that look at one session.
import {$, h, message, percent, put} from "./dom.js";
import {early, get, listen} from "./api.js";
import {changed, known, late, part, take} from "./store.js";
import * as data from "./data.js";
import * as search from "./search.js";
import * as list from "./list.js";
import * as model from "./model.js";
import * as out from "./out.js";

part(what => {
  if (what !== "state") return;
  const {state} = known, place = $("figures");
  $("undo").disabled = !state.undo;
  $("redo").disabled = !state.redo;
  if (!state.open) { put(place, h("span", {class: "soft"}, "From a table to a model that you can read.")); return; }
  const [error, spread] = state.error;
  put(place,
    h("strong", {}, `${state.subset.length} of ${state.n_columns.toLocaleString("en")}`), " features · wrong on ",
    h("strong", {id: "error", "data-value": error, "data-score": state.score, "data-version": state.version}, percent(error)), ` ± ${percent(spread)} of rows left out`);
});

for (const each of [data, search, list, model, out]) each.begin();

// A server that was started again counts versions from the beginning.
const begun = early("state").then(found => { if (found) take(found); return found?.version; });
let greeted = false;

async function greet(version) {
  const first = greeted ? null : await begun;
  greeted = true;
  if (first === version) return;
  known.state = {...known.state, version: -1};
  known.late = {version: -1, losses: {}, substitutes: {}};
  take(await get("state"));
}

listen(async (what, told) => {
  if (what === "progress") search.heard(told);
  else if (what === "failure") message(told.said);
  else if (what === "columns") list.refresh();
  else if (what === "losses") { late(told.version).losses = told.losses; changed("extras"); }
  else if (what === "substitute") { late(told.version).substitutes[told.column] = told; if (told.column === known.active) changed("extras"); }
  else if (what === "hello") greet(told.version);
  else if (told.version > known.state.version) take(await get("state"));
});

$("undo").addEventListener("click", () => list.edit("undo", [], ""));
$("redo").addEventListener("click", () => list.edit("redo", [], ""));
addEventListener("keydown", event => {
  if (!(event.ctrlKey || event.metaKey) || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === "z" && !event.shiftKey && known.state.undo) { event.preventDefault(); list.edit("undo", [], ""); }
  if ((event.key === "y" || (event.key === "z" && event.shiftKey)) && known.state.redo) { event.preventDefault(); list.edit("redo", [], ""); }
});
document.documentElement.dataset.ready = "yes";
