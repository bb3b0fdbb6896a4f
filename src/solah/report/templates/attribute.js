// Computes what each attribute contributed to the decision: exact, with no sampling.
//
// The beginning is knowing nothing: every reading unknown. A tree's output is multilinear in the
// masses of its inputs, so the Shapley value of an input is an integral along the straight line from
// the masses of the beginning to those of the readings, and the integrand is a polynomial.
// A contribution is a vector, one number for each goal state; an attribute's is at its place.

// A belief that moved less counts as one that did not move: it is rounding.
const STILL = 1e-12;

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

/** Add to each input's gradient, at one point of the line; return the value of a subtree. */
function addGradients(tree, masses, weight, gradients, size, node = 0, reach = 1) {
  const split = tree.split[node];
  if (split < 0) return tree.scores[node];
  const value = new Array(size).fill(0);
  masses[split].forEach((mass, k) => {
    const child = tree.first[node] + k;
    const below = addGradients(tree, masses, weight, gradients, size, child, reach * mass);
    const gradient = gradients[split][k];
    below.forEach((part, c) => {
      value[c] += mass * part;
      gradient[c] += weight * reach * part;
    });
  });
  return value;
}

/** The gradient by each mass of each input, averaged along the line from one row to another. */
function averageGradients(tree, from, to, size) {
  const gradients = from.map((masses) => masses.map(() => new Array(size).fill(0)));
  for (const { at, weight } of quadrature(Math.ceil(tree.depth / 2))) {
    const between = from.map((masses, a) => masses.map((mass, k) => mass + at * (to[a][k] - mass)));
    addGradients(tree, between, weight, gradients, size);
  }
  return gradients;
}

function nothing(model) {
  return model.attributes.map(() => new Array(model.size).fill(0));
}

function addTo(total, part) {
  part.forEach((value, c) => { total[c] += value; });
}

/** Sum gradients times the changes of masses: a vector over the goal's states. */
function along(gradients, changes) {
  return gradients[0].map((_, c) =>
    gradients.reduce((sum, gradient, k) => sum + gradient[c] * changes[k], 0));
}

/** Share what an input from a node below moved among the attributes that moved that node. */
function shareBelow(input, gradients, moved, below, before, after) {
  if (input.peaks === undefined) return below.map((changes) => along(gradients, changes));
  const change = after[input.place] - before[input.place];
  return below.map((changes) =>
    moved.map((part) => (Math.abs(change) > STILL ? (part * changes[input.place]) / change : 0)));
}

function treeContributions(model, tree, start, end, below) {
  const masses = ({ readings, signals }) =>
    tree.inputs.map((input) => inputMasses(model, input, readings, signals));
  const [from, to] = [masses(start), masses(end)];
  const gradients = averageGradients(tree, from, to, model.size);
  const total = nothing(model);
  tree.inputs.forEach((input, a) => {
    const moved = along(gradients[a], to[a].map((mass, k) => mass - from[a][k]));
    if (input.attribute !== undefined) {
      addTo(total[input.attribute], moved);
      return;
    }
    const [before, after] = [start.signals[input.node], end.signals[input.node]];
    const shares = shareBelow(input, gradients[a], moved, below[input.node], before, after);
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

/** Turn contributions of evidence into contributions of belief that add up to its change. */
function throughSoftmax(contributions, before, after) {
  const means = before.map((share, c) => logarithmicMean(share, after[c]));
  const total = means.reduce((sum, mean) => sum + mean, 0);
  return contributions.map((evidence) => {
    const level = evidence.reduce((sum, part, c) => sum + means[c] * part, 0) / total;
    return evidence.map((part, c) => means[c] * (part - level));
  });
}

/** Add up contributions, attribute by attribute. */
function addedContributions(model, parts) {
  const total = nothing(model);
  parts.forEach((part) => part.forEach((share, j) => addTo(total[j], share)));
  return total;
}

/** Share out the scores of a fusion whose trees may be unknown: what a tree adds is damped like the
 * belief, and a tree that is known adds its share of the way from the classes' shares to the bias. */
function dampedContributions(model, fusion, index, start, end, below) {
  const { goal, nodes } = model;
  const bias = fusion.bias.map((part, c) => (goal.isSum ? 0 : part - goal.start[c]));
  const [before, here] = [start, end].map(({ unknown }) =>
    (goal.isSum ? 1 : damping(unknown[index].variance)));
  const parts = nodes.flatMap((tree, i) => {
    if (!tree.split || tree.fusion !== index) return [];
    const [first, last] = [start, end].map(({ signals, unknown }) =>
      signals[i].map((part, c) => part + bias[c] * (tree.share - unknown[i].share)));
    const scaled = below[i].map((part) => part.map((value) => here * value));
    const rest = first.map((part, c) =>
      here * last[c] - before * part - scaled.reduce((sum, one) => sum + one[c], 0));
    const known = tree.asks.filter((j) => end.readings[j] !== null);
    const sharing = known.length ? known : tree.asks;
    sharing.forEach((j) => addTo(scaled[j], rest.map((part) => part / sharing.length)));
    return [scaled];
  });
  return addedContributions(model, parts);
}

function fusionContributions(model, fusion, index, start, end, below) {
  const added = () => addedContributions(model, fusion.origins.map((node) => below[node]));
  if (fusion.weighed) return added();
  const total = model.isLinear
    ? added() : dampedContributions(model, fusion, index, start, end, below);
  return model.goal.isSum
    ? total : throughSoftmax(total, start.signals[index], end.signals[index]);
}

/** What each attribute contributed to the last node's belief, and the beliefs at both ends. */
function contributions(model, readings) {
  const [start, end] = [model.start, wayOf(model, readings)];
  const below = [];
  model.nodes.forEach((node, i) => {
    below.push(node.split
      ? treeContributions(model, node, start, end, below)
      : fusionContributions(model, node, i, start, end, below));
  });
  const last = model.nodes.length - 1;
  return { parts: below[last], before: start.signals[last], after: end.signals[last] };
}
