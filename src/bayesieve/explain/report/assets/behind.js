"use strict";
// The training data behind a bar: counts, and rows with the same value.
const Behind = (() => {
  const {make} = Dom;
  const isMissing = (feature, value) => value === null || value < 0 && feature.levels !== null;

  function shown(feature, value) {
    if (isMissing(feature, value)) return "missing";
    if (feature.levels === null) return String(value);
    const level = feature.levels[value];
    return feature.model === "bernoulli" ? (level === 1 ? "yes" : level === 0 ? "no" : String(level)) : String(level);
  }

  // Neighbours that say nearly the same: what a bar rests on may reach farther.
  function stretch(value, cuts) {
    const [low, high] = [-1, 0].map(i => cuts[Model.below(value, cuts) + i]).map(cut => cut === undefined ? null : Number(cut.toPrecision(4)));
    return low === null && high === null ? "with a value" : low === null ? `up to ${high}` : high === null ? `above ${low}` : `from ${low} to ${high}`;
  }

  // Lines of a table: class, rows with the value, rows, share; or moments.
  function counts([counted, source], problem, feature, value, className) {
    const missing = isMissing(feature, value), head = make("tr");
    const columns = counted !== null ? ["class", missing ? "rows without a value" : source.cuts ? `rows ${stretch(value, source.cuts)}` : "rows with this value", "rows", "share"]
      : ["class", "rows", "mean", "standard deviation", "without a value"];
    head.append(...columns.map(text => make("th", text, {scope: "col"})));
    const lines = problem.classes.map((_, k) => {
      const row = make("tr"), total = problem.class_count[k];
      let cells = [source.rows?.[k], source.mean?.[k]?.toPrecision(5) ?? "–", source.sd?.[k]?.toPrecision(5) ?? "–", source.missing?.[k]];
      if (counted !== null) {
        const n = missing ? source.missing[k] : counted[source.cuts ? Model.below(value, source.cuts) : value]?.[k] ?? 0;
        cells = [n, total, total > 0 ? `${(100 * n / total).toFixed(1)} %` : "–"];
      }
      row.append(make("th", className(k), {scope: "row"}), ...cells.map(each => make("td", each)));
      return row;
    });
    return [head, ...lines];
  }

  // What the other terms changed of what counts say, by class; null: nothing.
  function added(source, feature, value) {
    if (source.added === undefined || isMissing(feature, value)) return null;
    return source.added[source.cuts ? Model.below(value, source.cuts) : value] ?? null;
  }

  // Positions of rows with this value; of a number, the nearest ones.
  function alike(rows, feature, j, value) {
    const column = rows.values[j], all = column.map((_, i) => i);
    if (isMissing(feature, value)) return all.filter(i => column[i] === null || column[i] === -1);
    if (feature.levels !== null) return all.filter(i => column[i] === value);
    return all.filter(i => column[i] !== null)
      .sort((a, b) => Math.abs(column[a] - value) - Math.abs(column[b] - value)).slice(0, 20);
  }

  return {counts, added, alike, shown, isMissing};
})();
