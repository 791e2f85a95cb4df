"use strict";
// Rows as links: arrow keys move along, Enter opens; only one of them is a stop of the Tab key.
const RowList = (() => {
  const {make, options} = Dom;

  // ask: {truthOf(i), decided(i), pick(i), person: what asking a person is called}
  function mount(place, rows, ask) {
    const any = rows.validation.some(Boolean);
    const head = make("div", null, {class: "controls"}), box = make("ul", null, {id: "rows", "aria-label": "Rows"});
    const wrong = make("input", null, {type: "checkbox", id: "only-wrong"}), label = make("label");
    const truths = make("select", null, {id: "only-truth", "aria-label": "Rows of this class"});
    label.append(wrong, " decided wrongly");
    head.append(make("span", any ? "Choice rows" : "Rows"), truths, label);
    place.replaceChildren(head, box);
    let now = null;
    const links = () => [...box.querySelectorAll("a")];

    function fill() {
      const seen = rows.at.map((_, i) => i).filter(i => !any || rows.validation[i]);
      const names = [...new Set(seen.map(ask.truthOf))];
      const chosen = names.includes(truths.value) ? truths.value : "";
      options(truths, [["", `of any class (${seen.length})`], ...names.map(n => [n, n])], chosen);
      const shown = seen.filter(i => chosen === "" || ask.truthOf(i) === chosen)
        .map(i => [i, ask.truthOf(i), ask.decided(i)]).filter(([, truth, said]) => !wrong.checked || truth !== said && said !== ask.person);
      box.replaceChildren(...shown.map(([i, truth, said], place_) => {
        const item = make("li"), link = make("a", `row ${rows.at[i]}`, {href: `#row-${rows.at[i]}`, "data-row": rows.at[i], tabindex: place_ ? -1 : 0});
        item.append(link, make("span", ` ${truth}`), make("span", truth === said ? "" : ` → ${said}`, {class: said === ask.person ? "soft" : "wrong"}));
        if (rows.signals?.[rows.at[i]]) item.append(make("span", " ∿", {title: "with its signal"}));
        return item;
      }));
      if (!shown.length) box.append(make("li", "none", {class: "soft"}));
    }

    function go(row) {
      const i = rows.at.indexOf(row);
      if (i < 0) return;
      now = row;
      for (const link of links()) {
        const mine = Number(link.dataset.row) === row;
        link.setAttribute("tabindex", mine ? 0 : -1);
        link.toggleAttribute("aria-current", mine);
      }
      ask.pick(i);
    }

    const fromHash = () => {
      // A page that shows another model has put another list in its place.
      if (!place.isConnected) { window.removeEventListener("hashchange", fromHash); return; }
      const found = /^#row-(\d+)$/.exec(window.location.hash);
      // A click has gone there already; what was set since stays.
      if (found && Number(found[1]) !== now) go(Number(found[1]));
    };
    box.addEventListener("keydown", event => {
      const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
      if (step === undefined) return;
      const all = links(), next = all[all.indexOf(document.activeElement) + step];
      if (next) next.focus();
      event.preventDefault();
    });
    box.addEventListener("click", event => {
      if (event.target.dataset.row !== undefined) go(Number(event.target.dataset.row));
    });
    wrong.addEventListener("change", () => { fill(); refocus(); });
    truths.addEventListener("change", () => { fill(); refocus(); });
    const refocus = () => { const all = links(); if (all.length) all[0].setAttribute("tabindex", 0); };
    window.addEventListener("hashchange", fromHash);
    queueMicrotask(fromHash);
    return {fill, go};
  }

  return {mount};
})();
