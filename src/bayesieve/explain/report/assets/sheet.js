"use strict";
// One decision on one page of paper: the decision, three reasons, what would change it, room to sign.
const Sheet = (() => {
  const {make} = Dom;

  // it: what an explorer tells; title: of the report; signal: paints it, or null.
  function decision(it, title, signal) {
    const page = make("div", null, {class: "sheet"});
    const heading = it.name === "ask a person" ? "Ask a person" : it.alarm ? `Raise alarm: ${it.name}` : it.name;
    page.append(make("p", title, {class: "soft"}), make("h2", `${it.row === null ? "A case set by hand" : `Row ${it.row}`}: ${heading}`),
      make("p", `${it.target} ${Words.chance(it.probability[it.at])}; ${Words.compared(it.total, it.against)}.`
        + (it.novelty !== null && it.novelty <= 0.01 ? " This case is unlike the training data." : "")));
    const strongest = it.ratios.map((ratio, i) => [ratio, i]).filter(([, i]) => i > 0 && it.speaks[i])
      .sort((a, b) => Math.abs(b[0]) - Math.abs(a[0])).slice(0, 3);
    const longest = Math.max(1e-9, ...strongest.map(([r]) => Math.abs(r)).filter(Number.isFinite));
    const reasons = make("table", null, {class: "reasons-on-paper"});
    for (const [ratio, i] of strongest) {
      const row = make("tr"), cell = make("td", null, {class: "bar"}), stick = make("span", null, {class: `stick ${ratio >= 0 ? `for ${it.tones[0]}` : `against ${it.tones[1]}`}`});
      const width = Number.isFinite(ratio) ? 50 * Math.abs(ratio) / longest : 50;
      stick.style.width = `${width}%`;
      stick.style.left = ratio >= 0 ? "50%" : `${50 - width}%`;
      cell.append(stick);
      row.append(make("th", it.names[i], {scope: "row"}), make("td", it.values[i]), cell, make("td", Words.factor(ratio, it.rows[i])));
      reasons.append(row);
    }
    page.append(make("h3", "The three strongest reasons"), make("p", Words.reading(it.target, it.against), {class: "soft"}), reasons, make("h3", "What would change the decision"));
    const list = make("ul");
    list.append(...it.flips.map(f => make("li", `${f.name}: ${f.value} (now ${f.now}) → ${f.to}`)));
    page.append(it.flips.length ? list : make("p", "No single column, whatever its value."));
    if (signal !== null) page.append(make("h3", "The signal"), signal(640));
    const signed = make("div", null, {class: "sign"});
    signed.append(...["decided by", "date", "remarks"].map(word => make("span", word)));
    page.append(signed);
    return page;
  }

  return {decision};
})();
