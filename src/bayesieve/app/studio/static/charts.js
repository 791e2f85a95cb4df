// What the report does not draw: rows by value.
import {classColour, s} from "./dom.js";

// The best step of each size: where the path would be left.
export function bestOfSizes(points, higher) {
  const best = new Map();
  points.forEach(([size, score], at) => {
    const old = best.get(size);
    if (old === undefined || (higher ? score > points[old][1] : score < points[old][1])) best.set(size, at);
  });
  return [...best.entries()].sort((a, b) => a[0] - b[0]);
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
