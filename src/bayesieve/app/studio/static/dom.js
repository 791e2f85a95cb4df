// Elements made of text: whatever a column is called, it stays text.
const SVG = "http://www.w3.org/2000/svg";

export const $ = id => document.getElementById(id);

function fill(found, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) found.style[key] = each;
    else found.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    found.append(child instanceof Node ? child : String(child));
  }
  return found;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function put(place, ...children) {
  place.replaceChildren();
  return fill(place, {}, children);
}

export function options(select, names, chosen) {
  const wanted = JSON.stringify(names);
  if (select.dataset.names !== wanted) {
    select.dataset.names = wanted;
    select.replaceChildren(...names.map(([value, text]) => h("option", {value}, text)));
  }
  if (chosen !== undefined && document.activeElement !== select) select.value = chosen;
}

export function percent(share, digits = 1) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;
}

export const classColour = k => `var(--c${k % 8})`;

let fading;
export function message(text) {
  const place = $("message");
  clearTimeout(fading);
  place.textContent = text ?? "";
  place.hidden = !text;
  if (text) fading = setTimeout(() => { place.hidden = true; }, 12000);
}
