// Decisions: what a miss, a false alarm and a person's time cost, and the rule that is made of it.
import {$, h, options, percent, put} from "./dom.js";
import {get, post} from "./api.js";
import {known, part, take} from "./store.js";
import {picture} from "./room.js";

const ANY = 51, NOBODY = 50;
let verdicts = null, curve = null;

const verdict = () => verdicts[Number($("alarm").value)];
const asked = () => ({
  alarm: Number($("alarm").value), cost: Number($("cost").value),
  ask: Number($("unsure").value) > NOBODY ? (100 - Number($("unsure").value)) / 100 : null,
  ceiling: Number($("ceiling").value) < ANY ? Number($("ceiling").value) / 100 : null,
});

// Where on the curve a wish would stand, of rows judged by models made anew.
function place() {
  const {thresholds} = verdict(), {cost, ceiling} = asked();
  const first = holds => { const at = thresholds.findIndex(holds); return at < 0 ? thresholds.length - 1 : at; };
  const least = ceiling === null ? 0 : first(([, , f]) => (f ?? 0) <= ceiling);
  return ceiling !== null && cost === 1 ? least : Math.max(least, first(([t]) => t >= 1 / (1 + cost)));
}

function drawCurve(width) {
  const each = verdict(), [, found, wrong] = each.thresholds[place()];
  return Charts.roc(width, [{name: String(each.name), at: Number($("alarm").value), points: each.thresholds.map(([, d, f]) => [f ?? 0, d ?? 0]), now: [wrong ?? 0, found ?? 0]}]);
}

function show() {
  const {cost, ask, ceiling} = asked(), each = verdict(), [, found, wrong] = each.thresholds[place()];
  $("cost-now").textContent = cost === 1 ? "as much as a false alarm" : `as much as ${cost} false alarms`;
  $("unsure-now").textContent = ask === null ? "nobody" : cost === 1 ? `where no class is as probable as ${percent(1 - ask, 0)}` : `where it is worth ${ask.toFixed(2)} of a false alarm`;
  $("ceiling-now").textContent = ceiling === null ? "no limit" : `at most ${percent(ceiling, 0)}`;
  for (const id of ["cost", "unsure", "ceiling"]) $(id).setAttribute("aria-valuetext", $(`${id}-now`).textContent);
  $("curve-told").textContent = `About here: finds ${percent(found)} of ${each.name}, with ${percent(wrong)} false alarms.`;
  curve?.();
}

async function judge() {
  put($("decisions"), h("p", {class: "soft"}, "Evaluating …"));
  const found = await get("decisions");
  verdicts = found?.verdicts ?? null;
  if (!verdicts) { put($("decisions")); return; }
  const wish = known.state.rule ?? {alarm: verdicts.length > 1 ? 1 : 0, cost: 1, ask: null, ceiling: null};
  const select = h("select", {id: "alarm", "aria-label": "Alarm for", onchange: show});
  options(select, verdicts.map((each, k) => [String(k), String(each.name)]), String(wish.alarm));
  const slider = (id, text, min, max, value) => h("div", {class: "wish"}, h("label", {for: id}, text, " ", h("output", {id: `${id}-now`})), h("input", {id, type: "range", min, max, step: 1, value, oninput: show}));
  put($("decisions"),
    h("p", {class: "small"}, `Wrong on ${percent(found.error)} of ${found.n_rows.toLocaleString("en")} rows, by cross-validation of the model. The figure at the top is estimated differently and may differ a little. These rows also took part in the selection.`),
    h("div", {class: "bar"}, h("label", {for: "alarm"}, "Alarm for"), select),
    h("div", {id: "curve"}), h("p", {id: "curve-told", class: "small"}),
    slider("cost", "Missing one costs", 1, 100, wish.cost),
    slider("unsure", "Ask a person:", NOBODY, 99, wish.ask === null ? NOBODY : Math.round(100 - 100 * wish.ask)),
    slider("ceiling", "False alarms:", 1, ANY, wish.ceiling === null ? ANY : Math.round(100 * wish.ceiling)),
    h("div", {class: "buttons"}, h("button", {id: "make-rule", class: "main", onclick: () => set(asked())}, "Decide like this"), h("button", {id: "no-rule", disabled: !known.state.rule, onclick: () => set(null)}, "No rule")),
    h("p", {class: "soft small"}, known.state.n_aside ? `The rule is made on the ${known.state.n_aside.toLocaleString("en")} rows that are kept aside.`
      : "A rule needs held-out rows: a third of the rows will be kept aside, and the model is fitted on the others."));
  curve = picture($("curve"), drawCurve);
  show();
}

async function set(wish) {
  $("make-rule").disabled = true;
  const found = await post("rule", {rule: wish});
  $("make-rule").disabled = false;
  if (found) { take(found); if (verdicts) judge(); }
}

// What the rule of the model does, and did on the rows kept aside.
export function told({decision}) {
  if (!decision) { put($("rule")); return; }
  const names = [...new Set(decision.class.map(String))], outcomes = [...new Set(decision.decision.map(String))];
  const rows = (name, outcome) => decision.rows[decision.class.findIndex((each, i) => String(each) === name && String(decision.decision[i]) === outcome)];
  put($("rule"),
    h("p", {}, h("strong", {}, "The rule. "), decision.words.split("\n").join("; "), "."),
    h("p", {class: "soft small"}, "Rows kept aside: what they are, and what is decided."),
    h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows by class and decision"}, h("table", {},
      h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "is"), outcomes.map(each => h("th", {scope: "col"}, each)))),
      h("tbody", {}, names.map(name => h("tr", {}, h("th", {scope: "row"}, name), outcomes.map(each => h("td", {}, rows(name, each)))))))));
}

function draw(what) {
  if (what !== "state") return;
  if ($("no-rule")) $("no-rule").disabled = !known.state.rule;
  if (!known.state.open) { verdicts = curve = null; put($("decisions")); }
}

export function begin() {
  part(draw);
  $("judge").addEventListener("click", judge);
}
