"use strict";
// A signal with its axis, and the windows in which an indicator fired.
const Signal = (() => {
  const {draw} = Dom;

  // Runs of points that are there, each with its place.
  function unbroken(points) {
    const parts = [[]];
    points.forEach((v, i) => {
      if (v !== null) parts[parts.length - 1].push([i, v]);
      else if (parts[parts.length - 1].length) parts.push([]);
    });
    return parts.filter(part => part.length);
  }

  // signal: {points, step, length, times, fired}; channels: which of them; spans: windows to shade.
  function picture(width, signal, channels, spans, names, words) {
    const lines = channels.map(k => signal.points[k]);
    const known = lines.flat().filter(v => v !== null);
    const low = Math.min(...known), high = Math.max(...known), pad = (high - low) * 0.04 || 1;
    const f = Charts.frame(width, 210, {kind: "signal", words,
      x: {low: 0, high: Math.max(signal.length - 1, 1), label: signal.times ? `time, from ${signal.times[0]} to ${signal.times[1]} (points)` : "point"},
      y: {low: low - pad, high: high + pad, format: t => String(Number(t.toPrecision(3)))}});
    const axis = f.svg.querySelector(".axis");
    for (const [first, last] of spans) {
      axis.before(draw("rect", {x: f.across(first), y: f.top, height: f.bottom - f.top, class: "fired",
        width: Math.max(f.across(Math.min(last + 1, signal.length - 1)) - f.across(first), 2)}));
    }
    lines.forEach((points, which) => {
      for (const part of unbroken(points)) {
        f.svg.append(draw("polyline", {class: which ? "other" : "one",
          points: part.map(([i, v]) => `${f.across(i * signal.step).toFixed(1)},${f.up(v).toFixed(1)}`).join(" ")}));
      }
    });
    const unit = channels.map(k => names[k]).filter(Boolean);
    if (unit.length) f.svg.append(Charts.text(f.left + 4, f.top + 12, unit.map((n, i) => i ? `- - ${n}` : n).join("   "), {class: "label"}));
    return f.svg;
  }

  // Where it fired, in words.
  function told(signal, spans) {
    if (!spans.length) return "The score fired nowhere in this signal.";
    const [first, last] = spans[0];
    if (spans.length === 1 && first === 0 && last === signal.length - 1) return "The score fired on the whole series.";
    const where = spans.slice(0, 6).map(([a, b]) => a === b ? `${a}` : `${a} to ${b}`).join(", ");
    return `The score fired at the shaded points (${where}${spans.length > 6 ? " ..." : ""} of ${signal.length}).`;
  }

  return {picture, told};
})();
