"use strict";
// Heat maps of pairs: what each cell says for one class against another.
const Pairs = (() => {
  // Fills the cells that a page has.
  function show(place, problem, target, against) {
    const {name, classes, pairs, temperature} = problem;
    const said = pairs.map(pair => pair.table.map(row => Model.apart(row[target], row[against]) / temperature));
    const most = Math.max(...said.flat().map(Math.abs), 1e-12);
    for (const cell of place.querySelectorAll("td.heat")) {
      const ratio = said[cell.dataset.pair][cell.dataset.cell];
      cell.querySelector(".odds").textContent = Words.factor(ratio);
      cell.querySelector(".nat").textContent =
        (ratio < -0.05 ? "−" : ratio >= 0.05 ? "+" : "") + Math.abs(ratio).toFixed(1);
      cell.dataset.value = ratio;
      cell.style.setProperty("--share", Math.abs(ratio) / most);
      cell.classList.toggle("against", ratio < 0);
      cell.style.setProperty("--tone", `var(--c${(ratio < 0 ? against : target) % 8})`);
    }
    for (const [which, k] of [["target", target], ["against", against]]) {
      const told = place.querySelector(`[data-name="${which}"]`);
      told.closest(".key").style.setProperty("--tone", `var(--c${k % 8})`);
      told.textContent =
        name === null ? String(classes[k]) : k === 1 ? name : `not ${name}`;
    }
  }

  return {show};
})();
