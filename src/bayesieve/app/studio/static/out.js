// Part 5: what can be taken away.
import {$, message} from "./dom.js";
import {get} from "./api.js";
import {known, part} from "./store.js";

let due = null;

async function texts() {
  const found = await get("texts");
  if (!found) return;
  $("code").value = found.code;
  $("command").value = found.command;
}

function draw(what) {
  if (what !== "state") return;
  const there = Boolean(known.state.open && known.state.subset.length);
  $("exports").classList.toggle("off", !there);
  $("same").hidden = !there;
  for (const link of $("exports").querySelectorAll("a")) {
    if (there) link.removeAttribute("aria-disabled"); else link.setAttribute("aria-disabled", "true");
  }
  clearTimeout(due);
  if (there && !known.state.running) due = setTimeout(texts, 250);
  else if (!there) $("code").value = $("command").value = "";
}

export function begin() {
  part(draw);
  $("exports").addEventListener("click", event => {
    if (event.target.closest("a")?.getAttribute("aria-disabled")) { event.preventDefault(); message("There is no model yet: search, or add a feature."); }
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const place = $(button.dataset.copy);
      try { await navigator.clipboard.writeText(place.value); } catch { place.select(); document.execCommand("copy"); }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
}
