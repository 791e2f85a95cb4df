"use strict";
// Puts the parts of a report together: the one file that knows this page.
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id), {make} = Dom;
  const chart = name => document.querySelector(`[data-chart="${name}"]`);
  const className = (problem, k) => problem.name === null ? String(problem.classes[k]) : k === 1 ? problem.name : `not ${problem.name}`;

  // -- nomograms and heat maps: two classes that the reader picks ---------------------------------
  const {features, problems} = DATA.portable, again = [];
  let explorer = null;
  document.querySelectorAll("[data-nomogram]").forEach(place => {
    const part = Number(place.dataset.nomogram), problem = problems[part], figure = place.closest("figure");
    const heat = document.querySelector(`[data-pairs="${part}"]`);
    const chosen = which => Number(figure.querySelector(`[data-class="${which}"]`).value);
    const redraw = Dom.fit(place, width => {
      const values = explorer !== null && explorer.state.problem === part ? explorer.state.values : null;
      return Nomogram.picture(width, features, problem, {target: chosen("target"), against: chosen("against"), values});
    });
    const both = () => {
      redraw();
      for (const which of ["target", "against"]) figure.querySelector(`[data-told="${which}"]`).textContent = className(problem, chosen(which));
      const drawn = place.querySelector("svg") !== null;
      figure.hidden = !drawn && problem.classes.length === 2;
      figure.querySelector("figcaption").hidden = !drawn;
      if (heat) Pairs.show(heat, problem, chosen("target"), chosen("against"));
    };
    if (heat?.querySelector(".controls")) heat.querySelector(".controls").hidden = true;
    figure.querySelectorAll("select").forEach(select => select.addEventListener("change", both));
    again.push(redraw);
    both();
  });
  document.querySelectorAll("[data-pairs]").forEach(place => {
    const chosen = which => Number(place.querySelector(`select[data-class="${which}"]`).value);
    place.querySelectorAll("select").forEach(select => select.addEventListener("change",
      () => Pairs.show(place, problems[place.dataset.pairs], chosen("target"), chosen("against"))));
  });

  // -- charts -----------------------------------------------------------------------------------
  if (DATA.roc.length) Dom.fit(chart("roc"), width => Charts.roc(width, DATA.roc));
  if (DATA.calibration.length) Dom.fit(chart("calibration"), width => Charts.calibration(width, DATA.calibration));
  if (DATA.stability) Dom.fit(chart("stability"), width => Charts.bars(width, DATA.stability, "How often each column is selected over resamples"));

  // -- the path ---------------------------------------------------------------------------------
  function startPath(path) {
    const what = path.kind === "columns" ? "columns" : "terms", slider = byId("path-step"), place = chart("path");
    // What is a mean over rows of values from 0 to 1 is off by so much at most; of others it is not known.
    const isMean = {4: ["error", "probability"].includes(path.criterion), 5: path.judge.startsWith("error")};
    const spread = (value, n, at, which) => path.bands ? path.bands[at]
      : isMean[which] && value !== null && n ? Math.sqrt(value * (1 - value) / n) : null;
    const keep = Math.ceil(path.steps.length / 1500);
    const some = path.steps.map((step, i) => [step, i]).filter(([step, i]) => i % keep === 0 || step[0] === "s" || i === path.chosen);
    const line = (which, n) => some.map(([step, i]) => [step[3], step[which], spread(step[which], n, i, which), i, step[2]]);
    const judged = path.steps.some(step => step[5] !== null);
    const lines = [{name: path.guide, kind: "guide", points: line(4, path.n_guiding)}];
    if (judged) lines.push({name: path.judge, kind: "judge", points: line(5, path.n_validation)});
    const chosen = path.steps[path.chosen];
    let drawn = null;
    const redraw = Dom.fit(place, width => {
      drawn = Charts.trail(width, {lines, chosen: [chosen[3], judged ? chosen[5] : chosen[4]], log: byId("path-log").checked, zoom: byId("path-zoom").checked, what});
      return drawn;
    });
    function subset(at) {
      let first = at;
      while (!"st".includes(path.steps[first][0])) first -= 1;
      const inside = new Set(path.steps[first][1]);
      for (let i = first + 1; i <= at; i += 1) {
        const unit = path.steps[i][1][0];
        if (path.steps[i][0] === "+") inside.add(unit); else inside.delete(unit);
      }
      return [...inside].flatMap(unit => path.members[unit].map(column => path.names[column]));
    }
    function words(at) {
      const [action, moved, , size, score, verdict] = path.steps[at];
      const names = moved.flatMap(unit => path.members[unit].map(c => path.names[c]));
      const what_ = action === "t" ? "" : action === "s" ? "; a phase starts" : `; ${action === "+" ? "joins" : "leaves"}: ${names.join(", ")}`;
      const one = size === 1 ? what.slice(0, -1) : what;
      return `step ${at}: ${size} ${one}, ${path.guide} ${score === null ? "–" : score.toPrecision(4)}`
        + (verdict === null ? "" : `, ${path.judge} ${verdict.toPrecision(4)}`) + what_;
    }
    function show(at) {
      byId("path-words").textContent = words(at);
      byId("path-subset").textContent = subset(at).join(", ") || "(no column)";
    }
    slider.max = path.steps.length - 1;
    slider.value = path.chosen;
    slider.addEventListener("input", () => show(Number(slider.value)));
    for (const id of ["path-log", "path-zoom"]) byId(id).addEventListener("change", redraw);
    place.addEventListener("pointermove", event => {
      const svg = place.querySelector("svg");
      if (!svg || !svg.contains(event.target)) return;
      slider.value = drawn.nearest(event.clientX - svg.getBoundingClientRect().left);
      show(Number(slider.value));
    });
    show(path.chosen);
  }
  if (DATA.path !== null) startPath(DATA.path);

  // -- rates as the threshold moves ---------------------------------------------------------------
  function startThresholds(thresholds) {
    const slider = byId("threshold"), grid = thresholds[0][1];
    function show() {
      const at = Number(slider.value);
      byId("threshold-value").textContent = String(Number(grid[at][0].toPrecision(6)));
      byId("threshold-rates").replaceChildren(...thresholds.map(([name, rates]) => {
        const row = make("tr");
        row.append(make("th", name, {scope: "row"}), make("td", Words.percent(rates[at][1], 1)), make("td", Words.percent(rates[at][2], 2)));
        return row;
      }));
    }
    slider.max = grid.length - 1;
    slider.value = grid.findIndex(each => each[0] >= 0.5);
    slider.addEventListener("input", show);
    show();
  }
  if (DATA.thresholds.length) startThresholds(DATA.thresholds);

  // -- the card ---------------------------------------------------------------------------------
  if (DATA.card !== null && DATA.rows !== null) Card.mount(byId("card-edit"), {...DATA, features});

  // -- the explorer -------------------------------------------------------------------------------
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    window.requestAnimationFrame(() => { waiting = false; again.forEach(redraw => redraw()); });
  };
  explorer = Explorer.mount(byId("explorer"), {...DATA, changed: later});
  again.forEach(redraw => redraw());
  byId("in-nat").addEventListener("change", event => { document.documentElement.classList.toggle("in-nat", event.target.checked); });

  // -- paper --------------------------------------------------------------------------------------
  const closed = [];
  function unfold() {
    for (const each of document.querySelectorAll("details:not([open]):not(.off-paper)")) { each.open = true; closed.push(each); }
    const it = explorer.told();
    byId("sheet").replaceChildren(Sheet.decision({...it, at: explorer.state.target}, document.title, explorer.state.row !== null && DATA.rows?.signals?.[DATA.rows.at[explorer.state.row]] ? explorer.signal : null));
  }
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", () => {
    while (closed.length) closed.pop().open = false;
    delete document.documentElement.dataset.sheet;
  });
  document.querySelectorAll("button[data-sheet]").forEach(button => button.addEventListener("click", () => {
    document.documentElement.dataset.sheet = button.dataset.sheet;
    window.print();
  }));
  unfold();
  while (closed.length) closed.pop().open = false;
  window.report = {explorer, data: DATA};
  document.documentElement.dataset.charts = document.documentElement.dataset.ready = "yes";
})();
