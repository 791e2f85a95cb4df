"use strict";
// The model's own arithmetic: sums of terms, and probabilities from them.
const Model = (() => {
  function logSum(logs) {
    const top = Math.max(...logs);
    if (top === -Infinity) return top;
    let sum = 0;
    for (const each of logs) sum += Math.exp(each - top);
    return top + Math.log(sum);
  }

  // Log-probability of a number in one class: components, each a sum of bells.
  function density(x, components, term) {
    if (!components.length) return term.empty;
    return logSum(components.map(([share, levels, offsets, mean, sd]) => {
      let said = logSum(levels.map((level, i) => {
        const apart = (x - mean) / sd + offsets[i];
        return level - apart * apart / 2;
      }));
      if (term.least !== null) said = Math.max(said, term.least);
      return share + Math.max(said, -1e300);
    }));
  }

  function nothing(nClasses) {
    return Array.from({length: nClasses}, () => [0, 0]);
  }

  // What a value says about each class: [nat, 1 where it is impossible].
  // A value is null (missing), the position of a level (-1: never seen), or a number.
  function speak(value, feature, term, nClasses) {
    if (feature.levels !== null || feature.cuts !== null) {
      if (value === null) return term.silent;
      return table(term)[place(value, feature)] ?? nothing(nClasses);
    }
    if (value === null) return nothing(nClasses);
    let x = value;
    if (feature.grid !== null) x = roundHalfEven(x / feature.grid) * feature.grid;
    let nats = term.classes.map(components => density(x, components, term));
    if (term.least === null) {
      const lift = Math.max(-term.bound / 2 - Math.max(...nats), 0);
      nats = nats.map(nat => Math.min(Math.max(nat + lift, -term.bound), term.bound));
    }
    return nats.map(nat => [nat, 0]);
  }

  // Which level, or interval between cuts, a value is; -1: missing, or never seen.
  function place(value, feature) {
    if (value === null) return -1;
    return feature.levels !== null ? value : below(value, feature.cuts);
  }

  // What two columns say together.
  function speakTogether(pair, features, values, nClasses) {
    return pair.table[cell(pair, features, values)] ?? nothing(nClasses);
  }

  // The cell of a pair that two values are in.
  function cell(pair, features, values) {
    const [one, two] = pair.columns.map((j, i) => pair.groups[i][place(values[j], features[j])]);
    return one === undefined || two === undefined ? -1 : one * (Math.max(...pair.groups[1]) + 1) + two;
  }

  // Training rows behind what each term says, as explain counts them: null where it says nothing,
  // or is a curve.  Of a number on a grid, those of the stretch that tells two classes apart as far.
  function rowsBehind(features, problem, values, target, against) {
    const codes = features.map((feature, j) => problem.rows[j] === null ? -1 : place(values[j], feature));
    const silent = term => term.silent.every(([nat, never]) => nat === 0 && never === 0);
    const single = features.map((feature, j) => {
      const rows = problem.rows[j], term = problem.terms[j], c = codes[j];
      if (rows !== null && values[j] === null && !silent(term)) return rows[rows.length - 1];
      if (c < 0 || feature.cuts === null) return rows?.[c] ?? null;
      const line = table(term).map(row => apart(row[target], row[against])), sign = Math.sign(line[c]);
      const least = Math.max(Math.abs(line[c]) - 0.1, 0), weaker = i => sign * line[i] < least;
      let first = c, last = c;
      while (first > 0 && !weaker(first - 1)) first -= 1;
      while (last + 1 < line.length && !weaker(last + 1)) last += 1;
      return rows.slice(first, last + 1).reduce((sum, n) => sum + n, 0);
    });
    return [null, ...single, ...problem.pairs.map(pair => {
      const unseen = pair.columns.some(j => codes[j] < 0 || problem.rows[j][codes[j]] === null);
      return unseen ? null : pair.rows[cell(pair, features, values)] ?? null;
    })];
  }

  // What each code of a grid says; written as steps from code to code, in 1e-10 nat.
  function table(term) {
    if (term.table === undefined) {
      const totals = term.steps.map(() => 0);
      term.table = (term.steps[0] ?? []).map((_, c) =>
        term.steps.map((steps, k) => [(totals[k] += steps[c]) / 1e10, 0]));
    }
    return term.table;
  }

  // How many cuts are below a number: its place on a grid.
  function below(x, cuts) {
    let first = 0, last = cuts.length;
    while (first < last) {
      const middle = (first + last) >> 1;
      if (cuts[middle] < x) first = middle + 1; else last = middle;
    }
    return first;
  }

  function roundHalfEven(x) {
    const low = Math.floor(x), rest = x - low;
    if (rest < 0.5) return low;
    if (rest > 0.5) return low + 1;
    return low % 2 === 0 ? low : low + 1;
  }

  // Another prior moves the odds by its ratio to the one the model speaks for, whatever the
  // temperature; a weighted model's constants are more than its prior.
  function priorTerms(problem, prior) {
    if (prior === null) return problem.prior;
    const t = problem.temperature;
    return prior.map((p, k) => {
      if (p <= 0) return [0, 1];
      const old = problem.prior[k];
      return [old[1] ? Math.log(p) : old[0] + t * (Math.log(p) - Math.log(problem.shares[k])), 0];
    });
  }

  // All terms of a row: the prior first, then the features, then pairs of them.
  function terms(features, problem, values, prior) {
    const n = problem.classes.length;
    return [priorTerms(problem, prior),
      ...features.map((feature, j) => speak(values[j], feature, problem.terms[j], n)),
      ...problem.pairs.map(pair => speakTogether(pair, features, values, n))];
  }

  function sums(found, nClasses) {
    return Array.from({length: nClasses}, (_, k) => found.reduce(
      ([nat, never], term) => [nat + term[k][0], never + term[k][1]], [0, 0]));
  }

  // Difference of two classes in nat; infinite where one of them is more impossible.
  function apart(one, other) {
    if (one[1] !== other[1]) return one[1] < other[1] ? Infinity : -Infinity;
    return one[0] - other[0];
  }

  function probabilities(totals, temperature) {
    const fewest = Math.min(...totals.map(total => total[1]));
    const best = Math.max(...totals.filter(t => t[1] === fewest).map(t => t[0]));
    const odds = totals.map(
      ([nat, never]) => never > fewest ? 0 : Math.exp((nat - best) / temperature));
    const all = odds.reduce((a, b) => a + b, 0);
    return odds.map(each => each / all);
  }

  // What a rule decides: a class's position, or their number to ask a person.  Without a rule,
  // the most probable class; the first of equals.
  function decide(problem, rule, totals, prior) {
    const n = totals.length;
    if (rule === null || rule === undefined) {
      return totals.reduce((best, each, k) => apart(each, totals[best]) > 0 ? k : best, 0);
    }
    const own = priorTerms(problem, prior);
    const made = totals.map(([nat, never], k) => [nat - own[k][0] + rule.prior[k], never - own[k][1]]);
    const leads = made.map((mine, k) =>
      Math.min(...made.filter((_, o) => o !== k).map(other => apart(mine, other))));
    const decisions = rule.costs === null ? n : rule.costs[0].length;
    const allowed = Array(decisions).fill(true);
    for (const {position, low} of rule.guards) {
      if (low !== null && leads[position] <= low + 1e-12) allowed[position] = false;
    }
    for (const {position, high, or_ask: orAsk} of rule.guards) {
      if (high === null || leads[position] < high - 1e-12) continue;
      for (let d = 0; d < decisions; d += 1) {
        if (d !== position && !(d === n && orAsk)) allowed[d] = false;
      }
    }
    const p = probabilities(totals, problem.temperature);
    const cost = d => rule.costs === null ? null
      : p.reduce((sum, each, k) => sum + each * rule.costs[k][d], 0);
    let best = -1;
    for (let d = 0; d < decisions; d += 1) {
      if (!allowed[d]) continue;
      if (best < 0) best = d;
      else if (rule.costs === null ? apart(totals[d], totals[best]) > 0 : cost(d) < cost(best) - 1e-11) best = d;
    }
    return Math.max(best, 0);
  }

  // All that a page tells of one row.
  function judge(features, problem, rule, values, prior) {
    const found = terms(features, problem, values, prior);
    const totals = sums(found, problem.classes.length);
    return {found, totals, probability: probabilities(totals, problem.temperature),
      decision: decide(problem, rule, totals, prior)};
  }

  // Values of one column to try: [value, share of its scale that lies between, words].
  function others(feature, value) {
    if (feature.levels !== null) {
      return feature.levels.map((_, v) => v).filter(v => v !== value).map(v => [v, 0.5, v]);
    }
    if (feature.cuts !== null) {
      const cuts = feature.cuts, now = value === null ? -1 : below(value, cuts);
      const inside = c => c === 0 ? cuts[0] : c === cuts.length ? cuts[c - 1] + (Math.abs(cuts[c - 1]) || 1)
        : (cuts[c - 1] + cuts[c]) / 2;
      return Array.from({length: cuts.length + 1}, (_, c) => c).filter(c => c !== now && cuts.length)
        .map(c => [inside(c), Math.abs(c - now) / (cuts.length + 1), c > now && c > 0 ? ["above", edge(cuts, c - 1, c)] : ["up to", edge(cuts, c, c)]]);
    }
    const [low, high] = feature.range ?? [0, 1], span = high > low ? high - low : 1;
    // Few digits, and the very number that is tried.
    const digits = Math.min(Math.max(2 - Math.floor(Math.log10(span)), 0), 100);
    return Array.from({length: 201}, (_, i) => Number((low + span * i / 200).toFixed(digits))).map(x =>
      [x, Math.abs(x - (value ?? low)) / span, [value === null ? "about" : x > value ? "from" : "down to", x]]);
  }

  // A cut in as few digits as leave it an end of its interval: who writes it down changes the case.
  function edge(cuts, at, code) {
    const cut = cuts[at];
    for (let digits = 4; digits < 17; digits += 1) {
      const near = Number(cut.toPrecision(digits)), step = 10 ** (Math.floor(Math.log10(Math.abs(cut) || 1)) + 1 - digits);
      for (const each of [near, Number((near + (at < code ? step : -step)).toPrecision(digits))]) {
        const fits = at < code ? each >= cut && !(cuts[code] <= each) : each <= cut && below(each, cuts) === code;
        if (fits) return each;
      }
    }
    return cut;
  }

  // The smallest change of each column alone that changes the decision, the smallest first.
  function flips(features, problem, rule, values, prior) {
    const n = problem.classes.length, {found, totals, decision: now} = judge(features, problem, rule, values, prior);
    const add = (sum, term, sign) => sum.map(([nat, never], k) => [nat + sign * term[k][0], never + sign * term[k][1]]);
    const first = 1 + features.length, flipped = [];
    features.forEach((feature, j) => {
      // All that does not depend on the column, once.
      const mine = problem.pairs.map((pair, p) => [pair, p]).filter(([pair]) => pair.columns.includes(j));
      const rest = mine.reduce((sum, [, p]) => add(sum, found[first + p], -1), add(totals, found[j + 1], -1));
      const tried = [...values];
      let best = null;
      for (const [value, distance, words] of others(feature, values[j])) {
        if (best !== null && distance >= best.distance) continue;
        tried[j] = value;
        const alone = add(rest, speak(value, feature, problem.terms[j], n), 1);
        const whole = mine.reduce((sum, [pair]) => add(sum, speakTogether(pair, features, tried, n), 1), alone);
        const decision = decide(problem, rule, whole, prior);
        if (decision !== now) best = {column: j, value, distance, words, decision};
      }
      if (best !== null) flipped.push(best);
    });
    return flipped.sort((a, b) => a.distance - b.distance || a.column - b.column);
  }

  return {terms, sums, rowsBehind, apart, probabilities, speak, below, decide, judge, flips, priorTerms};
})();
