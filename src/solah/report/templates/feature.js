// Computes what each feature contributed to the decision: exact, with no sampling.
//
// The beginning is knowing nothing: every reading is missing. What a term adds is multilinear in the
// memberships of its axes, so the Shapley value of an axis is an integral along the straight line from
// the memberships of the beginning to those of the readings, and the integrand is a polynomial.
// A contribution is a vector, one number for each class; a feature's is at its place.

// An output that moved less counts as unmoved: it is rounding.
const STILL = 1e-12;
const LEAST_ROOT_BELIEF = 1e-300;

/** Points and weights of Gauss and Legendre's quadrature on 0 to 1, exact up to degree 2n - 1. */
function quadrature(n) {
  return Array.from({ length: n }, (_, i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 0;
    for (let round = 0; round < 100; round += 1) {
      let [before, value] = [0, 1];
      for (let k = 1; k <= n; k += 1) {
        [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
      }
      slope = (n * (x * value - before)) / (x * x - 1);
      const step = value / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    return { at: (1 + x) / 2, weight: 1 / ((1 - x * x) * slope * slope) };
  });
}

/** Add to the gradient by each membership, at one point of the line; return the value below a node. */
function addGradients(term, memberships, weight, gradients, size, node = 0, reach = 1) {
  const [split, child] = [term.split[node], term.child[node]];
  if (split < 0) return term.weights[child];
  const value = new Array(size).fill(0);
  memberships[split].forEach((membership, k) => {
    const below = addGradients(term, memberships, weight, gradients, size, child + k, reach * membership);
    const gradient = gradients[split][k];
    below.forEach((part, c) => {
      value[c] += membership * part;
      gradient[c] += weight * reach * part;
    });
  });
  return value;
}

/** The gradient by each membership of each axis, averaged along the line from one row to another. */
function averageGradients(term, from, to, size) {
  const gradients = from.map((memberships) => memberships.map(() => new Array(size).fill(0)));
  for (const { at, weight } of quadrature(Math.ceil(term.depth / 2))) {
    const between = from.map((memberships, a) => memberships.map((one, k) => one + at * (to[a][k] - one)));
    addGradients(term, between, weight, gradients, size);
  }
  return gradients;
}

function nothing({ size }, { readings }) {
  return readings.map(() => new Array(size).fill(0));
}

function addTo(total, part) {
  part.forEach((value, c) => { total[c] += value; });
}

/** Sum gradients times the changes of memberships: a vector over the classes. */
function along(gradients, changes) {
  return gradients[0].map((_, c) =>
    gradients.reduce((sum, gradient, k) => sum + gradient[c] * changes[k], 0));
}

/** Share the effect of an axis of outputs among the features that moved the stage below. */
function shareBelow({ kind, output }, gradients, moved, below, before, after) {
  if (kind === "all_beliefs") return below.map((changes) => along(gradients, changes));
  const change = after[output] - before[output];
  return below.map((changes) =>
    moved.map((part) => (Math.abs(change) > STILL ? (part * changes[output]) / change : 0)));
}

/** Share out what a term adds; `below` has the contributions to the stages below. */
function termContributions(program, term, start, end, below) {
  const [from, to] = [start, end].map((way) => termMemberships(program, term, way));
  const gradients = averageGradients(term, from, to, program.size);
  const total = nothing(program, end);
  term.axes.forEach((a, place) => {
    const axis = program.axes[a];
    const moved = along(gradients[place], to[place].map((one, k) => one - from[place][k]));
    if (isRead(axis)) {
      addTo(total[axis.source], moved);
      return;
    }
    const [before, after] = [start.outputs[axis.source], end.outputs[axis.source]];
    const shares = shareBelow(axis, gradients[place], moved, below[axis.source], before, after);
    shares.forEach((share, j) => addTo(total[j], share));
  });
  return total;
}

/** (b - a) / (ln b - ln a); near each other the quotient loses its digits, and a series does not. */
function logarithmicMean(a, b) {
  const [first, second] = [Math.max(a, LEAST_ROOT_BELIEF), Math.max(b, LEAST_ROOT_BELIEF)];
  const apart = Math.log(second / first);
  if (Math.abs(apart) < 1e-6) return ((first + second) / 2) * (1 - apart ** 2 / 12);
  return (second - first) / apart;
}

/** Turn contributions to scores into contributions to the probability that sum to its change. */
function throughSoftmax(contributions, before, after) {
  const means = before.map((share, c) => logarithmicMean(share, after[c]));
  const total = means.reduce((sum, mean) => sum + mean, 0);
  return contributions.map((evidence) => {
    const level = evidence.reduce((sum, part, c) => sum + means[c] * part, 0) / total;
    return evidence.map((part, c) => means[c] * (part - level));
  });
}

/** Share out what a term adds beside terms that may be missing: it is damped like the scores, and a
 * term that is not missing adds its share of the way from the classes' shares to the baseline. */
function dampedContributions(program, s, i, contributed, start, end) {
  const { terms, baseline, logPrior } = program.stages[s];
  const lean = baseline.map((part, c) => (logPrior ? part - logPrior[c] : 0));
  const [before, here] = [start, end].map(({ parts }) => (logPrior ? damping(parts[s].at(-1).variance) : 1));
  const [first, last] = [start, end].map(({ parts }) => parts[s][i].weights.map((weight, c) =>
    weight + lean[c] * (terms[i].share - parts[s][i].share)));
  const scaled = contributed.map((part) => part.map((value) => here * value));
  const rest = first.map((part, c) =>
    here * last[c] - before * part - scaled.reduce((sum, one) => sum + one[c], 0));
  const known = terms[i].asks.filter((j) => end.readings[j] !== null);
  const sharing = known.length ? known : terms[i].asks;
  sharing.forEach((j) => addTo(scaled[j], rest.map((part) => part / sharing.length)));
  return scaled;
}

/** Turn contributions to a score into contributions to its exponential that sum to its change. */
function throughExp(contributions, before, after) {
  const mean = logarithmicMean(before[0], after[0]);
  return contributions.map((parts) => parts.map((part) => mean * part));
}

/** What each feature contributed to the outputs of a stage. */
function stageContributions(program, s, start, end, below) {
  const { terms, link } = program.stages[s];
  const isLinear = !terms.some(({ variance, missing }) => variance || missing);
  const total = nothing(program, end);
  terms.forEach((term, i) => {
    const contributed = termContributions(program, term, start, end, below);
    const parts = isLinear ? contributed : dampedContributions(program, s, i, contributed, start, end);
    parts.forEach((part, j) => addTo(total[j], part));
  });
  if (link === "exp") return throughExp(total, start.outputs[s], end.outputs[s]);
  return link === "softmax" ? throughSoftmax(total, start.outputs[s], end.outputs[s]) : total;
}

/** What each feature contributed to the probability, and the probabilities at both ends. */
function contributions({ program, start }, readings) {
  const end = run(program, readings);
  const below = [];
  program.stages.forEach((_, s) => below.push(stageContributions(program, s, start, end, below)));
  return { parts: below.at(-1), before: start.outputs.at(-1), after: end.outputs.at(-1) };
}
