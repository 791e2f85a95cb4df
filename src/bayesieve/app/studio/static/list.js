// Part 3: all features; only the rows that can be seen are made.
import {$, classColour, h, message, options, percent, put} from "./dom.js";
import {early, get, post} from "./api.js";
import {changed, extras, known, part, take} from "./store.js";
import {histogram} from "./charts.js";

const looks = new Map();
let order = [], top = 0, dragged = null, marked = null, searched = false;

// An indicator is called by its sentence.
const said = j => known.columns.sentences?.[j] ?? known.columns.names[j];

const spoken = () => Boolean(known.columns?.sentences?.length);
const high = () => (innerWidth <= 720 ? 44 : 34) + (spoken() ? 44 : 0);

export async function edit(action, columns, note) {
  const found = await post("edit", {action, columns, note: note ?? $("note").value});
  if (!found) return;
  message();
  if (note === undefined) $("note").value = "";
  take(found);
}

function sorted() {
  const {state, columns} = known;
  if (!columns) return [];
  const words = $("filter").value.toLowerCase();
  let found = columns.names.map((_, j) => j);
  if (words) found = found.filter(j => said(j).toLowerCase().includes(words) || columns.names[j].toLowerCase().includes(words));
  const folded = $("fold").checked && columns.leaders?.length && !words;
  const special = new Set([...state.subset, ...state.pinned, ...state.struck]);
  if (folded) found = found.filter(j => columns.leaders[j] === j || special.has(j));
  const place = new Map(state.subset.map((j, i) => [j, i]));
  const struck = new Set(state.struck), alone = columns.alone;
  const rank = j => alone[j] ?? 2;
  const by = {
    in: (a, b) => (place.get(a) ?? 1e9) - (place.get(b) ?? 1e9) || struck.has(a) - struck.has(b) || rank(a) - rank(b) || a - b,
    alone: (a, b) => rank(a) - rank(b) || a - b,
    name: (a, b) => (said(a) < said(b) ? -1 : 1),
    table: (a, b) => a - b,
  };
  return found.sort(by[$("sort").value]);
}

// How many columns a column stands for.
function twins(j) {
  const columns = known.columns;
  if (!columns.leaders?.length) return 0;
  if (!columns.twins) {
    columns.twins = new Map();
    columns.leaders.forEach((first, k) => { if (first !== k) columns.twins.set(first, (columns.twins.get(first) ?? 0) + 1); });
  }
  return columns.twins.get(j) ?? 0;
}

// How much a feature tells of each class.
function strength(name) {
  const found = known.model?.features.find(each => each.feature === name);
  if (!found) return null;
  const most = Math.max(1e-9, ...known.model.features.flatMap(each => each.importance));
  return h("div", {class: "strength"}, found.importance.flatMap((each, k) => [
    h("span", {}, `evidence for ${known.state.classes[k] ?? known.model.classes[k]}`),
    h("span", {class: "worth"}, h("i", {style: {width: `${100 * each / most}%`, background: classColour(k)}}))]));
}

function button(text, label, pressed, disabled, tab, act) {
  return h("button", {type: "button", "aria-label": label, title: label, "aria-pressed": String(pressed), disabled, tabindex: tab, onclick: act}, text);
}

function row(j, at, sets) {
  const {state, columns, active} = known, {losses} = extras(), name = said(j);
  const inside = sets.in.has(j), pinned = sets.pinned.has(j), struck = sets.struck.has(j);
  const tab = j === active || (active === null && at === 0) ? "0" : "-1";
  const group = state.groups.findIndex(each => each.includes(j));
  const loss = losses[j], worst = Math.max(1e-12, ...Object.values(losses));
  return h("li", {
    class: [spoken() && "spoken", inside && "in", struck && "struck", j === active && "active"].filter(Boolean).join(" "), "data-column": j, draggable: "true", style: {top: `${at * high()}px`},
    "aria-posinset": at + 1, "aria-setsize": order.length,
    ondragstart: event => { dragged = j; event.dataTransfer.setData("text/plain", name); },
    ondragover: event => { if (dragged !== null && dragged !== j) { event.preventDefault(); event.currentTarget.classList.add("over"); } },
    ondragleave: event => event.currentTarget.classList.remove("over"),
    ondrop: event => { event.preventDefault(); event.stopPropagation(); if (dragged !== null) together(dragged, j); dragged = null; },
  },
    h("button", {type: "button", class: "name", tabindex: tab, title: name, onclick: () => show(j)}, name),
    group >= 0 && h("span", {class: "soft small"}, `group ${group + 1}`),
    twins(j) > 0 && $("fold").checked && h("span", {class: "soft small", title: "columns that are nearly the same"}, `+${twins(j)}`),
    columns.flags[j] && h("span", {class: "flag"}, columns.flags[j]),
    inside && h("span", {class: "worth", title: loss === undefined ? "" : "what it is worth to the model"},
      h("i", {style: {width: `${loss === undefined ? 0 : Math.max(2, 100 * Math.max(0, loss) / worst)}%`}})),
    button(inside ? "in" : "out", inside ? `In: take ${name} out of the model` : `Out: take ${name} into the model`, inside, struck || (inside && pinned), tab, () => edit(inside ? "drop" : "add", [j])),
    button("pin", `Pin ${name}: it must stay`, pinned, struck, tab, () => edit(pinned ? "release" : "pin", [j])),
    button("strike", `Strike ${name}: never use it`, struck, pinned, tab, () => edit(struck ? "release" : "strike", [j])));
}

function together(one, two) {
  const groups = known.state.groups, all = j => groups.find(each => each.includes(j)) ?? [j];
  edit("group", [...new Set([...all(one), ...all(two)])]);
}

function draw() {
  const {state} = known, place = $("rows"), tall = high();
  const sets = {in: new Set(state.subset), pinned: new Set(state.pinned), struck: new Set(state.struck)};
  const first = Math.max(0, Math.floor(place.scrollTop / tall) - 4);
  const last = Math.min(order.length, first + Math.ceil((place.clientHeight || 400) / tall) + 10);
  top = first;
  const held = document.activeElement?.closest?.("#visible li");
  const focus = held && [held.dataset.column, [...held.querySelectorAll("button")].indexOf(document.activeElement)];
  const list = $("visible");
  list.style.height = `${order.length * tall}px`;
  put(list, ...order.slice(first, last).map((j, i) => row(j, first + i, sets)));
  if (focus) list.querySelector(`li[data-column="${focus[0]}"]`)?.querySelectorAll("button")[focus[1]]?.focus({preventScroll: true});
}

async function show(j) {
  known.active = j;
  changed("active");
  if (!looks.has(`${known.state.opened}:${j}`)) {
    const found = await get(`histograms?at=${j}`);
    if (found) looks.set(`${known.state.opened}:${j}`, found[j]);
  }
  if (known.active === j) changed("active");
}

async function model(j, value) {
  const features = {...known.state.features};
  if (value === "auto") delete features[known.columns.names[j]]; else features[known.columns.names[j]] = value;
  message("Reading the column in another way …");
  const found = await post("target", {target: known.state.target ?? "", features});
  if (found) { message(); take(found); }
}

function detail() {
  const {active: j, state, columns} = known, {losses, substitutes} = extras(), place = $("detail");
  if (j === null || !columns || !state.open) { put(place); return; }
  const name = said(j), look = looks.get(`${state.opened}:${j}`), by = substitutes[j];
  const inside = state.subset.includes(j), group = state.groups.find(each => each.includes(j));
  const kinds = h("select", {"aria-label": `How ${name} is read`, onchange: event => model(j, event.target.value)});
  options(kinds, state.choices.models.map(each => [each, each === "auto" ? "read as it looks" : each]), state.features?.[columns.names[j]] ?? "auto");
  put(place,
    h("p", {}, h("strong", {}, name), ` · ${columns.kinds[j]}, ${percent(columns.missing[j], 0)} missing${columns.alone[j] === undefined || columns.alone[j] === null ? "" : `; alone wrong on ${percent(columns.alone[j])}`}`),
    look ? histogram(look, state.classes) : h("p", {class: "soft small"}, "…"),
    inside && strength(columns.names[j]),
    inside && losses[j] !== undefined && h("p", {}, losses[j] > 0 ? `Without it the model gets worse by ${amount(losses[j])}.` : "The model is as good without it."),
    inside && by && h("p", {}, "Could be replaced by ", h("strong", {}, said(by.by)), ` (${by.loss > 0 ? "worse" : "better"} by ${amount(Math.abs(by.loss))}) `,
      h("button", {onclick: () => edit("swap", [j, by.by]), disabled: state.pinned.includes(j)}, "Swap")),
    h("div", {class: "bar"}, kinds,
      h("button", {onclick: () => mark(j)}, marked === null ? "Group with …" : marked === j ? "Not after all" : `Group with ${said(marked)}`),
      group && h("button", {onclick: () => edit("group", [j])}, "Leave its group")));
}

const amount = by => (["error", "probability", "auc"].includes(known.state.criterion) ? percent(by, 2) : by.toPrecision(3));

function mark(j) {
  if (marked === null) marked = j;
  else { if (marked !== j) together(marked, j); marked = null; }
  changed("active");
}

function log() {
  put($("log"), ...(known.state.log ?? []).slice().reverse().map(entry =>
    h("li", {}, `${entry.action} ${entry.columns.join(", ")}${entry.note ? ` – ${entry.note}` : ""} `, h("span", {class: "soft"}, `(${entry.n_features} in)`))));
}

function keys(event) {
  const li = event.target.closest("#visible li");
  if (!li || event.ctrlKey || event.metaKey || event.altKey) return;
  const j = Number(li.dataset.column), at = order.indexOf(j), {state} = known;
  const move = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10}[event.key];
  if (move) {
    event.preventDefault();
    const next = Math.min(order.length - 1, Math.max(0, at + move)), place = $("rows"), tall = high();
    if (next * tall < place.scrollTop) place.scrollTop = next * tall;
    if ((next + 1) * tall > place.scrollTop + place.clientHeight) place.scrollTop = (next + 1) * tall - place.clientHeight;
    known.active = order[next];
    draw();
    $("visible").querySelector(`li[data-column="${order[next]}"] .name`)?.focus({preventScroll: true});
    detail();
    show(order[next]);
  } else if (event.key === "p") edit(state.pinned.includes(j) ? "release" : "pin", [j]);
  else if (event.key === "x") edit(state.struck.includes(j) ? "release" : "strike", [j]);
  else if (event.key === "g") mark(j);
  else return;
  event.preventDefault();
}

let coming = false;

async function fetchColumns() {
  if (!known.state.open || known.columns || coming) return;
  coming = true;
  let found = await early("columns");
  if (found?.opened !== known.state.opened) found = await get("columns");
  coming = false;
  if (found?.opened === known.state.opened) { known.columns = found; changed("columns"); } else if (found) fetchColumns();
}

function heard(what) {
  if (what === "state") {
    fetchColumns();
    if (searched && !known.state.running) $("rows").scrollTop = 0;  // what was found stands first
    searched = known.state.running;
  }
  if (!known.state.open || !known.columns) { put($("visible"), h("li", {class: "soft"}, "The features will be listed here.")); order = []; $("count").textContent = ""; detail(); log(); return; }
  if (["state", "columns", "order"].includes(what)) {
    order = sorted();
    const {state} = known;
    $("count").textContent = `${state.subset.length} in, ${state.struck.length} struck, of ${state.n_columns.toLocaleString("en")}${$("filter").value ? `; ${order.length.toLocaleString("en")} found` : ""}`;
  }
  draw();
  detail();
  if (what === "state") log();
}

export async function refresh() {
  const found = await get("columns");
  if (found && found.opened === known.state.opened) { known.columns = found; changed("columns"); }
}

export function begin() {
  part(heard);
  $("rows").addEventListener("scroll", () => { if (Math.abs($("rows").scrollTop / high() - 4 - top) > 2) requestAnimationFrame(draw); });
  $("filter").addEventListener("input", () => { $("rows").scrollTop = 0; changed("order"); });
  $("fold").addEventListener("change", () => { $("rows").scrollTop = 0; changed("order"); });
  $("sort").addEventListener("change", () => { $("rows").scrollTop = 0; changed("order"); });
  $("list").addEventListener("keydown", keys);
  addEventListener("resize", () => { if (known.columns) draw(); });
  $("note").addEventListener("keydown", event => { if (event.key === "Enter" && event.target.value) edit("note", []); });
}
