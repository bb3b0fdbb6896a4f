// Tries the model on the rows of the page: how well it decides, and what an edit changes.

/** Read numbers that are packed as distinct values and their places; NaN is a missing one. */
function unpack({ values, codes }) {
  const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer;
  const distinct = new Float64Array(bytes(values));
  return Array.from(new Uint16Array(bytes(codes)), (code) => distinct[code]);
}

/** Run the program on all rows, and keep what the parts of its stages add. */
function startTrial(model, { rows: numbers, readings, truth }) {
  const columns = readings.map(unpack);
  const known = (reading) => (Number.isNaN(reading) ? null : reading);
  const ways = numbers.map((_, r) => run(model.program, columns.map((column) => known(column[r]))));
  const trial = { numbers, ways, truth: unpack(truth) };
  trial.before = outcomesOf(model, trial);
  trial.now = trial.before;
  return trial;
}

/** Run the program again on all rows; of its one stage, only the terms of nodes that have changed. */
function updateTrial(model, trial, nodes) {
  const changed = new Set([...nodes].map((i) => model.nodes[i].part));
  for (const way of trial.ways) runStage(model.program, 0, way, changed);
  trial.now = outcomesOf(model, trial);
}

/** The decision for each row, or its estimate, and the probability of the true class. */
function outcomesOf({ program, target }, { ways, truth }) {
  const decided = new Float64Array(ways.length);
  const likelihood = new Float64Array(ways.length);
  ways.forEach(({ outputs }, r) => {
    const belief = outputs.at(-1);
    decided[r] = target.isNumber ? estimate(program, belief) : decide(program, belief);
    likelihood[r] = belief[truth[r]];
  });
  return { decided, likelihood };
}

/** Measure outcomes on the rows with a class; null if there are none. */
function measure(target, truth, { decided, likelihood }) {
  const known = [...truth.keys()].filter((r) => !Number.isNaN(truth[r]));
  const mean = (of) => known.reduce((sum, r) => sum + of(r), 0) / known.length;
  if (!known.length) return null;
  if (!target.isNumber) {
    return {
      accuracy: mean((r) => (truth[r] === decided[r] ? 1 : 0)),
      logLoss: mean((r) => -Math.log(Math.min(Math.max(likelihood[r], Number.EPSILON), 1))),
    };
  }
  const middle = mean((r) => truth[r]);
  return {
    r2: 1 - mean((r) => (truth[r] - decided[r]) ** 2) / mean((r) => (truth[r] - middle) ** 2),
    error: mean((r) => Math.abs(truth[r] - decided[r])),
  };
}

/** List the rows whose decision, or estimate, an edit has changed; the largest changes of a number first. */
function changedRows({ numbers, truth, before, now }, isNumber) {
  const changed = numbers.flatMap((number, r) => {
    const [from, to] = [before.decided[r], now.decided[r]];
    return from === to ? [] : [{ r, number, from, to, truth: truth[r] }];
  });
  const size = ({ from, to }) => Math.abs(to - from);
  return isNumber ? changed.sort((a, b) => size(b) - size(a)) : changed;
}
