// Rooms in which the report's own parts stand: with the report's style, apart from the page's.
const style = new CSSStyleSheet();
const dressed = fetch("/static/report/style.css").then(found => found.text()).then(text => style.replaceSync(text));

export function room(host) {
  if (!host.shadowRoot) {
    const root = host.attachShadow({mode: "open"});
    root.adoptedStyleSheets = [style];
    root.append(document.createElement("div"));
  }
  return host.shadowRoot.firstElementChild;
}

// What `paint(width)` gives, in a room; again where its width changes, and when it is asked for.
export function picture(host, paint) {
  const again = Dom.fit(room(host), paint);
  dressed.then(again);
  return again;
}
