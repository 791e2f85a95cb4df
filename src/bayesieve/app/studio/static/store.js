// What the page knows; parts hear of changes.
const parts = [];

export const known = {state: {open: false, targets: []}, columns: null, late: {version: -1, losses: {}, substitutes: {}}, active: null};

// What takes longer comes later, sometimes before the state that it belongs to.
export function late(version) {
  if (version > known.late.version) known.late = {version, losses: {}, substitutes: {}};
  return known.late;
}

export const extras = () => (known.late.version === known.state.version ? known.late : {losses: {}, substitutes: {}});

export const part = draw => parts.push(draw);

export function changed(what) {
  for (const draw of parts) draw(what);
}

export function take(state) {
  if (!state || state.version < known.state.version) return;
  const other = state.opened !== known.state.opened;
  known.state = state;
  if (other) { known.columns = null; known.active = null; }
  changed("state");
}
