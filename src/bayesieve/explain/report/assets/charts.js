"use strict";
// Charts as SVG: data in, a picture out.  Colours come from the style sheet.
const Charts = (() => {
  const {draw} = Dom;

  // Round numbers between two ends.
  function ticks(low, high, most = 6) {
    const span = high - low;
    if (!(span > 0)) return [low];
    const rough = span / most, unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * unit).find(s => span / s <= most);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * span; i += 1) found.push(i * step);
    return found.map(x => Number(x.toPrecision(12)));
  }

  function logTicks(low, high, most = 6) {
    const found = [];
    for (let p = Math.floor(Math.log10(low)); 10 ** p <= high * 1.0001; p += 1) {
      for (const m of [1, 2, 5]) {
        const x = m * 10 ** p;
        if (x >= low * 0.9999 && x <= high * 1.0001) found.push(Number(x.toPrecision(3)));
      }
    }
    if (found.length <= most) return found;
    const tens = found.filter(x => String(x).replace(/[.0e+-]/g, "").startsWith("1"));
    return tens.length >= 2 ? tens : found.filter((_, i) => i % Math.ceil(found.length / most) === 0);
  }

  // From numbers to pixels.
  function scale({low, high, log = false}, from, to) {
    const way = log ? Math.log : x => x, a = way(low), span = way(high) - a || 1;
    const at = x => from + (way(x) - a) / span * (to - from);
    at.back = px => { const v = a + (px - from) / (to - from) * span; return log ? Math.exp(v) : v; };
    at.ticks = most => log ? logTicks(low, high, most) : ticks(low, high, most);
    return at;
  }

  const text = (x, y, said, attributes = {}) => draw("text", {x, y, ...attributes}, said);
  const path = (points, attributes) =>
    draw("path", {d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join(""), ...attributes});

  function canvas(width, height, words, kind) {
    const svg = draw("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words, class: kind});
    svg.append(draw("title", {}, words));
    return svg;
  }

  // A frame with both axes: the scales, and where to draw.
  function frame(width, height, {x, y, words, kind, left = 46, top = 8}) {
    const svg = canvas(width, height, words, kind), bottom = height - 36, right = width - 20;
    const across = scale(x, left, right), up = scale(y, bottom, top);
    const axis = draw("g", {class: "axis"});
    for (const t of across.ticks(width < 420 ? 4 : 7)) {
      axis.append(path([[across(t), top], [across(t), bottom]], {class: "grid"}),
        text(across(t), bottom + 14, (x.format ?? String)(t), {"text-anchor": "middle"}));
    }
    for (const t of up.ticks(6)) {
      axis.append(path([[left, up(t)], [right, up(t)]], {class: "grid"}),
        text(left - 5, up(t) + 4, (y.format ?? String)(t), {"text-anchor": "end"}));
    }
    axis.append(text((left + right) / 2, height - 5, x.label, {"text-anchor": "middle", class: "label"}));
    svg.append(axis);
    return {svg, across, up, left, right, top, bottom};
  }

  const percent = t => `${Number((100 * t).toPrecision(3))} %`;

  // Names with their colours, in a list of HTML: it breaks where a line is full.
  function legend(entries) {
    const list = Dom.make("ul", null, {class: "legend"});
    list.append(...entries.map(([name, kind]) => Dom.make("li", name, {class: kind})));
    return list;
  }

  const withLegend = (svg, entries) => {
    const both = Dom.make("div");
    both.append(legend(entries), svg);
    return both;
  };

  // The colour of a class by its place, as everywhere in a report; those beyond eight are dashed.
  const tone = at => `k${at % 8}${at >= 8 ? " dashed" : ""}`;

  // lines: [{name, at: place of the class, points: [[false alarms, detection]], now: [x, y] or null}]
  function roc(width, lines) {
    const height = Math.min(Math.max(width * 0.72, 240), 340), unit = {low: 0, high: 1, format: percent};
    const f = frame(width, height, {x: {...unit, label: "false alarms"}, y: unit, kind: "roc",
      words: `Detection against false alarms: ${lines.map(l => l.name).join(", ")}`});
    f.svg.append(path([[f.left, f.bottom], [f.right, f.top]], {class: "diagonal"}));
    lines.forEach(({points, at}) => f.svg.append(
      path(points.map(([x, y]) => [f.across(x), f.up(y)]), {class: `line ${tone(at)}`})));
    lines.forEach(({name, at, now}) => {
      if (now === null) return;
      const dot = draw("circle", {cx: f.across(now[0]), cy: f.up(now[1]), r: 5, class: `dot ${tone(at)}`});
      dot.append(draw("title", {}, `${name}: ${percent(now[1])} detected, ${percent(now[0])} false alarms`));
      f.svg.append(dot);
    });
    return withLegend(f.svg, lines.map(l => [l.name, tone(l.at)]));
  }

  // lines: [{name, at, bins: [[said, seen, rows, low, high]]}]
  function calibration(width, lines) {
    const height = Math.min(Math.max(width * 0.72, 240), 340), unit = {low: 0, high: 1, format: percent};
    const most = Math.max(1, ...lines.flatMap(l => l.bins.map(b => b[2])));
    const f = frame(width, height, {x: {...unit, label: "probability the model gives"}, y: unit, kind: "calibration",
      words: "Share of rows against the probability the model gives"});
    f.svg.append(path([[f.left, f.bottom], [f.right, f.top]], {class: "diagonal"}));
    lines.forEach(({name, at, bins}) => {
      f.svg.append(path(bins.map(b => [f.across(b[0]), f.up(b[1])]), {class: `line thin ${tone(at)}`}));
      for (const [said, seen, rows, low, high] of bins) {
        const x = f.across(said);
        const dot = draw("circle", {cx: x, cy: f.up(seen), r: 2.5 + 4 * Math.sqrt(rows / most), class: `dot ${tone(at)}`});
        dot.append(draw("title", {}, `${name}: said ${percent(said)}, seen ${percent(seen)} (${percent(low)} to ${percent(high)}) of ${rows} rows`));
        f.svg.append(path([[x, f.up(low)], [x, f.up(high)]], {class: `whisker ${tone(at)}`}), dot);
      }
    });
    return withLegend(f.svg, lines.map(l => [l.name, tone(l.at)]));
  }

  // lines: [{name, kind, points: [[size, value, spread or null, step]]}], chosen: [size, value];
  // zero: from 0 on; format: of the values.
  function trail(width, {lines, chosen, log, zoom, what, zero = false, format = t => String(Number(t.toPrecision(3)))}) {
    let all = lines.flatMap(l => l.points).filter(p => p[1] !== null);
    if (zoom) {
      const near = all.filter(p => p[0] <= 3 * chosen[0] + 3 && p[0] >= chosen[0] / 3 - 3);
      if (near.length > 2) all = near;
    }
    const sizes = all.map(p => p[0]), values = all.map(p => p[1]);
    const log2 = log && Math.min(...values) > 0;
    const low = Math.min(...values), high = Math.max(...values), pad = (high - low) * 0.05 || 0.01;
    // A subset of no column has a place on a logarithmic axis, too.
    const x = {low: log ? Math.max(Math.min(...sizes), 0.6) : Math.min(...sizes), high: Math.max(Math.max(...sizes), Math.min(...sizes) + 1),
      log, label: `number of ${what}`, format: t => t < 1 && log ? "" : String(t)};
    const y = log2 ? {low: low * 0.93, high: high * 1.07, log: true} : {low: zero ? 0 : low - pad, high: high + pad};
    const f = frame(width, Math.min(300, Math.max(width * 0.7, 200)), {x, y: {...y, format}, left: 54, kind: "trail",
      words: `${lines.map(l => l.name).join(" and ")} against the number of ${what}; chosen: ${chosen[0]}`});
    const at = n => f.across(Math.max(n, x.low));
    const inside = p => p[1] !== null && (!zoom || all.includes(p));
    const clip = v => Math.min(Math.max(v, f.top), f.bottom);
    for (const {points, kind} of lines) {
      const mine = points.filter(inside);
      const banded = mine.filter(p => p[2] !== null && p[2] !== undefined);
      const edge = (p, sign) => [at(p[0]), clip(f.up(Math.max(p[1] + sign * 2 * p[2], log2 ? y.low : -Infinity)))];
      for (const run of runs(banded)) {
        f.svg.append(path([...run.map(p => edge(p, 1)), ...run.reverse().map(p => edge(p, -1))], {class: `band ${kind}`}));
      }
      for (const run of runs(mine)) {
        f.svg.append(path(run.map(p => [at(p[0]), f.up(p[1])]), {class: `line ${kind}`}));
      }
    }
    f.svg.append(draw("circle", {cx: at(chosen[0]), cy: f.up(chosen[1]), r: 6, class: "chosen"}));
    const found = withLegend(f.svg, [...lines.map(l => [l.name, l.kind]), ["chosen", "chosen"]]);
    found.nearest = px => {
      const points = lines[0].points.filter(inside);
      return points.reduce((best, p) => Math.abs(at(p[0]) - px) <= Math.abs(at(best[0]) - px) ? p : best, points[0])[3];
    };
    return found;
  }

  // Phases of a search, each a run: a search may come back to a size.
  function runs(points) {
    const found = [];
    points.forEach(p => {
      if (!found.length || found[found.length - 1][0][4] !== p[4]) found.push([]);
      found[found.length - 1].push(p);
    });
    return found;
  }

  // bars: [{name, share, low, high, full}]
  function bars(width, entries, words) {
    const room = Math.min(width * 0.45, 320), line = 22;
    const svg = canvas(width, entries.length * line + 24, words, "bars");
    const across = scale({low: 0, high: 1}, room, width - 46);
    for (const t of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(path([[across(t), 0], [across(t), entries.length * line]], {class: "grid"}),
        text(across(t), entries.length * line + 16, percent(t), {"text-anchor": "middle"}));
    }
    const letters = Math.floor(room / 6.8);
    entries.forEach(({name, share, low, high, full}, i) => {
      const y = i * line + line / 2;
      const short = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
      const label = text(room - 6, y + 4, short, {"text-anchor": "end"});
      label.append(draw("title", {}, name));
      const bar = draw("rect", {x: across(0), y: y - 7, width: Math.max(across(share) - across(0), 0.5), height: 14, class: full ? "full" : "open"});
      bar.append(draw("title", {}, `${name}: ${percent(share)} (${percent(low)} to ${percent(high)})`));
      svg.append(label, bar, path([[across(low), y], [across(high), y]], {class: "whisker"}));
    });
    return svg;
  }

  return {roc, calibration, trail, bars, ticks, scale, frame, canvas, path, text, percent};
})();
