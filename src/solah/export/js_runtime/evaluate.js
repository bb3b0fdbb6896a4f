// Evaluates the model on readings: its own arithmetic, in doubles, with no page around it.
//
// A reading is a number (a state's place, for an attribute whose states are names) or null where it
// is unknown. Nodes stand from bottom to top, so each finds its inputs already computed.
// Evidence that a fusion adds up is damped by what is unknown of it: see solah.model.program.

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
    const isParted = input.peaks !== undefined;
    return massesOf(readings[input.attribute], isParted ? input : model.attributes[input.attribute]);
  }
  const belief = signals[input.node];
  return input.peaks === undefined ? belief : massesOf(belief[input.place], input);
}

/** Add the scores of the leaves below a node, by how much of a row takes the branch to each. */
function addLeaves(tree, masses, node, weight, total, onLeaf) {
  const split = tree.split[node];
  if (split < 0) {
    onLeaf?.(node, weight);
    const scores = tree.scores[node];
    for (let c = 0; c < total.length; c += 1) total[c] += weight * scores[c];
    return;
  }
  const [shares, first] = [masses[split], tree.first[node]];
  for (let k = 0; k < shares.length; k += 1) {
    if (weight * shares[k] > 0) addLeaves(tree, masses, first + k, weight * shares[k], total, onLeaf);
  }
}

/** Average the scores of leaves over the branches that a row takes (Jeffrey's rule). */
function leafAverage(tree, masses, size, onLeaf) {
  const total = new Array(size).fill(0);
  addLeaves(tree, masses, 0, 1, total, onLeaf);
  return total;
}

/** Turn evidence into shares of belief. */
function softmax(evidence) {
  const most = Math.max(...evidence);
  const shares = evidence.map((part) => Math.exp(part - most));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** Add up the evidence of the nodes below a fusion. */
function addedUp(fusion, signals, size) {
  const total = new Array(size).fill(0);
  for (const node of fusion.origins) {
    for (let c = 0; c < size; c += 1) total[c] += signals[node][c];
  }
  return total;
}

/** Describe an attribute of which a tree asks only in which part it is; a part begins with the word named. */
function partsOf({ sets, peaks, ignorance }, starts) {
  const places = starts.flatMap((start) => [sets.lastIndexOf(start - 1), sets.indexOf(start)]);
  const parts = { peaks: [...new Set(places)].map((k) => peaks[k]) };
  const masses = peaks.map((peak) => massesOf(peak, parts));
  parts.ignorance = parts.peaks.map((_, k) =>
    masses.reduce((sum, mass, n) => sum + ignorance[n] * mass[k], 0));
  return parts;
}

/** Let inputs of which only the part is asked follow the words of their attributes. */
function partInputs(model) {
  for (const input of model.nodes.flatMap(({ inputs }) => inputs ?? [])) {
    if (input.partedAt) Object.assign(input, partsOf(model.attributes[input.attribute], input.partedAt));
  }
}

/** Give each tree below a fusion its share in the spread of all evidence there. */
function shareEvidence({ nodes }) {
  const spreads = new Map();
  for (const { variance = 0, fusion } of nodes) {
    spreads.set(fusion, (spreads.get(fusion) ?? 0) + Math.sqrt(variance));
  }
  for (const node of nodes) {
    node.share = node.variance && node.weighed ? Math.sqrt(node.variance) / spreads.get(node.fusion) : 0;
  }
}

/** Make a model ready: the fusions of nodes, the attributes below them, the way without readings. */
function prepared(model) {
  model.nodes.forEach((_, i) => {
    const place = model.nodes.length - 1 - i;
    const fusion = model.nodes[place];
    (fusion.origins ?? []).forEach((child) => {
      model.nodes[child].fusion = fusion.fusion ?? place;
    });
  });
  model.nodes.forEach((node) => {
    const parts = node.split
      ? node.inputs.map((input) => (input.node === undefined ? [input.attribute] : model.nodes[input.node].asks))
      : node.origins.map((child) => model.nodes[child].asks);
    node.asks = [...new Set(parts.flat())];
  });
  partInputs(model);
  shareEvidence(model);
  model.isLinear = !model.nodes.some(({ variance, missing }) => variance || missing);
  model.start = wayOf(model, model.attributes.map(() => null));
  return model;
}

/** How much is left of evidence beside unknown evidence of this variance. */
function damping(variance) {
  return 1 / Math.sqrt(1 + (Math.PI / 8) * variance);
}

/** Whether a tree has a rule for a missing reading, and the reading is missing. */
function takesMissing(tree, readings) {
  return Boolean(tree.missing) && readings[tree.inputs[0].attribute] === null;
}

/** How much of a node's evidence is unknown: the share of it, and its variance. */
function unknownOf(node, readings, unknown) {
  if (!node.split) {
    const parts = node.origins.map((child) => unknown[child]);
    return {
      share: parts.reduce((sum, { share }) => sum + share, 0),
      variance: parts.reduce((sum, { variance }) => sum + variance, 0),
    };
  }
  const isLost = node.weighed && !node.missing
    && node.inputs.some(({ attribute }) => attribute !== undefined && readings[attribute] === null);
  return isLost ? { share: node.share, variance: node.variance } : { share: 0, variance: 0 };
}

/** What a fusion that no other adds up makes of evidence: beliefs, or the number. */
function fused(goal, { bias }, evidence, { share, variance }) {
  if (goal.isSum) return evidence.map((part, c) => part + bias[c]);
  if (variance <= 0) return softmax(evidence.map((part, c) => part + bias[c]));
  const { start } = goal;
  const scale = damping(variance);
  return softmax(evidence.map((part, c) =>
    start[c] + scale * ((bias[c] - start[c]) * (1 - share) + part)));
}

/** What goes up from a node: evidence to a fusion, beliefs to a tree or to the reader. */
function signalOf(model, node, readings, signals, unknown) {
  if (!node.split) {
    const evidence = addedUp(node, signals, model.size);
    return node.weighed ? evidence : fused(model.goal, node, evidence, unknown);
  }
  if (takesMissing(node, readings)) return node.missing;
  const masses = node.inputs.map((input) => inputMasses(model, input, readings, signals));
  const average = leafAverage(node, masses, model.size);
  return node.weighed ? average : average.map((share) => Math.min(share, 1));
}

/** Send a row through the model: what goes up from each node, and how much of it is unknown. */
function wayOf(model, readings) {
  const way = { readings, signals: [], unknown: [] };
  updateWay(model, way, model.nodes.keys());
  return way;
}

/** Send a row again through nodes that have changed, given from bottom to top. */
function updateWay(model, way, places) {
  const { readings, signals } = way;
  if (!way.unknown.length || readings.includes(null)) {
    way.unknown = [];
    for (const node of model.nodes) way.unknown.push(unknownOf(node, readings, way.unknown));
  }
  for (const i of places) {
    signals[i] = signalOf(model, model.nodes[i], readings, signals, way.unknown[i]);
  }
}

/** What a node believes; an input of a fusion, from its evidence alone. */
function beliefOf(model, node, signal) {
  if (!node.weighed) return signal;
  if (model.goal.isSum) return signal.map((part, c) => part + model.nodes[node.fusion].bias[c]);
  return softmax(signal.map((part, c) => part + model.goal.start[c]));
}

/** The place of the class to decide for: the largest multiple of its threshold. */
function decide(goal, belief) {
  const scores = goal.thresholds.length ? belief.map((b, c) => b / goal.thresholds[c]) : belief;
  return scores.indexOf(Math.max(...scores));
}

/** The number that a belief over a goal's focal sets comes to; one that is added up is itself. */
function estimate(goal, belief) {
  return goal.isSum ? belief[0] : belief.reduce((sum, share, c) => sum + share * goal.centres[c], 0);
}

/** The cell of a reading among those of an attribute; -1 where it is unknown. */
function cellOf({ cuts }, reading) {
  if (reading === null) return -1;
  if (!cuts) return reading;
  const above = cuts.findIndex((cut) => reading < cut);
  return above < 0 ? cuts.length : above;
}

/** The pairs of readings of which the cells never occurred together. */
function unseenPairs({ cells, pairs }, readings) {
  const places = cells.map((one, place) => cellOf(one, readings[place]));
  return pairs.filter(({ first, second, seen }) =>
    places[first] >= 0 && places[second] >= 0 && seen[places[first]][places[second]] === "0");
}

/** Why the decision on a row by itself is in doubt, and which doubts hold it back: see solah.explain.novelty. */
function doubtsOf({ policy }, readings, { belief, decision, unknown }) {
  if (!policy) return [];
  const doubts = [];
  const least = policy.minBelief[decision];
  if (belief[decision] < least) doubts.push({ kind: "low belief", holds: true, least });
  const known = policy.shares
    ? policy.shares.reduce((sum, share, place) => sum + (readings[place] === null ? 0 : share), 0)
    : 1 - unknown.share;
  if (known < policy.minKnown) doubts.push({ kind: "few readings", holds: true, known: Math.max(known, 0) });
  policy.cells.forEach(({ low, high }, place) => {
    const reading = readings[place];
    if (low === null || reading === null || (low <= reading && reading <= high)) return;
    doubts.push({ kind: "out of range", holds: policy.inRange, place });
  });
  const unseen = unseenPairs(policy, readings);
  if (unseen.length > (policy.maxUnseen ?? 0)) {
    const holds = policy.maxUnseen !== null;
    doubts.push(...unseen.map(({ first, second }) => ({ kind: "unseen", holds, first, second })));
  }
  return doubts;
}

/** Decide on one row: every node's belief, the last one's, and what follows from it. */
function evaluate(model, readings) {
  const { signals, unknown } = wayOf(model, readings);
  const beliefs = model.nodes.map((node, i) => beliefOf(model, node, signals[i]));
  const belief = beliefs[beliefs.length - 1];
  const outcome = { signals, beliefs, belief, unknown: unknown[unknown.length - 1] };
  if (model.goal.isNumber) return { ...outcome, estimate: estimate(model.goal, belief) };
  outcome.decision = decide(model.goal, belief);
  const doubts = doubtsOf(model, readings, outcome);
  return { ...outcome, doubts, isHeldBack: doubts.some(({ holds }) => holds) };
}

/** How much of a row takes each branch of a tree: a share by leaf; -1 is a missing reading. */
function branchShares(model, tree, readings, signals) {
  if (takesMissing(tree, readings)) return new Map([[-1, 1]]);
  const shares = new Map();
  const masses = tree.inputs.map((input) => inputMasses(model, input, readings, signals));
  leafAverage(tree, masses, model.size, (leaf, weight) => {
    shares.set(leaf, (shares.get(leaf) ?? 0) + weight);
  });
  return shares;
}
