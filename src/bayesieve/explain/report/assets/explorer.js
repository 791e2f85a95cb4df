"use strict";
// The decision explorer: values, priors, bars, what would flip it, and the signal behind it.
// mount(place, data) builds all of it; data: {portable, rules, sources, rows, changed}.
const Explorer = (() => {
  const {make, options} = Dom, PERSON = "ask a person";
  const MARKUP = `
<div class="case">
<div class="card picking">
<div class="controls"><span data-at="label"></span><span data-at="typical" class="controls" role="group" aria-label="Fill in a typical case"></span></div>
<div data-at="rows"></div>
<details><summary>Classes compared, and priors where the model is used</summary>
<div class="controls"><label for="target">For</label> <select id="target"></select> <label for="against">against</label> <select id="against"></select></div>
<div id="priors"></div>
<div class="controls"><label for="prior-slider">Prior of <span id="prior-name"></span></label> <input type="range" id="prior-slider" min="-14" max="14" step="0.01"> <button type="button" id="prior-reset">as in training</button></div>
</details>
</div>
<div id="decision" class="card"><div aria-live="polite"><p id="outcome"></p><p><output id="probability"></output>: <span id="log-odds"></span></p><p id="truth"></p></div>
<ul id="all-classes" aria-label="Probabilities of all classes"></ul>
<div id="flips"></div>
<p class="off-paper"><button type="button" data-sheet="decision">Print this decision on one page</button></p></div>
</div>
<div class="reasons">
<table id="evidence"><caption id="reading" class="soft"></caption><thead><tr><th scope="col">column</th><th scope="col">value</th><th scope="col" class="sides"><span id="side-against"></span><span id="side-for"></span></th><th scope="col">odds</th></tr></thead><tbody id="bars"></tbody></table>
<aside id="signal" hidden></aside>
</div>
<div id="source" class="card" hidden role="region" aria-labelledby="source-title">
<h3 id="source-title" tabindex="-1"></h3>
<div class="scroll"><table><tbody id="source-counts"></tbody></table></div>
<p id="source-said"></p>
<p class="soft" id="source-note"></p>
<ul id="source-rows"></ul>
<button type="button" id="source-close">close (Esc)</button>
</div>`;

  function mount(place, data) {
    const {features, problems} = data.portable, rows = data.rows;
    const state = {problem: 0, values: features.map(() => null), prior: null, target: 1, against: 0, row: null, source: null};
    place.innerHTML = MARKUP;
    place.classList.add("explorer");
    const byId = id => place.querySelector(`#${id}`), slot = name => place.querySelector(`[data-at="${name}"]`);

    const problem = () => problems[state.problem], rule = () => data.rules[state.problem];
    const className = k => problem().name === null ? String(problem().classes[k])
      : (k === 1 ? problem().name : `not ${problem().name}`);
    const judge = (values = state.values, prior = state.prior) => Model.judge(features, problem(), rule(), values, prior);
    const decisionName = d => d === problem().classes.length ? PERSON : className(d);

    // The value that a class shows most: where the explorer starts.
    function typical(k) {
      return features.map((feature, j) => {
        if (feature.levels === null) {
          const source = data.sources[state.problem][j][1];
          return Number(((source.median ?? source.mean)?.[k] ?? 0).toPrecision(6));
        }
        const table = problem().terms[j].table;
        return table.reduce((best, row, v) => Model.apart(row[k], table[best][k]) > 0 ? v : best, 0);
      });
    }

    function pickTwo({totals, decision}) {
      const order = totals.map((_, k) => k).sort((a, b) => Model.apart(totals[b], totals[a]) || a - b);
      if (decision < totals.length && order[0] !== decision) order.unshift(...order.splice(order.indexOf(decision), 1));
      [state.target, state.against] = order;
    }

    // -- building ---------------------------------------------------------------------------

    function valueControl(j) {
      const feature = features[j], outer = make("td"), cell = make("div", null, {class: "control"});
      outer.append(cell);
      if (feature.levels !== null) {
        const select = make("select", null, {"aria-label": `value of ${feature.name}`, id: `value-${j}`});
        options(select, [["", "(missing)"], ...feature.levels.map((_, v) => [v, Behind.shown(feature, v)])],
          state.values[j] === null ? "" : state.values[j]);
        select.addEventListener("change", () => setValue(j, select.value === "" ? null : Number(select.value)));
        cell.append(select);
        return outer;
      }
      const [low, high] = feature.range ?? [0, 1], span = high > low ? high - low : 1;
      const slider = make("input", null, {type: "range", min: low - span / 4, max: high + span / 4,
        step: span / 1000, "aria-label": `${feature.name}, slider`, id: `slider-${j}`});
      const box = make("input", null, {type: "number", step: "any", id: `value-${j}`,
        "aria-label": `value of ${feature.name}; empty is missing`});
      slider.addEventListener("input", () => { box.value = slider.value; setValue(j, Number(slider.value)); });
      box.addEventListener("input", () => {
        const value = box.value === "" ? null : Number(box.value);
        if (value !== null) slider.value = value;
        setValue(j, value);
      });
      cell.append(slider, box);
      return outer;
    }

    function barCell() {
      const cell = make("td", null, {class: "bar"});
      cell.append(make("span", null, {class: "stick"}));
      return cell;
    }

    function line(id, name, control) {
      const row = make("tr", null, {id});
      row.append(make("th", name, {scope: "row"}), control, barCell(), make("td", null, {class: "ratio"}));
      return row;
    }

    // An indicator is called by its sentence.
    const spoken = j => rows?.spoken[j]?.sentence ?? features[j].name;

    function build() {
      const lines = [line("bar-prior", "prior", make("td", "of the classes", {class: "soft"}))];
      features.forEach((feature, j) => {
        const button = make("button", "show the data", {type: "button", class: "quiet", id: `source-${j}`,
          "aria-label": `show the data behind ${feature.name}`});
        button.addEventListener("click", () => openSource(j));
        const row = line(`bar-${j}`, spoken(j), valueControl(j));
        row.firstChild.setAttribute("title", feature.name);
        row.firstChild.append(make("br"), button);
        lines.push(row);
      });
      problem().pairs.forEach((pair, p) => lines.push(line(`bar-${features.length + p}`,
        pair.columns.map(spoken).join(" and "), make("td", "both together", {class: "soft"}))));
      byId("bars").replaceChildren(...lines);
      buildPriors();
    }

    function buildPriors() {
      byId("priors").replaceChildren(...problem().classes.map((_, k) => {
        const label = make("label", `${className(k)} `);
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
      const buttons = problem().classes.slice(0, 12).map((_, k) => {
        const button = make("button", className(k), {type: "button", "aria-label": `fill in a typical ${className(k)} case`});
        button.addEventListener("click", () => load(typical(k), null));
        return button;
      });
      slot("typical").replaceChildren(make("span", "Fill in a typical case:"), ...buttons);
    }

    // -- changing ---------------------------------------------------------------------------

    function setValue(j, value) {
      state.values[j] = value;
      state.row = null;
      show();
      if (state.source === j) openSource(j, false);
    }

    // One class gets its share; the others keep their proportions.
    function setPrior(k, p) {
      const old = state.prior ?? problem().shares;
      const rest = old.reduce((sum, each, i) => i === k ? sum : sum + each, 0), others = old.length - 1;
      state.prior = old.map((each, i) => i === k ? p : rest > 0 ? each / rest * (1 - p) : (1 - p) / others);
      show();
    }

    function load(values, row) {
      state.values = [...values];
      state.row = row;
      pickTwo(judge());
      features.forEach((feature, j) => {
        const value = state.values[j];
        byId(`value-${j}`).value = Behind.isMissing(feature, value) ? "" : value;
        if (feature.levels === null && value !== null) byId(`slider-${j}`).value = value;
      });
      closeSource();
      sortBars();
      show();
    }

    // Strongest first; not while values are being changed, so that nothing jumps under the hand.
    function sortBars() {
      const {found} = judge();
      const size = j => Math.abs(Model.apart(found[j + 1][state.target], found[j + 1][state.against]));
      const order = found.slice(1).map((_, j) => j).sort((a, b) => size(b) - size(a) || a - b);
      byId("bars").append(...order.map(j => byId(`bar-${j}`)));
    }

    // -- showing ----------------------------------------------------------------------------

    // All that is to be said of the case, as plain data: the sheet on paper reads it too.
    function told() {
      const {found, totals, probability, decision} = judge(), t = problem().temperature;
      const ratios = found.map(term => Model.apart(term[state.target], term[state.against]) / t);
      const names = ["prior", ...features.map((_, j) => spoken(j)), ...problem().pairs.map(p => p.columns.map(spoken).join(" and "))];
      const values = ["", ...features.map((f, j) => Behind.shown(f, state.values[j])), ...problem().pairs.map(() => "")];
      const behind = Model.rowsBehind(features, problem(), state.values, state.target, state.against);
      return {ratios, rows: behind, speaks: ratios.map((_, i) => speaks(i)), names, values, probability, decision, target: className(state.target), against: className(state.against),
        total: Model.apart(totals[state.target], totals[state.against]) / t, name: decisionName(decision), tones: [state.target, state.against].map(tone),
        flips: Model.flips(features, problem(), rule(), state.values, state.prior).slice(0, 3).map(flip => ({
          name: spoken(flip.column), to: decisionName(flip.decision),
          value: Array.isArray(flip.words) ? flip.words.join(" ") : Behind.shown(features[flip.column], flip.words),
          now: values[flip.column + 1]})),
        novelty: state.row === null || !rows?.novelty ? null : rows.novelty[state.row],
        row: state.row === null ? null : rows.at[state.row], alarm: isAlarm(decision), ruled: rule() !== null};
    }

    // The colour of a class, the same wherever it is named.
    const tone = k => `k${k % 8}`;

    const isAlarm = decision => rule() !== null && decision < problem().classes.length
      && rule().guards.some(guard => guard.or_ask && guard.position !== decision);

    function show() {
      const it = told();
      const longest = Math.max(1e-9, ...it.ratios.map(Math.abs).filter(Number.isFinite));
      it.ratios.forEach((ratio, i) => {
        const row = byId(i === 0 ? "bar-prior" : `bar-${i - 1}`), stick = row.querySelector(".stick");
        const width = Number.isFinite(ratio) ? 50 * Math.abs(ratio) / longest : 50;
        stick.style.width = `${width}%`;
        stick.style.left = ratio >= 0 ? "50%" : `${50 - width}%`;
        stick.className = `stick ${ratio >= 0 ? `for ${it.tones[0]}` : `against ${it.tones[1]}`}`;
        const cell = row.querySelector(".ratio");
        const beside = Words.beside(ratio, it.rows[i]);
        cell.replaceChildren(...it.speaks[i] ? [make("span", Words.factor(ratio), {class: "odds"}), make("span", Words.signed(ratio), {class: "nat"})] : ["only in interactions"]);
        if (it.speaks[i] && beside) cell.append(" ", make("small", beside, {class: "soft"}));
        cell.dataset.value = ratio;
      });
      byId("reading").textContent = Words.reading(it.target, it.against);
      byId("side-for").textContent = `${it.target} →`;
      byId("side-against").textContent = `← ${it.against}`;
      [byId("side-for").className, byId("side-against").className] = it.tones;
      showDecision(it);
      const prior = state.prior ?? problem().shares;
      prior.forEach((p, k) => { byId(`prior-${k}`).value = Number(p.toPrecision(6)); });
      const p = Math.min(Math.max(prior[state.target], 1e-9), 1 - 1e-9);
      byId("prior-slider").value = Math.log(p / (1 - p));
      byId("prior-name").textContent = it.target;
      byId("target").value = state.target;
      byId("against").value = state.against;
      showSignal(it);
      data.changed?.(api);
    }

    // Some columns speak in pairs only.
    const speaks = i => data.sources[state.problem][i - 1]?.[1].alone !== false;

    function showDecision(it) {
      const outcome = byId("outcome");
      outcome.replaceChildren(make("strong", it.decision === problem().classes.length ? "Ask a person" : it.alarm ? `Raise alarm: ${it.name}` : it.name));
      if (it.novelty !== null && it.novelty <= 0.01) {
        outcome.append(make("span", `unlike the training data (p = ${it.novelty.toPrecision(2)})`, {class: "badge"}));
      }
      outcome.dataset.value = it.name;
      const out = byId("probability");
      out.textContent = `${it.target} ${Words.chance(it.probability[state.target])}`;
      out.dataset.value = it.probability[state.target];
      const odds = byId("log-odds");
      odds.replaceChildren(make("span", Words.compared(it.total, it.against), {class: "odds"}),
      make("span", `log-odds ${Words.signed(it.total)}`, {class: "nat"}));
      odds.dataset.value = it.total;
      byId("all-classes").replaceChildren(...it.probability.map((p, k) => {
        const item = make("li", `${className(k)} ${Words.chance(p)}`);
        item.dataset.value = p;
        return item;
      }));
      byId("flips").replaceChildren(make("h3", "What would change the decision"), flipList(it));
      showTruth(it);
    }

    function flipList(it) {
      if (!it.flips.length) return make("p", "No single column, whatever its value.", {class: "soft"});
      const list = make("ul");
      list.append(...it.flips.map(({name, value, now, to}) => {
        const item = make("li");
        item.append(make("b", name), `: ${value} (now ${now}) → ${to}`);
        return item;
      }));
      return list;
    }

    const truthOf = i => Array.isArray(rows.truth[i]) ? className(rows.truth[i][state.problem]) : String(rows.truth[i]);

    function showTruth(it) {
      const said = byId("truth");
      if (state.row === null || rows === null) { said.textContent = ""; return; }
      const truth = truthOf(state.row);
      said.textContent = `Row ${rows.at[state.row]} is ${truth}: ${it.decision === problem().classes.length ? "referred to a person" : it.name === truth ? "right" : "wrong"}.`;
      said.classList.toggle("wrong", it.name !== truth && it.name !== PERSON);
    }

    // The signal of the row stands beside the bars: that of the bar picked, or of the strongest that fired.
    function showSignal(it) {
      const here = byId("signal"), signal = state.row === null ? null : rows?.signals?.[rows.at[state.row]] ?? null;
      here.hidden = signal === null;
      place.classList.toggle("with-signal", signal !== null);
      if (signal === null) { here.replaceChildren(); return; }
      const order = it.ratios.slice(1, features.length + 1).map((_, j) => j).sort((a, b) => Math.abs(it.ratios[b + 1]) - Math.abs(it.ratios[a + 1]));
      const j = state.source ?? order.find(each => signal.fired[each]) ?? order[0];
      const spans = signal.fired[j] ?? [], known = rows.spoken[j], channels = known ? known.channels : [0];
      const drawn = make("div");
      here.replaceChildren(make("h3", `Signal of row ${rows.at[state.row]}`), drawn,
        make("p", known ? `${known.sentence}.` : features[j].name), make("p", Signal.told(signal, spans), {class: "soft"}));
      if (channels.length > 1) here.append(make("p", `${rows.channels[channels[1]]} is dashed.`, {class: "soft"}));
      const paint = width => Signal.picture(width, signal, channels, spans, rows.channels, `Signal of row ${rows.at[state.row]}. ${Signal.told(signal, spans)}`);
      drawn.append(paint(Math.max(here.clientWidth - 2, 260)));
      api.signal = paint;
    }

    // -- the data behind a bar ----------------------------------------------------------------

    // The panel stands right below its bar.
    const panel = byId("source"), panelRow = make("tr", null, {class: "source"}), panelCell = make("td", null, {colspan: 4});
    panelRow.append(panelCell);

    function closeSource(focus = false) {
      const j = state.source;
      state.source = null;
      panel.hidden = true;
      panelRow.remove();
      if (focus && j !== null) byId(`source-${j}`).focus();
    }

    function openSource(j, focus = true) {
      state.source = j;
      const feature = features[j], value = state.values[j];
      panelCell.append(panel);
      byId(`bar-${j}`).after(panelRow);
      byId("source-title").textContent = `${feature.name} = ${Behind.shown(feature, value)}`;
      byId("source-counts").replaceChildren(...Behind.counts(data.sources[state.problem][j], problem(), feature, value, className));
      const added = Behind.added(data.sources[state.problem][j][1], feature, value);
      const said = told().ratios[j + 1], less = added === null ? 0 : (added[state.target] - added[state.against]) / problem().temperature;
      byId("source-said").hidden = added === null;
      byId("source-said").textContent = `What counts say: ${Words.factor(said - less)}. What fits beside the other terms: ${Words.factor(said)}, by what was seen against what they expect.`;
      listAlike(j, value);
      panel.hidden = false;
      showSignal(told());
      if (focus) byId("source-title").focus();
    }

    function listAlike(j, value) {
      const list = byId("source-rows"), note = byId("source-note"), feature = features[j];
      list.replaceChildren();
      if (rows === null) {
        note.textContent = "This page contains no rows of the table (--include-rows adds some).";
        return;
      }
      const found = Behind.alike(rows, feature, j, value), {at, n_rows: total} = rows;
      const near = feature.levels === null && !Behind.isMissing(feature, value);
      note.textContent = `Rows in this page (${near ? "the nearest of " : ""}${at.length < total ? `a sample of ${at.length} of ${total}` : `all ${total}`} rows): ${found.length}`
        + (found.length > 100 ? ", the first 100 shown." : ".");
      list.append(...found.slice(0, 100).map(i => {
        const item = make("li"), link = make("a", `row ${at[i]}`, {href: `#row-${at[i]}`});
        item.append(link, ` ${truthOf(i)}${near ? `, ${rows.values[j][i]}` : ""}`);
        item.dataset.row = at[i];
        return item;
      }));
    }

    // -- starting -----------------------------------------------------------------------------

    const pickRow = i => load(rows.values.map(column => column[i]), i);
    const api = {state, told, load, setPrior, judge, pickRow, className, signal: null, features, problem};
    const list = rows === null ? null : RowList.mount(slot("rows"), rows,
      {truthOf, decided: i => decisionName(judge(rows.values.map(column => column[i]), null).decision), pick: pickRow, person: PERSON});

    if (problems.length > 1) {
      const select = make("select", null, {id: "problem", "aria-label": "Label"});
      options(select, problems.map((each, i) => [i, each.name]), 0);
      slot("label").append("Label ", select);
      select.addEventListener("change", () => {
        Object.assign(state, {problem: Number(select.value), prior: null});
        const {values, row} = state;
        closeSource();
        build();
        list?.fill();
        load(values, row);
      });
    }
    for (const [id, other] of [["target", "against"], ["against", "target"]]) {
      byId(id).addEventListener("change", event => {
        const k = Number(event.target.value);
        if (k === state[other]) state[other] = state[id];
        state[id] = k;
        sortBars();
        show();
      });
    }
    byId("prior-slider").addEventListener("input", event => setPrior(state.target, 1 / (1 + Math.exp(-Number(event.target.value)))));
    byId("prior-reset").addEventListener("click", () => { state.prior = null; show(); });
    byId("source-close").addEventListener("click", () => closeSource(true));
    place.addEventListener("keydown", event => { if (event.key === "Escape" && !panel.hidden) closeSource(true); });
    build();
    load(typical(Math.min(1, problem().classes.length - 1)), null);
    if (list) list.fill();
    return api;
  }

  return {mount};
})();
