"use strict";
// The decision explorer: values, priors, bars, and the training data behind a bar.
const Explorer = (() => {
  const {features, problems} = DATA.portable;
  const state = {problem: 0, values: features.map(() => null), prior: null, target: 1, against: 0,
    row: null, source: null};

  const problem = () => problems[state.problem];
  const className = k => problem().name === null ? String(problem().classes[k])
    : (k === 1 ? problem().name : `not ${problem().name}`);
  const number = x => x === Infinity ? "+∞" : x === -Infinity ? "−∞"
    : (x >= 0 ? "+" : "−") + Math.abs(x).toFixed(3);
  const chance = p => p > 0 && p < 1e-4 ? p.toExponential(3)
    : p < 1 && p > 0.9999 ? `1 − ${(1 - p).toExponential(2)}` : p.toFixed(4);

  // -- state --------------------------------------------------------------------------------

  function compute() {
    const found = Model.terms(features, problem(), state.values, state.prior);
    const totals = Model.sums(found, problem().classes.length);
    return {found, totals, probability: Model.probabilities(totals, problem().temperature)};
  }

  // The value that a class shows most: where the explorer starts.
  function typical(k) {
    return features.map((feature, j) => {
      const term = problem().terms[j];
      if (feature.levels === null) {
        const source = DATA.sources[state.problem][j][1];
        return Number((source.median ?? source.mean)[k].toPrecision(6));
      }
      let best = null;
      term.table.forEach((row, v) => {
        if (best === null || Model.apart(row[k], term.table[best][k]) > 0) best = v;
      });
      return best;
    });
  }

  function pickTwo(totals) {
    const order = totals.map((_, k) => k)
      .sort((a, b) => Model.apart(totals[b], totals[a]) || a - b);
    [state.target, state.against] = order;
  }

  // -- building -----------------------------------------------------------------------------

  function options(select, names, chosen) {
    select.replaceChildren(...names.map(([value, text]) => make("option", text, {value})));
    select.value = String(chosen);
  }

  function valueControl(j) {
    const feature = features[j], outer = make("td"), cell = make("div", null, {class: "control"});
    outer.append(cell);
    if (feature.levels !== null) {
      const select = make("select", null, {"aria-label": `value of ${feature.name}`, id: `value-${j}`});
      options(select, [["", "(missing)"], ...feature.levels.map((level, v) => [v, String(level)])],
        state.values[j] === null ? "" : state.values[j]);
      select.addEventListener("change", () => {
        setValue(j, select.value === "" ? null : Number(select.value));
      });
      cell.append(select);
      return outer;
    }
    const [low, high] = feature.range ?? [0, 1];
    const span = high > low ? high - low : 1;
    const slider = make("input", null, {type: "range", min: low - span / 4, max: high + span / 4,
      step: span / 1000, "aria-label": `${feature.name}, slider`, id: `slider-${j}`});
    const box = make("input", null, {type: "number", step: "any", id: `value-${j}`,
      "aria-label": `value of ${feature.name}; empty is missing`});
    slider.addEventListener("input", () => {
      box.value = slider.value;
      setValue(j, Number(slider.value));
    });
    box.addEventListener("input", () => {
      const value = box.value === "" ? null : Number(box.value);
      if (value !== null) slider.value = value;
      setValue(j, value);
    });
    cell.append(slider, box);
    return outer;
  }

  function build() {
    const body = byId("bars");
    const rows = [make("tr", null, {id: "bar-prior", class: "prior"})];
    rows[0].append(make("th", "prior", {scope: "row"}), make("td", "classes where it is used"),
      barCell(), make("td", null, {class: "ratio"}), make("td"));
    features.forEach((feature, j) => {
      const row = make("tr", null, {id: `bar-${j}`});
      const button = make("button", "source", {type: "button", id: `source-${j}`,
        "aria-label": `training data behind ${feature.name}`});
      button.addEventListener("click", () => openSource(j));
      const last = make("td");
      last.append(button);
      row.append(make("th", feature.name, {scope: "row"}), valueControl(j), barCell(),
        make("td", null, {class: "ratio"}), last);
      rows.push(row);
    });
    problem().pairs.forEach((pair, p) => {
      const row = make("tr", null, {id: `bar-${features.length + p}`});
      const name = pair.columns.map(j => features[j].name).join(" x ");
      row.append(make("th", name, {scope: "row"}), make("td", "both together"), barCell(),
        make("td", null, {class: "ratio"}), make("td"));
      rows.push(row);
    });
    body.replaceChildren(...rows);
    buildPriors();
  }

  function barCell() {
    const cell = make("td", null, {class: "bar"});
    cell.append(make("span", null, {class: "stick"}));
    return cell;
  }

  function buildPriors() {
    const place = byId("priors");
    place.replaceChildren(...problem().classes.map((_, k) => {
      const label = make("label", className(k) + " ");
      const box = make("input", null, {type: "number", min: 0, max: 1, step: "any", id: `prior-${k}`});
      box.addEventListener("change", () => {
        const p = Number(box.value);
        if (box.value !== "" && p >= 0 && p <= 1) setPrior(k, p);
        else show();
      });
      label.append(box);
      return label;
    }));
    const names = problem().classes.map((_, k) => [k, className(k)]);
    options(byId("target"), names, state.target);
    options(byId("against"), names, state.against);
    const buttons = problem().classes.map((_, k) => {
      const button = make("button", `typical for ${className(k)}`, {type: "button"});
      button.addEventListener("click", () => load(typical(k), null));
      return button;
    });
    byId("typical").replaceChildren(...buttons);
  }

  // -- changing -----------------------------------------------------------------------------

  function setValue(j, value) {
    state.values[j] = value;
    state.row = null;
    show();
    if (state.source === j) openSource(j, false);
  }

  function trainingPrior() {
    return problem().shares;
  }

  // One class gets its share; the others keep their proportions.
  function setPrior(k, p) {
    const old = state.prior ?? trainingPrior();
    const rest = old.reduce((sum, each, i) => i === k ? sum : sum + each, 0);
    const others = old.length - 1;
    state.prior = old.map((each, i) => i === k ? p
      : rest > 0 ? each / rest * (1 - p) : (1 - p) / others);
    show();
  }

  function load(values, row) {
    state.values = [...values];
    state.row = row;
    pickTwo(compute().totals);
    features.forEach((feature, j) => {
      const value = state.values[j];
      byId(`value-${j}`).value = value === null || value < 0 && feature.levels !== null ? "" : value;
      if (feature.levels === null && value !== null) byId(`slider-${j}`).value = value;
    });
    sortBars();
    show();
    closeSource();
  }

  // Strongest first; not while values are being changed, so that nothing jumps under the hand.
  function sortBars() {
    const {found} = compute();
    const size = j => Math.abs(Model.apart(found[j + 1][state.target], found[j + 1][state.against]));
    const order = found.slice(1).map((_, j) => j).sort((a, b) => size(b) - size(a) || a - b);
    byId("bars").append(...order.map(j => byId(`bar-${j}`)));
  }

  // -- showing ------------------------------------------------------------------------------

  function show() {
    const {found, totals, probability} = compute();
    const temperature = problem().temperature;
    const ratios = found.map(
      term => Model.apart(term[state.target], term[state.against]) / temperature);
    const longest = Math.max(1e-9, ...ratios.map(Math.abs).filter(Number.isFinite));
    ratios.forEach((ratio, i) => {
      const row = byId(i === 0 ? "bar-prior" : `bar-${i - 1}`);
      const stick = row.querySelector(".stick");
      const width = Number.isFinite(ratio) ? 50 * Math.abs(ratio) / longest : 50;
      stick.style.width = `${width}%`;
      stick.style.left = ratio >= 0 ? "50%" : `${50 - width}%`;
      stick.className = `stick ${ratio >= 0 ? "for" : "against"}`;
      const cell = row.querySelector(".ratio");
      cell.textContent = number(ratio);
      cell.dataset.value = ratio;
    });
    const total = Model.apart(totals[state.target], totals[state.against]) / temperature;
    const out = byId("probability");
    out.textContent = `P(${className(state.target)}) = ${chance(probability[state.target])}`;
    out.dataset.value = probability[state.target];
    byId("log-odds").textContent =
      `log-odds ${number(total)} for ${className(state.target)} against ${className(state.against)}`;
    byId("log-odds").dataset.value = total;
    byId("all-classes").replaceChildren(...probability.map((p, k) => {
      const item = make("li", `${className(k)}: ${chance(p)}`);
      item.dataset.value = p;
      return item;
    }));
    const prior = state.prior ?? trainingPrior();
    prior.forEach((p, k) => { byId(`prior-${k}`).value = Number(p.toPrecision(6)); });
    const p = Math.min(Math.max(prior[state.target], 1e-9), 1 - 1e-9);
    byId("prior-slider").value = Math.log(p / (1 - p));
    byId("prior-name").textContent = className(state.target);
    byId("target").value = state.target;
    byId("against").value = state.against;
    showTruth(probability);
  }

  function showTruth(probability) {
    const said = byId("truth");
    if (state.row === null || DATA.rows === null) { said.textContent = ""; return; }
    const best = probability.indexOf(Math.max(...probability));
    const truth = DATA.rows.truth[state.row];
    const name = Array.isArray(truth) ? className(truth[state.problem]) : String(truth);
    said.textContent = `Truth: ${name}. Decision: ${className(best)}`
      + (name === className(best) ? "." : ", wrong.");
  }

  // -- the training data behind a bar ---------------------------------------------------------

  // The panel stands right below its bar.
  const panel = byId("source"), panelRow = make("tr", null, {class: "source"});
  const panelCell = make("td", null, {colspan: 5});
  panelRow.append(panelCell);

  function closeSource() {
    state.source = null;
    panel.hidden = true;
    panelRow.remove();
  }

  function openSource(j, focus = true) {
    state.source = j;
    const feature = features[j], value = state.values[j];
    const missing = value === null || value < 0 && feature.levels !== null;
    const shown = missing ? "missing" : feature.levels !== null ? feature.levels[value] : value;
    // First, since nothing in the panel is found while it is off the page.
    panelCell.append(panel);
    byId(`bar-${j}`).after(panelRow);
    byId("source-title").textContent = `${feature.name} = ${shown}`;
    byId("source-counts").replaceChildren(...sourceRows(j, value, missing));
    showRows(j, value, missing);
    showSignal(j);
    panel.hidden = false;
    if (focus) byId("source-title").focus();
  }

  function sourceRows(j, value, missing) {
    const [counts, source] = DATA.sources[state.problem][j];
    const total = problem().class_count;
    const head = make("tr");
    const columns = counts !== null ? ["class", missing ? "rows without a value" : source.cuts ? "rows near this value" : "rows with this value", "rows", "share"]
      : ["class", "rows", "mean", "standard deviation", "without a value"];
    head.append(...columns.map(text => make("th", text, {scope: "col"})));
    const rows = problem().classes.map((_, k) => {
      const row = make("tr");
      const cells = counts === null
        ? [source.rows[k], source.mean[k]?.toPrecision(5) ?? "–", source.sd[k]?.toPrecision(5) ?? "–", source.missing[k]]
        : (() => {
          const at = source.cuts ? Model.below(value, source.cuts) : value;
          const n = missing ? source.missing[k] : counts[at]?.[k] ?? 0;
          return [n, total[k], total[k] > 0 ? `${(100 * n / total[k]).toFixed(1)} %` : "–"];
        })();
      row.append(make("th", className(k), {scope: "row"}), ...cells.map(each => make("td", each)));
      return row;
    });
    return [head, ...rows];
  }

  // Rows of the page with this value; of a number, the nearest ones.
  function matching(j, value, missing) {
    const column = DATA.rows.values[j];
    const all = column.map((_, i) => i);
    if (missing) return all.filter(i => column[i] === null || column[i] === -1);
    if (features[j].levels !== null) return all.filter(i => column[i] === value);
    return all.filter(i => column[i] !== null)
      .sort((a, b) => Math.abs(column[a] - value) - Math.abs(column[b] - value)).slice(0, 20);
  }

  function showRows(j, value, missing) {
    const place = byId("source-rows"), note = byId("source-note");
    if (DATA.rows === null) {
      place.replaceChildren();
      note.textContent = "No row of the table is in this page (--include-rows puts some in).";
      return;
    }
    const found = matching(j, value, missing), {at, truth, n_rows: total} = DATA.rows;
    const sample = at.length < total ? `a sample of ${at.length} of ${total} rows` : `all ${total} rows`;
    const nearest = features[j].levels === null && !missing ? "the nearest of " : "";
    note.textContent = `Rows in this page (${nearest}${sample}): ${found.length}`
      + (found.length > 100 ? ", the first 100 shown." : ".");
    place.replaceChildren(...found.slice(0, 100).map(i => {
      const said = Array.isArray(truth[i]) ? className(truth[i][state.problem]) : truth[i];
      const extra = features[j].levels === null && !missing ? `, ${DATA.rows.values[j][i]}` : "";
      const item = make("li", `row ${at[i]}: ${said}${extra}`);
      item.dataset.row = at[i];
      return item;
    }));
  }

  function showSignal(j) {
    const place = byId("signal"), rows = DATA.rows;
    place.replaceChildren();
    if (rows === null || rows.signals === null || state.row === null) return;
    const signal = rows.signals[rows.at[state.row]];
    if (!signal) return;
    const ns = "http://www.w3.org/2000/svg", width = 600, height = 120;
    const svg = document.createElementNS(ns, "svg");
    const spans = signal.fired[j] ?? [], spoken = rows.spoken[j];
    const lines = (spoken ? spoken.channels : [0]).map(k => signal.points[k]);
    const told = spans.map(([a, b]) => `${a} to ${b}`).join(", ");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `signal of row ${rows.at[state.row]}; the score fired at `
      + (told || "no point"));
    const known = lines.flat().filter(v => v !== null);
    const low = Math.min(...known), high = Math.max(...known);
    const x = i => i / Math.max(signal.length - 1, 1) * width;
    const y = v => height - 6 - (v - low) / Math.max(high - low, 1e-12) * (height - 12);
    for (const [first, last] of spans) {
      const box = document.createElementNS(ns, "rect");
      for (const [key, each] of [["x", x(first)], ["y", 0], ["width", Math.max(x(last + 1) - x(first), 2)],
        ["height", height], ["class", "fired"]]) box.setAttribute(key, each);
      svg.append(box);
    }
    lines.forEach((points, which) => {
      for (const part of unbroken(points)) {
        const line = document.createElementNS(ns, "polyline");
        if (which) line.setAttribute("class", "other");
        line.setAttribute("points", part.map(([i, v]) => `${x(i * signal.step)},${y(v)}`).join(" "));
        svg.append(line);
      }
    });
    const whole = spans.length === 1 && spans[0][0] === 0 && spans[0][1] === signal.length - 1;
    const words = whole ? "The score fired on the whole series."
      : spans.length ? `The score fired at the shaded points (${told} of ${signal.length}).`
      : "The score fired nowhere in this signal.";
    const named = lines.length > 1 ? ` ${rows.channels[spoken.channels[1]]} is dashed.` : "";
    place.append(...(spoken ? [make("p", `${spoken.sentence}.`)] : []), svg, make("p", words + named));
  }

  // Runs of points that are there, each with its place.
  function unbroken(points) {
    const parts = [[]];
    points.forEach((v, i) => {
      if (v !== null) parts[parts.length - 1].push([i, v]);
      else if (parts[parts.length - 1].length) parts.push([]);
    });
    return parts.filter(part => part.length);
  }

  // -- picking rows ---------------------------------------------------------------------------

  function wrong(i) {
    const values = DATA.rows.values.map(column => column[i]);
    const found = Model.sums(Model.terms(features, problem(), values, null), problem().classes.length);
    const p = Model.probabilities(found, 1), truth = DATA.rows.truth[i];
    const best = p.indexOf(Math.max(...p));
    return Array.isArray(truth) ? truth[state.problem] !== problem().classes[best]
      : truth !== problem().classes[best];
  }

  function listRows() {
    const {at, truth, validation, signals} = DATA.rows;
    const any = validation.some(Boolean);
    const seen = at.map((_, i) => i).filter(i => !any || validation[i])
      .filter(i => !byId("only-wrong").checked || wrong(i));
    const name = i => Array.isArray(truth[i]) ? className(truth[i][state.problem]) : truth[i];
    options(byId("row"), [["", `choose one of ${seen.length}`], ...seen.map(
      i => [i, `row ${at[i]}: ${name(i)}${signals && signals[at[i]] ? " (signal)" : ""}`])], "");
  }

  function pickRow(i) {
    load(DATA.rows.values.map(column => column[i]), i);
    if (state.row !== null) byId("row").value = i;
  }

  // -- starting -------------------------------------------------------------------------------

  function start() {
    if (problems.length > 1) {
      options(byId("problem"), problems.map((each, i) => [i, each.name]), 0);
      byId("problem").addEventListener("change", event => {
        state.problem = Number(event.target.value);
        state.prior = null;
        const {values, row} = state;
        build();
        if (DATA.rows !== null) listRows();
        load(values, row);
      });
    }
    byId("target").addEventListener("change", event => {
      const k = Number(event.target.value);
      if (k === state.against) state.against = state.target;
      state.target = k;
      sortBars();
      show();
    });
    byId("against").addEventListener("change", event => {
      const k = Number(event.target.value);
      if (k === state.target) state.target = state.against;
      state.against = k;
      sortBars();
      show();
    });
    byId("prior-slider").addEventListener("input", event => {
      setPrior(state.target, 1 / (1 + Math.exp(-Number(event.target.value))));
    });
    byId("prior-reset").addEventListener("click", () => { state.prior = null; show(); });
    byId("source-close").addEventListener("click", () => {
      const j = state.source;
      closeSource();
      byId(`source-${j}`).focus();
    });
    build();
    if (DATA.rows !== null) {
      listRows();
      byId("row").addEventListener("change", event => {
        if (event.target.value !== "") pickRow(Number(event.target.value));
      });
      byId("only-wrong").addEventListener("change", listRows);
    }
    load(typical(Math.min(1, problem().classes.length - 1)), null);
  }

  start();
  return {state, compute, load, setPrior};
})();
document.documentElement.dataset.ready = "yes";
