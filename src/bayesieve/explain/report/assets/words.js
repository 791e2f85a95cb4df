"use strict";
// Numbers as people say them.
const Words = (() => {
  const groups = n => String(n).replace(/\B(?=(\d{3})+$)/g, " ");

  // A factor in two digits, at most one behind the point; rounded as in explain/text.py.
  function few(value) {
    if (value < 9.95) return (Math.floor(10 * value + 0.5) / 10).toFixed(1);
    const unit = 10 ** (String(Math.trunc(value)).length - 2);
    return groups(Math.floor(value / unit + 0.5) * unit);
  }

  // How many times as likely, of evidence in nat; its sign does not count.
  function times(nat) {
    const size = Math.abs(nat);
    if (size === Infinity) return "infinitely";
    if (size < 0.05) return "as";
    return size >= Math.log(10000) ? "over 10 000 times" : `${few(Math.exp(size))} times`;
  }

  // What evidence multiplies the odds by (x) or divides them by (/), and what stands behind it: as
  // factor_in_words of explain/text.py.  rows, low, high: undefined or null where not known.
  function factor(nat, rows = null, low = null, high = null) {
    const size = Math.abs(nat);
    const number = size === Infinity ? "infinity" : size >= Math.log(10000) ? "10 000+" : few(Math.exp(size));
    return `${nat >= 0 ? "x" : "/"} ${number}${beside(nat, rows, low, high)}`;
  }

  function beside(nat, rows = null, low = null, high = null) {
    const ends = low === null || high === null ? [] : [(nat >= 0 ? [low, high] : [-high, -low]).map(end).join(" to ")];
    const known = [...ends, ...(rows === null ? [] : [behind(rows)])];
    return known.length ? ` (${known.join("; ")})` : "";
  }

  // The end of an interval of a factor, in two digits.
  function end(nat) {
    if (nat >= Math.log(10000)) return "10 000+";
    const value = Math.exp(Math.max(nat, -Math.log(10000)));
    return value >= 99.5 ? few(value) : String(Number(value.toPrecision(2)));
  }

  // How many training rows stand behind evidence, and that they are few (FEW_ROWS in Python).
  function behind(rows) {
    if (rows < 0.05) return "no rows";
    return rows < 5 ? `few rows: ${Math.floor(10 * rows + 0.5) / 10}` : `${groups(Math.floor(rows + 0.5))} rows`;
  }

  // What a factor means, said once on every screen.
  const reading = (one, other) =>
    `x 3: such a value is 3 times as likely in ${one} as in ${other}; / 3: the other way round. All factors multiply to the odds.`;

  // How probable a case's class is beside another.
  function compared(nat, other) {
    if (Math.abs(nat) < 0.05) return `as probable as ${other}`;
    return nat > 0 ? `${times(nat)} as probable as ${other}` : `${other} is ${times(nat)} as probable`;
  }

  function signed(x, digits = 3) {
    if (x === Infinity) return "+∞";
    if (x === -Infinity) return "−∞";
    return (x >= 0 ? "+" : "−") + Math.abs(x).toFixed(digits);
  }

  // A probability without false precision at its ends.
  const chance = p => p >= 0.999 ? "≥ 99.9 %" : p <= 0.001 ? "≤ 0.1 %" : `${(100 * p).toFixed(1)} %`;

  // Without a row of the class (or of the others) there is no rate.
  const percent = (rate, digits = 1) => rate === null ? "–" : `${(100 * rate).toFixed(digits)} %`;

  return {times, factor, beside, reading, compared, signed, chance, percent};
})();
