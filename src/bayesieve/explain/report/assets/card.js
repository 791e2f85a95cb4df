"use strict";
// A card that a person may change: move a cut-off or a point, and see at once what it costs.
const Card = (() => {
  const {make} = Dom;
  const known = value => value !== null && value !== undefined && value === value;

  function holds(span, value) {
    if (!known(value)) return span.missing;
    if (!span.known || value === undefined) return false;
    if (span.levels !== null) return span.levels.some(each => String(each) === String(value));
    return (span.low === null || value >= span.low) && (span.high === null || value < span.high);
  }

  // Values of a column, row by row, as the lines name them; of levels never seen, a text that no line has.
  function valuesOf(features, rows, name) {
    const at = features.findIndex(each => each.name === name), {levels} = features[at];
    return rows.values[at].map(value => levels === null || value === null ? value : value < 0 ? "\u0000" : levels[value]);
  }

  // Log-loss, share decided wrongly, and area under the curve (of two classes), of logits.
  function judge(sums, truth, k) {
    let loss = 0, wrong = 0;
    sums.forEach((logits, i) => {
      const top = Math.max(...logits), own = logits[truth[i]];
      loss += top + Math.log(logits.reduce((sum, each) => sum + Math.exp(each - top), 0)) - own;
      if (logits.indexOf(top) !== truth[i]) wrong += 1;
    });
    let area = null;
    if (k === 2) {
      const order = sums.map((logits, i) => [logits[1] - logits[0], truth[i]]).sort((a, b) => a[0] - b[0]);
      let below = 0, doubled = 0, n = [0, 0];
      for (let i = 0; i < order.length;) {
        const tie = [0, 0];
        let j = i;
        for (; j < order.length && order[j][0] === order[i][0]; j += 1) tie[order[j][1]] += 1;
        doubled += tie[1] * (2 * below + tie[0]);
        below += tie[0];
        n = [n[0] + tie[0], n[1] + tie[1]];
        i = j;
      }
      area = n[0] && n[1] ? doubled / (2 * n[0] * n[1]) : null;
    }
    return {loss: loss / sums.length, wrong: wrong / sums.length, area};
  }

  function mount(place, {card, features, rows}) {
    const lines = card.lines.map(line => ({...line, points: [...line.points], where: line.where.map(box => box.map(span => ({...span})))}));
    const was = JSON.stringify(lines), k = card.classes.length;
    const truth = rows.truth.map(each => card.classes.findIndex(name => String(name) === String(each)));
    const values = {};
    for (const span of lines.flatMap(line => line.where.flat())) values[span.column] ??= valuesOf(features, rows, span.column);
    const told = make("p", null, {class: "card-cost", role: "status"}), table = make("table", null, {class: "card-lines"});

    function judged(some) {
      const sums = truth.map((_, i) => {
        const total = [...card.start];
        for (const line of some) {
          if (line.where.some(box => box.every(span => holds(span, values[span.column][i])))) line.points.forEach((each, c) => { total[c] += each; });
        }
        return k === 2 ? [0, card.constant + card.unit * total[0]] : total.map(each => card.unit * each);
      });
      return judge(sums, truth, k);
    }
    const before = judged(lines);

    function cost() {
      const now = judged(lines), changed = JSON.stringify(lines) !== was;
      const figures = [["decided wrongly", "wrong", v => `${(100 * v).toFixed(1)} %`], ["log-loss", "loss", v => v.toFixed(4)], ["AUC", "area", v => v.toFixed(4)]];
      const parts = figures.filter(each => now[each[1]] !== null).map(([name, which, words]) =>
        changed ? `${name} ${words(now[which])} (was ${words(before[which])})` : `${name} ${words(now[which])}`);
      told.textContent = `${changed ? "After your changes: " : "As it is: "}${parts.join(", ")}.`;
    }

    const single = line => line.where.length === 1 && line.where[0].length === 1 ? line.where[0][0] : null;
    const number = value => String(Number(value.toPrecision(12)));
    function interval(span) {
      if (!span.known) return "missing";
      const words = span.low === null ? span.high === null ? "any value" : `below ${number(span.high)}`
        : span.high === null ? "and above" : `to below ${number(span.high)}`;
      return words + (span.missing ? " or missing" : "");
    }

    // The line that ends where this one begins.
    const endsBefore = span => lines.map(single).find(other => other && other.column === span.column && other.known && other.high === span.low);

    function draw() {
      const heads = k === 2 ? ["points"] : card.classes.map(String);
      const head = make("tr");
      head.append(make("th", "column"), make("th", "condition"), ...heads.map(name => make("th", name)));
      const body = lines.map((line, at) => {
        const row = make("tr", null, at && lines[at - 1].column === line.column ? {} : {class: "first"}), span = single(line);
        row.append(make("th", at && lines[at - 1].column === line.column ? "" : line.column, {scope: "row"}));
        const cell = make("td", null);
        if (span && span.known && span.levels === null) {
          if (span.low !== null) {
            const cut = make("input", null, {type: "number", step: "any", value: number(span.low), "aria-label": `cut-off of ${line.column}`});
            cut.addEventListener("change", () => move(span, cut));
            cell.append(cut, " ");
          }
          cell.append(interval(span));
        } else cell.append(line.condition);
        row.append(cell);
        line.points.forEach((points, c) => {
          const box = make("td"), input = make("input", null, {type: "number", step: "1", value: points, "aria-label": `points of ${line.column} ${line.condition}${k === 2 ? "" : ` for ${heads[c]}`}`});
          input.addEventListener("input", () => {
            if (!Number.isInteger(Number(input.value)) || input.value === "") return;
            line.points[c] = Number(input.value);
            cost();
          });
          box.append(input);
          row.append(box);
        });
        return row;
      });
      const thead = make("thead"), tbody = make("tbody");
      thead.append(head);
      tbody.append(...body);
      table.replaceChildren(thead, tbody);
      cost();
    }

    // A cut-off may move as far as its neighbours.
    function move(span, cut) {
      const value = Number(cut.value), other = endsBefore(span);
      const fits = cut.value !== "" && (other === undefined || other.low === null || value > other.low) && (span.high === null || value < span.high);
      if (fits) {
        if (other) other.high = value;
        span.low = value;
      }
      draw();
    }

    const back = make("button", "As it was", {type: "button"});
    back.addEventListener("click", () => {
      JSON.parse(was).forEach((line, at) => { lines[at] = line; });
      draw();
    });
    const wide = make("div", null, {class: "scroll"});
    wide.append(table);
    place.append(wide, told, back);
    draw();
  }

  return {mount};
})();
