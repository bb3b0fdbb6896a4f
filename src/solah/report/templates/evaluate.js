// Evaluates the model on readings: its own arithmetic, in doubles, with no page around it.
//
// A reading is a number (a state's place, for an attribute whose states are names) or null where it
// is unknown. Nodes stand from bottom to top, so each finds its inputs already computed.

const LEAST_BELIEF = 1e-30;
const LEAST_ROOT_BELIEF = 1e-300;

/** Spread a reading over focal sets: linear between neighbouring peaks, whole beyond the ends. */
function massesOf(reading, { peaks, ignorance }) {
  if (reading === null) return ignorance;
  const last = peaks.length - 1;
  const masses = new Array(peaks.length).fill(0);
  let lower = 0;
  while (lower < last && reading >= peaks[lower + 1]) lower += 1;
  if (lower === last || reading <= peaks[lower]) {
    masses[lower] = 1;
    return masses;
  }
  const above = (reading - peaks[lower]) / (peaks[lower + 1] - peaks[lower]);
  masses[lower] = 1 - above;
  masses[lower + 1] = above;
  return masses;
}

/** The masses of a tree's input: of a reading, of a belief in words, or a belief as it is. */
function inputMasses(model, input, readings, signals) {
  if (input.attribute !== undefined) {
    return massesOf(readings[input.attribute], model.attributes[input.attribute]);
  }
  const belief = signals[input.node];
  return input.peaks === undefined ? belief : massesOf(belief[input.place], input);
}

/** Average the scores of leaves over the branches that a row takes (Jeffrey's rule). */
function leafAverage(tree, scores, masses, onLeaf = () => {}) {
  const total = new Array(scores[0].length).fill(0);
  const walk = (node, weight) => {
    const split = tree.split[node];
    if (split < 0) {
      onLeaf(node, weight);
      scores[node].forEach((score, c) => { total[c] += weight * score; });
      return;
    }
    masses[split].forEach((mass, k) => {
      if (weight * mass > 0) walk(tree.first[node] + k, weight * mass);
    });
  };
  walk(0, 1);
  return total;
}

/** The evidence of a branch (log-odds): how far it moves beliefs from the tree's root. */
function evidenceOf(belief, root) {
  const moved = belief.map(
    (share, c) => Math.log(Math.max(share, LEAST_BELIEF)) - Math.log(Math.max(root[c], LEAST_BELIEF)),
  );
  const mean = moved.reduce((sum, part) => sum + part, 0) / moved.length;
  return moved.map((part) => part - mean);
}

/** Turn evidence into shares of belief. */
function softmax(evidence) {
  const most = Math.max(...evidence);
  const shares = evidence.map((part) => Math.exp(part - most));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** Add up the evidence of the nodes below a fusion, each with its weight. */
function weightedSum(fusion, signals) {
  return fusion.bias.map((_, c) =>
    fusion.origins.reduce((sum, node, i) => sum + fusion.weights[i] * signals[node][c], 0));
}

/** Make a model ready: the scores of leaves, the weights of nodes, and the signals without readings. */
function prepared(model) {
  for (const node of model.nodes) {
    if (!node.split) continue;
    const root = node.belief[0];
    node.scores = node.weighed
      ? node.belief.map((belief) => belief && evidenceOf(belief, root))
      : node.belief;
  }
  model.nodes.forEach((_, i) => {
    const place = model.nodes.length - 1 - i;
    const fusion = model.nodes[place];
    (fusion.origins ?? []).forEach((child, k) => {
      model.nodes[child].weight = fusion.weights[k] * (fusion.weight ?? 1);
      model.nodes[child].fusion = fusion.fusion ?? place;
    });
  });
  model.start = signalsOf(model, model.attributes.map(() => null));
  return model;
}

/** What goes up from a node: evidence to a fusion, beliefs to a tree or to the reader. */
function signalOf(model, node, readings, signals) {
  if (!node.split) {
    const evidence = weightedSum(node, signals);
    return node.weighed ? evidence : softmax(evidence.map((part, c) => part + node.bias[c]));
  }
  const masses = node.inputs.map((input) => inputMasses(model, input, readings, signals));
  const average = leafAverage(node, node.scores, masses);
  return node.weighed ? average : average.map((share) => Math.min(share, 1));
}

function signalsOf(model, readings) {
  const signals = [];
  for (const node of model.nodes) signals.push(signalOf(model, node, readings, signals));
  return signals;
}

/** What a node believes; an input of a fusion, from its evidence alone. */
function beliefOf(node, signal) {
  if (!node.weighed) return signal;
  const start = node.split
    ? node.belief[0].map((share) => Math.log(Math.max(share, LEAST_ROOT_BELIEF)))
    : node.bias;
  return softmax(signal.map((part, c) => part + start[c]));
}

/** What would be believed if this node alone knew something; of one that is not weighed, its belief. */
function resultingBelief(model, place, signals) {
  const { weighed, weight, fusion } = model.nodes[place];
  if (!weighed) return signals[place];
  return softmax(signals[place].map((part, c) =>
    Math.log(Math.max(model.start[fusion][c], LEAST_ROOT_BELIEF))
      + weight * (part - model.start[place][c])));
}

/** The place of the class to decide for: the largest multiple of its threshold. */
function decide(goal, belief) {
  const scores = goal.thresholds.length ? belief.map((b, c) => b / goal.thresholds[c]) : belief;
  return scores.indexOf(Math.max(...scores));
}

/** The number that a belief over a goal's focal sets comes to. */
function estimate(goal, belief) {
  return belief.reduce((sum, share, c) => sum + share * goal.centres[c], 0);
}

/** Decide on one row: every node's belief, the last one's, and what follows from it. */
function evaluate(model, readings) {
  const signals = signalsOf(model, readings);
  const beliefs = model.nodes.map((node, i) => beliefOf(node, signals[i]));
  const belief = beliefs[beliefs.length - 1];
  return model.goal.centres.length
    ? { signals, beliefs, belief, estimate: estimate(model.goal, belief) }
    : { signals, beliefs, belief, decision: decide(model.goal, belief) };
}

/** How much of a row takes each branch of a tree: a share by leaf. */
function branchShares(model, tree, readings, signals) {
  const shares = new Map();
  const masses = tree.inputs.map((input) => inputMasses(model, input, readings, signals));
  leafAverage(tree, tree.scores, masses, (leaf, weight) => {
    shares.set(leaf, (shares.get(leaf) ?? 0) + weight);
  });
  return shares;
}
