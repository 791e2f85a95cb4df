"use strict";
// A nomogram between two classes: points, one scale a term, prior, total and probability.
const Nomogram = (() => {
  const {draw} = Dom, {path, text, ticks} = Charts;
  const FAR = 10;  // nat: scales end here
  const MOST = 25, CHANCES = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

  const clamp = x => Math.min(Math.max(x, -FAR), FAR);

  // What each value of a column says: {name, ordered, marks: [[value, label, nat]]}
  function scaleOf(feature, term, target, against, temperature, nClasses) {
    const ratio = value => {
      const said = Model.speak(value, feature, term, nClasses);
      return clamp(Model.apart(said[target], said[against]) / temperature);
    };
    if (feature.levels !== null) {
      const word = level => feature.model === "bernoulli" && level === 1 ? "yes"
        : feature.model === "bernoulli" && level === 0 ? "no" : String(level);
      return {name: feature.name, ordered: false, ratio,
        marks: feature.levels.map((level, v) => [v, word(level), ratio(v)])};
    }
    const [low, high] = feature.range ?? (feature.cuts?.length ? [feature.cuts[0], feature.cuts[feature.cuts.length - 1]] : [0, 1]);
    const points = feature.cuts !== null && feature.cuts.length
      ? [low, ...feature.cuts.slice(1).map((c, i) => (c + feature.cuts[i]) / 2), high].filter(x => x >= low && x <= high)
      : Array.from({length: 101}, (_, i) => low + (high - low) * i / 100);
    return {name: feature.name, ordered: true, low, high, ratio, marks: points.map(x => [x, null, ratio(x)])};
  }

  // Does a curve only rise, or only fall, but for a wobble?
  function oneWay(nats) {
    const span = Math.max(...nats) - Math.min(...nats);
    let up = 0, down = 0;
    for (let i = 1; i < nats.length; i += 1) {
      up += Math.max(nats[i] - nats[i - 1], 0);
      down += Math.max(nats[i - 1] - nats[i], 0);
    }
    return Math.min(up, down) <= 0.03 * span;
  }

  // A column that rises and falls has no place on one line: no nomogram is drawn of it.
  const turns = scale => scale.ordered && !oneWay(scale.marks.map(m => m[2]));

  function pairScale(pair, features, target, against, temperature) {
    const name = pair.columns.map(j => features[j].name).join(" x ");
    return {name, ordered: false, pair, behind: i => pair.rows[i], marks: pair.table.map((cell, i) =>
      [i, null, clamp(Model.apart(cell[target], cell[against]) / temperature)])};
  }

  function scales(features, problem, target, against) {
    const n = problem.classes.length, t = problem.temperature;
    const all = [
      ...features.map((f, j) => ({...scaleOf(f, problem.terms[j], target, against, t, n), at: j,
        behind: v => Model.rowsBehind(features, problem, features.map((_, i) => i === j ? v : null), target, against)[j + 1]})),
      ...problem.pairs.map(pair => pairScale(pair, features, target, against, t))];
    const found = all.map(each => {
      const nats = each.marks.map(m => m[2]);
      return {...each, least: Math.min(...nats), most: Math.max(...nats)};
    }).filter(each => each.most - each.least > 1e-3);
    return found.sort((a, b) => (b.most - b.least) - (a.most - a.least));
  }

  // Labels that do not lie on each other, outermost first.
  function apartBy(places, gap) {
    const kept = [];
    const order = places.map((_, i) => i).sort((a, b) => Math.abs(places[b] - middle(places)) - Math.abs(places[a] - middle(places)));
    for (const i of order) if (kept.every(o => Math.abs(places[o] - places[i]) >= gap)) kept.push(i);
    return kept;
  }

  const middle = places => (Math.min(...places) + Math.max(...places)) / 2;

  // values: of the case at hand, marked on the scales; null: none.  A sentence, where a column turns.
  function picture(width, features, problem, {target, against, values = null}) {
    const all = scales(features, problem, target, against), shown = all.slice(0, MOST), turning = shown.filter(turns);
    if (turning.length) {
      const some = turning.slice(0, 3).map(s => s.name).join(", "), more = turning.length > 3 ? ` and ${turning.length - 3} more` : "";
      return Dom.make("p", `No nomogram of these two classes: ${some}${more} neither rise nor fall throughout. The pictures of the terms say what they say.`, {class: "soft"});
    }
    const longest = Math.max(...shown.map(s => s.most - s.least), 1e-9), unit = longest / 100;
    const room = width < 520 ? 0 : Math.min(width * 0.3, 300), left = room + 14, right = width - 16;
    const at = points => left + points / 100 * (right - left);
    const head = width < 520 ? 16 : 0, tall = 40 + head;
    const height = shown.length * tall + 40 + 165;
    const svg = Charts.canvas(width, height, `Nomogram of ${shown.map(s => s.name).join(", ")}`, "nomogram");
    const axis = (y, name, marks, key) => {
      svg.append(path([[at(0), y], [at(100), y]], {class: "scale"}), label(name, y));
      marks.forEach(([x, said]) => svg.append(path([[x, y - 4], [x, y + 4]], {class: "tick"}),
        text(x, key === "below" ? y + 17 : y - 7, said, {"text-anchor": "middle"})));
    };
    function label(name, y) {
      const letters = Math.floor((room || width) / 7.6);
      const short = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
      const node = room ? text(room, y + 4, short, {"text-anchor": "end", class: "name"}) : text(2, y - 24, short, {class: "name"});
      node.append(draw("title", {}, name));
      return node;
    }
    axis(room ? 22 : 38, "points", ticks(0, 100, width < 520 ? 5 : 10).map(p => [at(p), String(p)]));
    let y = room ? 40 : 56;
    let base = 0;
    for (const s of shown) {
      const points = nat => at((nat - s.least) / unit);
      flatScale(svg, s, y + head + 22, points);
      svg.append(label(s.name, y + head + 22));
      if (values !== null && s.at !== undefined && values[s.at] !== null && values[s.at] !== -1) {
        const nat = s.ratio(values[s.at]), clipped = Math.min(Math.max(nat, s.least), s.most);
        svg.append(draw("circle", {cx: points(clipped), cy: y + head + 22, r: 5, class: "case"}));
      }
      base += s.least;
      y += tall;
    }
    for (const s of all.slice(MOST)) base += (s.least + s.most) / 2;
    totals(svg, y + 30, {base, unit, rows: shown, problem, target, against, axis, left, right, width});
    return svg;
  }

  function flatScale(svg, s, y, points) {
    const places = s.ordered ? ticks(s.low, s.high, 8).map(v => [v, String(v), s.ratio(v)]) : s.marks;
    svg.append(path([[points(s.least), y], [points(s.most), y]], {class: "scale"}));
    const at = places.map(m => points(Math.min(Math.max(m[2], s.least), s.most)));
    const spoken = new Set(apartBy(at, 42));
    places.forEach(([value, said, nat], i) => {
      const tick = path([[at[i], y - 5], [at[i], y + 5]], {class: "tick"});
      tick.append(draw("title", {}, `${s.name} ${said === null ? "" : `= ${said}`}: ${Words.factor(nat, s.behind(value))}`));
      svg.append(tick);
      if (said !== null && spoken.has(i)) {
        svg.append(text(at[i], y - 8, said.length > 14 ? `${said.slice(0, 13)}…` : said, {"text-anchor": "middle"}));
      }
    });
  }

  function totals(svg, y, {base, unit, rows, problem, target, against, axis, left, right, width}) {
    const prior = Model.priorTerms(problem, null);
    const start = clamp(Model.apart(prior[target], prior[against]) / problem.temperature);
    const whole = rows.reduce((sum, s) => sum + (s.most - s.least), 0) / unit;
    const at = total => left + total / Math.max(whole, 1e-9) * (right - left);
    axis(y, "total points", ticks(0, whole, width < 520 ? 4 : 8).map(p => [at(p), String(p)]));
    const whose = k => problem.name === null ? String(problem.classes[k]) : k === 1 ? problem.name : `not ${problem.name}`;
    const name = k => whose(k).length > 26 ? `${whose(k).slice(0, 25)}…` : whose(k);
    const from = Math.abs(start) < 0.05 ? "both are equally frequent" : `${name(start > 0 ? target : against)} is ${Words.times(start)} as frequent`;
    const zero = (0 - base - start) / unit;
    const marks = CHANCES.map(p => [(Math.log(p / (1 - p)) - base - start) / unit, p])
      .filter(([total]) => total >= 0 && total <= whole).map(([total, p]) => [at(total), `${100 * p} %`]);
    const clear = apartBy(marks.map(m => m[0]).concat([0]).slice(0, marks.length), 40);
    axis(y + 44, `probability of ${name(target)}`, marks.map((m, i) => clear.includes(i) ? m : [m[0], ""]), "below");
    svg.append(text(width < 520 ? 2 : left, y + 90, `before any column: ${from}`, {class: "label prior"}),
      text(width < 520 ? 2 : left, y + 108, `at ${Math.round(zero)} points both are equally probable`, {class: "label"}));
  }

  return {picture, scales, oneWay};
})();
