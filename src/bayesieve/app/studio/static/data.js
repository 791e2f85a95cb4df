// Part 1: the table, and what is odd about it.
import {$, classColour, h, message, options, percent, put} from "./dom.js";
import {post, upload, uploadFolder} from "./api.js";
import {known, part, take} from "./store.js";

let files = null;

async function open(file) {
  $("file-name").textContent = `Reading ${file.name} …`;
  const found = await upload(file);
  if (found) { message(); take(found); if (!found.open) $("target").focus(); } else draw("state");
}

async function openFolder(files) {
  const kept = [...files].filter(file => !file.name.startsWith("."));
  if (!kept.length) return;
  $("file-name").textContent = `Reading ${kept.length} files …`;
  const found = await uploadFolder(kept);
  if (found) { message(); take(found); } else draw("state");
}

async function addLabels(file) {
  const found = await upload(file, "labels");
  if (found) { message(); take(found); }
}

// How the rows of the file are to be read, as the page says.
const shape = () => ({kind: $("shape").value, id: $("series-id").value, time: $("series-time").value, window: Number($("window").value) || null});

function shaped() {
  const kind = $("shape").value;
  $("long-part").hidden = kind !== "long";
  $("series-part").hidden = kind === "table";
}

async function again(change) {
  message("Reading again …");
  const found = await post("target", {target: known.state.target ?? "", features: known.state.features ?? {}, ...change});
  if (found) { message(); take(found); } else draw("state");
}

async function choose() {
  const button = $("open");
  button.disabled = true;
  button.textContent = "Reading …";
  const found = await post("target", {target: $("target").value, series: shape()});
  button.disabled = false;
  button.textContent = "Use this column";
  if (found) { message(); take(found); }
}

function facts(state) {
  const rows = [[state.series ? state.series.window ? "windows" : "series" : "rows", state.n_rows.toLocaleString("en")], [state.series ? "indicators" : "columns", state.n_columns.toLocaleString("en")], ["target", state.target || "the classes given"]];
  if (state.n_aside) rows.splice(1, 0, ["kept aside", state.n_aside.toLocaleString("en")]);
  put($("facts"), ...rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]).flat());
  put($("class-key"), ...state.classes.slice(0, 12).map((name, k) =>
    h("span", {}, h("i", {style: {background: classColour(k)}}), `${name} (${state.class_counts[k]?.toLocaleString("en") ?? "–"})`)));
}

function odd(state) {
  const found = (state.notes ?? []).map(note => h("li", {}, note));
  found.push(...Object.entries(state.left_out).map(([name, why]) => h("li", {}, `${name} ${why}: left out`)));
  const columns = known.columns, name = j => columns.sentences?.[j] ?? columns.names[j];
  const words = {leak: "predicts the class alone (a leak?): is it known beforehand?", identifier: "seems to number the rows", constant: "is always the same"};
  columns?.flags.forEach((flag, j) => { if (flag && !(state.series && flag === "constant") && found.length < 50) found.push(h("li", {}, `${name(j)} ${words[flag] ?? flag}`)); });
  columns?.missing.forEach((share, j) => { if (share > 0.5 && found.length < 50) found.push(h("li", {}, `${name(j)} is missing in ${percent(share, 0)}`)); });
  put($("odd"), ...(found.length ? [h("h3", {}, "Worth a look"), h("ul", {class: "small", tabindex: "0", "aria-label": "Columns worth a look"}, found)] : []));
}

function draw(what) {
  if (what !== "state" && what !== "columns") return;
  const state = known.state;
  $("file-name").textContent = state.file ? state.file : "Drop a table here, or";
  const folder = state.series?.kind === "folder";
  $("target-part").hidden = !state.file || !(state.targets.length || folder);
  if (files !== state.file) {
    files = state.file;
    $("shape").value = state.series?.kind ?? "table";
    $("series-id").value = state.series?.id ?? "";
    $("series-time").value = state.series?.time ?? "";
    $("window").value = state.series?.window ?? "";
  }
  $("shape-part").hidden = folder;
  $("labels-name").textContent = state.labels ?? "";
  shaped();
  options($("targets"), state.targets.slice(0, 5000).map(name => [name, ""]));
  if (state.target && document.activeElement !== $("target")) $("target").value = state.target;
  if (document.activeElement !== $("rows-out")) $("rows-out").value = state.rows_out ?? "";
  $("aside").checked = state.n_aside > 0;
  $("about").hidden = !state.open;
  // One button stands out: the next step.
  $("choose").classList.toggle("main", !state.file);
  $("open").classList.toggle("main", !state.open);
  if (state.open) { facts(state); odd(state); }
}

export function begin() {
  part(draw);
  $("file").addEventListener("change", event => { if (event.target.files[0]) open(event.target.files[0]); });
  $("folder").addEventListener("change", event => openFolder(event.target.files));
  $("labels").addEventListener("change", event => { if (event.target.files[0]) addLabels(event.target.files[0]); });
  $("shape").addEventListener("change", shaped);
  $("open").addEventListener("click", choose);
  $("leave-out").addEventListener("click", () => again({rows: $("rows-out").value}));
  $("aside").addEventListener("change", () => again({aside: $("aside").checked}));
  $("target").addEventListener("keydown", event => { if (event.key === "Enter") choose(); });
  const drop = $("drop");
  addEventListener("dragover", event => { if (event.dataTransfer?.types.includes("Files")) { event.preventDefault(); drop.classList.add("over"); } });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", event => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    drop.classList.remove("over");
    open(event.dataTransfer.files[0]);
  });
}
