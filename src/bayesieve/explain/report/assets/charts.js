"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);

// A small element: tag, text, attributes.  Text never becomes markup.
function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== null && text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

const Path = (() => {
  const path = DATA.path;

  function units(at) {
    let first = at;
    while (path.steps[first][0] !== "s") first -= 1;
    const inside = new Set(path.steps[first][1]);
    for (let i = first + 1; i <= at; i += 1) {
      const unit = path.steps[i][1][0];
      if (path.steps[i][0] === "+") inside.add(unit); else inside.delete(unit);
    }
    return [...inside];
  }

  function subset(at) {
    return units(at).flatMap(unit => path.members[unit].map(column => path.names[column]));
  }

  function words(at) {
    const [action, moved, , size, score, verdict] = path.steps[at];
    const names = moved.flatMap(unit => path.members[unit].map(c => path.names[c]));
    const what = action === "s" ? "a phase starts"
      : `${action === "+" ? "joins" : "leaves"}: ${names.join(", ")}`;
    const judged = verdict === null ? ""
      : `, ${path.validation_name.replace("_", " ")} ${verdict.toPrecision(4)}`;
    return `step ${at}: ${size} ${size === 1 ? "feature" : "features"}, ${path.criterion} ${score === null ? "–" : score.toPrecision(4)}${judged}; ${what}`;
  }

  function show(at) {
    byId("path-words").textContent = words(at);
    byId("path-subset").textContent = subset(at).join(", ") || "(no feature)";
  }

  function tooltip(_handler, event, _item, value) {
    const box = byId("path-tip");
    if (value === null || value === undefined || value.step === undefined) {
      box.hidden = true;
      return;
    }
    const names = subset(Number(value.step));
    const shown = names.slice(0, 40).join(", ") + (names.length > 40 ? ` and ${names.length - 40} more` : "");
    box.textContent = `${words(Number(value.step))}\n${shown}`;
    box.hidden = false;
    const left = Math.min(event.clientX + 12, window.innerWidth - box.offsetWidth - 8);
    const top = Math.min(event.clientY + 12, window.innerHeight - box.offsetHeight - 8);
    box.style.left = `${Math.max(left, 4)}px`;
    box.style.top = `${Math.max(top, 4)}px`;
  }

  if (path !== null) {
    const slider = byId("path-step");
    slider.max = path.steps.length - 1;
    slider.value = path.chosen;
    slider.addEventListener("input", () => show(Number(slider.value)));
    show(path.chosen);
  }
  return {subset, tooltip};
})();

const Charts = (() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function config(night) {
    const ink = night ? "#d7dce2" : "#2b3138", line = night ? "#3c444d" : "#dde1e6";
    const colours = night ? ["#6db3f2", "#f2a65a", "#e57373", "#81c784", "#ba9ee8", "#f48fb1",
      "#bcaaa4", "#80cbc4"]
      : ["#1b6ca8", "#c46210", "#c0392b", "#2e7d4f", "#6a4c9c", "#b03a6f", "#795548", "#00796b"];
    return {
      background: "transparent", font: "system-ui, sans-serif", view: {stroke: line},
      axis: {labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line},
      legend: {labelColor: ink, titleColor: ink, orient: "top", labelLimit: 300, columns: 3},
      text: {color: ink, font: "system-ui, sans-serif"}, tick: {color: colours[0]}, range: {category: colours},
    };
  }

  async function draw(night) {
    for (const place of document.querySelectorAll("[data-chart]")) {
      const spec = DATA.charts[place.dataset.chart];
      if (!spec) continue;
      const isPath = place.dataset.chart === "path";
      const drawn = await window.vegaEmbed(place, structuredClone(spec), {
        renderer: "svg", actions: false, config: config(night),
        tooltip: isPath ? Path.tooltip : {theme: night ? "dark" : "light"},
      });
      const [kind, part] = place.dataset.chart.split("-");
      if (kind === "nomogram") Pairs.follow(part, drawn.view);
    }
    document.documentElement.dataset.charts = night ? "dark" : "light";
  }

  dark.addEventListener("change", () => draw(dark.matches));
  window.addEventListener("beforeprint", () => draw(false));
  window.addEventListener("afterprint", () => draw(dark.matches));
  return {ready: draw(dark.matches)};
})();

// Rates as the threshold moves.
(() => {
  const slider = byId("threshold"), body = byId("threshold-rates");
  if (!DATA.thresholds.length) return;
  const grid = DATA.thresholds[0][1];
  // Without a row of the class (or of the others) there is no rate.
  const percent = (rate, digits) => rate === null ? "–" : `${(100 * rate).toFixed(digits)} %`;
  function show() {
    const at = Number(slider.value);
    byId("threshold-value").textContent = String(Number(grid[at][0].toPrecision(6)));
    body.replaceChildren(...DATA.thresholds.map(([name, rates]) => {
      const row = make("tr");
      row.append(make("th", name, {scope: "row"}),
        make("td", percent(rates[at][1], 1)), make("td", percent(rates[at][2], 2)));
      return row;
    }));
  }
  slider.max = grid.length - 1;
  slider.value = grid.findIndex(each => each[0] >= 0.5);
  slider.addEventListener("input", show);
  show();
})();
