"use strict";
// Heat maps of pairs: they follow the two classes that the nomogram compares.
const Pairs = (() => {
  function show(part, target, against) {
    const {name, classes, pairs, temperature} = DATA.portable.problems[part];
    const place = document.querySelector(`[data-pairs="${part}"]`);
    if (place === null) return;
    const said = pairs.map(pair => pair.table.map(row => (row[target][0] - row[against][0]) / temperature));
    const most = Math.max(...said.flat().map(Math.abs), 1e-12);
    for (const cell of place.querySelectorAll("td.heat")) {
      const ratio = said[cell.dataset.pair][cell.dataset.cell];
      cell.textContent = (ratio < -0.05 ? "−" : ratio >= 0.05 ? "+" : "") + Math.abs(ratio).toFixed(1);
      cell.dataset.value = ratio;
      cell.style.setProperty("--share", Math.abs(ratio) / most);
      cell.classList.toggle("against", ratio < 0);
    }
    for (const [which, k] of [["target", target], ["against", against]]) {
      place.querySelector(`[data-name="${which}"]`).textContent =
        name === null ? String(classes[k]) : k === 1 ? name : `not ${name}`;
    }
  }

  // Where there is a nomogram, its pickers serve both.
  function follow(part, view) {
    const own = document.querySelector(`[data-pairs="${part}"] .controls`);
    if (own !== null) own.hidden = true;
    const heard = () => show(part, view.signal("target"), view.signal("against"));
    view.addSignalListener("target", heard);
    view.addSignalListener("against", heard);
    heard();
  }

  for (const select of document.querySelectorAll("[data-pairs] select")) {
    const place = select.closest("[data-pairs]");
    const chosen = which => Number(place.querySelector(`select[data-class="${which}"]`).value);
    select.addEventListener("change",
      () => show(place.dataset.pairs, chosen("target"), chosen("against")));
  }
  return {follow};
})();
