"use strict";
// Small elements.  Text never becomes markup.
const Dom = (() => {
  function fill(node, text, attributes) {
    if (text !== null && text !== undefined) node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  }

  const make = (tag, text = null, attributes = {}) =>
    fill(document.createElement(tag), text, attributes);

  const draw = (tag, attributes = {}, text = null) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), text, attributes);

  function options(select, names, chosen) {
    select.replaceChildren(...names.map(([value, text]) => make("option", text, {value})));
    select.value = String(chosen);
  }

  // Draws what `paint(width)` gives into a place, and again where its width changes.
  function fit(place, paint) {
    let last = 0;
    const again = () => {
      const width = Math.round(place.clientWidth);
      if (width > 0 && width !== last) {
        last = width;
        place.replaceChildren(paint(width));
      }
    };
    again();
    new ResizeObserver(again).observe(place);
    return () => { last = 0; again(); };
  }

  return {make, draw, options, fit};
})();
