// Charts drawn by hand: no library, no expression.
import {classColour, percent, s} from "./dom.js";

const WIDE = 250, HIGH = 175, LEFT = 36, RIGHT = 8, TOP = 10, BOTTOM = 30;

function steps(most) {
  const raw = most / 4, unit = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map(each => each * unit).find(each => each >= raw) ?? raw;
  return Array.from({length: Math.floor(most / step + 1e-9) + 1}, (_, i) => i * step);
}

// The best step of each size: where the path would be left.
export function bestOfSizes(points, higher) {
  const best = new Map();
  points.forEach(([size, score], at) => {
    const old = best.get(size);
    if (old === undefined || (higher ? score > points[old][1] : score < points[old][1])) best.set(size, at);
  });
  return [...best.entries()].sort((a, b) => a[0] - b[0]);
}

export function pathChart(points, now, higher, pick) {
  const found = bestOfSizes(points, higher).filter(([, at]) => points[at][2] !== null);
  const most = Math.max(1, ...found.map(([size]) => size));
  const top = Math.max(0.01, ...found.map(([, at]) => points[at][2] + points[at][3])) * 1.05;
  const x = size => LEFT + (WIDE - LEFT - RIGHT) * size / most;
  const y = error => TOP + (HIGH - TOP - BOTTOM) * (1 - error / top);
  const sizes = [...new Set(steps(most).map(Math.round))];
  const upper = found.map(([size, at]) => `${x(size)},${y(points[at][2] + points[at][3])}`);
  const lower = found.map(([size, at]) => `${x(size)},${y(Math.max(0, points[at][2] - points[at][3]))}`).reverse();
  const few = found.length <= 80 ? found : found.filter(([size]) => size === now);
  const said = found.length ? `Share of wrong rows against the number of features, from ${percent(points[found[0][1]][2])} with ${found[0][0]} to ${percent(points[found.at(-1)[1]][2])} with ${found.at(-1)[0]}` : "No search yet";
  return s("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": said},
    steps(top).map(tick => [
      s("line", {class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: y(tick), y2: y(tick)}),
      s("text", {x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end"}, percent(tick, top < 0.04 ? 1 : 0))]),
    sizes.map(size => s("text", {x: x(size), y: HIGH - BOTTOM + 15, "text-anchor": "middle"}, size)),
    s("text", {x: (LEFT + WIDE) / 2, y: HIGH - 2, "text-anchor": "middle"}, "features"),
    s("polygon", {class: "band", points: [...upper, ...lower].join(" ")}),
    s("polyline", {class: "line", points: found.map(([size, at]) => `${x(size)},${y(points[at][2])}`).join(" ")}),
    few.map(([size, at]) => s("circle", {
      class: size === now ? "dot now" : "dot", cx: x(size), cy: y(points[at][2]), r: size === now ? 5 : 3.2, onclick: () => pick(at),
    }, s("title", {}, `${size} features: wrong on ${percent(points[at][2])}`))));
}

// Rows of each class by value, one bar a value.
export function histogram(data, classes) {
  const high = 64, wide = 240, n = Math.max(1, data.labels.length), each = wide / n;
  const most = Math.max(1, ...data.counts.map(row => row.reduce((a, b) => a + b, 0)));
  return s("svg", {viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `Rows by value and class; ${data.labels.length} bars from ${data.labels[0] ?? "nothing"} to ${data.labels.at(-1) ?? "nothing"}`},
    data.counts.map((row, i) => {
      let base = high;
      return row.map((count, k) => {
        const tall = (high - 2) * count / most;
        base -= tall;
        return count ? s("rect", {x: i * each + 0.5, y: base, width: Math.max(1, each - 1), height: tall, style: {fill: classColour(k)}},
          s("title", {}, `${data.labels[i]}: ${count} of ${classes[k]}`)) : null;
      });
    }));
}

// Detections against false alarms, and where a threshold stands on that curve.
export function tradeOff(thresholds, at) {
  const x = share => LEFT + (WIDE - LEFT - RIGHT) * share, y = share => TOP + (HIGH - TOP - BOTTOM) * (1 - share);
  const [, found, false_] = thresholds[at];
  return s("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `Detections against false alarms: ${percent(found)} found at ${percent(false_)} false alarms`},
    [0, 0.5, 1].map(tick => [
      s("line", {class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: y(tick), y2: y(tick)}),
      s("text", {x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end"}, percent(tick, 0)),
      s("text", {x: x(tick), y: HIGH - BOTTOM + 15, "text-anchor": tick === 1 ? "end" : "middle"}, percent(tick, 0))]),
    s("text", {x: (LEFT + WIDE) / 2, y: HIGH - 2, "text-anchor": "middle"}, "false alarms"),
    s("polyline", {class: "line", points: thresholds.map(([, d, f]) => `${x(f ?? 0)},${y(d ?? 0)}`).join(" ")}),
    s("circle", {class: "dot now", cx: x(false_ ?? 0), cy: y(found ?? 0), r: 5}));
}
