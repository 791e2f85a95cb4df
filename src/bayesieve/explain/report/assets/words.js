"use strict";
// Numbers as people say them.
const Words = (() => {
  const groups = n => String(n).replace(/\B(?=(\d{3})+$)/g, " ");

  // A factor in two digits, at most one behind the point.
  function few(value) {
    if (value < 9.95) return value.toFixed(1);
    const unit = 10 ** (String(Math.trunc(value)).length - 2);
    return groups(Math.round(value / unit) * unit);
  }

  // How many times as likely, of evidence in nat; its sign does not count.
  function times(nat) {
    const size = Math.abs(nat);
    if (size === Infinity) return "infinitely";
    if (size < 0.05) return "as";
    return size >= Math.log(10000) ? "over 10 000 times" : `${few(Math.exp(size))} times`;
  }

  // What evidence says for one class against another.
  function odds(nat, one, other) {
    if (Math.abs(nat) < 0.05) return "says nothing";
    return `${times(nat)} as likely in ${nat > 0 ? one : other}`;
  }

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

  return {times, odds, compared, signed, chance, percent, few};
})();
