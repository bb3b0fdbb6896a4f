// Runs the program of a model on readings, in doubles: see solah.model.program for what it means.
//
// A reading is a number (of a category, its index), or null where it is missing. Stages run from
// bottom to top, so that each finds the outputs that it reads.

const isRead = ({ kind }) => kind === "reading" || kind === "category";

/** The memberships of a value: linear between neighbouring peaks, and level beyond them. */
function membershipsAt({ peaks, missing }, value) {
  if (value === null) return missing;
  const last = peaks.length - 1;
  const found = new Array(peaks.length).fill(0);
  let lower = 0;
  while (lower < last && value >= peaks[lower + 1]) lower += 1;
  if (lower === last || value <= peaks[lower]) {
    found[lower] = 1;
    return found;
  }
  const upper = (value - peaks[lower]) / (peaks[lower + 1] - peaks[lower]);
  found[lower] = 1 - upper;
  found[lower + 1] = upper;
  return found;
}

/** The memberships of each axis of a term. */
function termMemberships({ axes }, term, { readings, outputs }) {
  return term.axes.map((a) => {
    const { kind, source, output } = axes[a];
    if (kind === "all_beliefs") return outputs[source];
    return membershipsAt(axes[a], kind === "one_belief" ? outputs[source][output] : readings[source]);
  });
}

/** Visit the rules that a row reaches, with how much of it reaches each. */
function visitRules(term, memberships, visit, node = 0, share = 1) {
  const [split, child] = [term.split[node], term.child[node]];
  if (split < 0) {
    visit(child, share);
    return;
  }
  for (let k = 0; k < memberships[split].length; k += 1) {
    const below = share * memberships[split][k];
    if (below > 0) visitRules(term, memberships, visit, child + k, below);
  }
}

/** Whether a reading of a term is missing. */
function isMissing({ axes }, term, readings) {
  return term.axes.some((a) => isRead(axes[a]) && readings[axes[a].source] === null);
}

/** How much of a row reaches each rule of a term; -1 is the rule for a missing reading. */
function ruleShares(program, term, way) {
  if (term.missing && isMissing(program, term, way.readings)) return new Map([[-1, 1]]);
  const shares = new Map();
  visitRules(term, termMemberships(program, term, way), (rule, share) => {
    shares.set(rule, (shares.get(rule) ?? 0) + share);
  });
  return shares;
}

/** What a term adds: the average of the rules that a row reaches. */
function weightsOf(program, term, way) {
  if (term.missing && isMissing(program, term, way.readings)) return term.missing;
  const total = new Array(program.size).fill(0);
  visitRules(term, termMemberships(program, term, way), (rule, share) => {
    const weights = term.weights[rule];
    for (let c = 0; c < total.length; c += 1) total[c] += share * weights[c];
  });
  return total;
}

/** The share and the variance of a term that is missing; 0 otherwise. */
function lossOf(program, term, readings) {
  const isLost = !term.missing && isMissing(program, term, readings);
  return isLost ? { share: term.share, variance: term.variance } : { share: 0, variance: 0 };
}

/** Add up the parts of a group, in their order. */
function addUp(parts, size) {
  const total = { weights: new Array(size).fill(0), share: 0, variance: 0 };
  for (const { weights, share, variance } of parts) {
    for (let c = 0; c < size; c += 1) total.weights[c] += weights[c];
    total.share += share;
    total.variance += variance;
  }
  return total;
}

/** The factor of scores beside missing terms of this variance. */
function damping(variance) {
  return 1 / Math.sqrt(1 + (Math.PI / 8) * variance);
}

/** The scores of a stage, given the sum of all its terms. */
function scoresOf({ baseline, logPrior }, { weights, share, variance }) {
  if (!logPrior || variance <= 0) return weights.map((weight, c) => weight + baseline[c]);
  const scale = damping(variance);
  return weights.map((weight, c) =>
    logPrior[c] + scale * ((baseline[c] - logPrior[c]) * (1 - share) + weight));
}

function softmax(scores) {
  const most = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - most));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

/** Link scores to outputs. A sum of shares may round to a bit more than 1. */
function outputsOf({ link }, scores) {
  if (link === "softmax") return softmax(scores);
  if (link === "exp") return scores.map((score) => Math.exp(Math.min(Math.max(score, -80), 80)));
  return link === "shares" ? scores.map((score) => Math.min(score, 1)) : scores;
}

/** Run a stage on a row. If it ran before, only the terms that have changed are run again. */
function runStage(program, s, way, changed) {
  const stage = program.stages[s];
  const before = way.parts[s];
  const parts = stage.terms.map((term, i) => ({
    weights: before && !changed.has(i) ? before[i].weights : weightsOf(program, term, way),
    ...lossOf(program, term, way.readings),
  }));
  for (const group of stage.groups) parts.push(addUp(group.map((part) => parts[part]), program.size));
  way.parts[s] = parts;
  way.outputs[s] = outputsOf(stage, scoresOf(stage, parts.at(-1)));
}

/** Run a program on a row: what the parts of each stage add (terms, then groups), and its outputs. */
function run(program, readings) {
  const way = { readings, parts: [], outputs: [] };
  program.stages.forEach((_, s) => runStage(program, s, way));
  return way;
}

/** The index of the class to decide for: the largest multiple of its threshold. */
function decide({ thresholds }, belief) {
  const scores = thresholds ? belief.map((share, c) => share / thresholds[c]) : belief;
  return scores.indexOf(Math.max(...scores));
}

/** The number that outputs are, or the mean of their meanings. */
function estimate({ centres }, belief) {
  return centres ? belief.reduce((sum, share, c) => sum + share * centres[c], 0) : belief[0];
}

/** The cell of a reading among those of a feature; -1 where it is unknown. */
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

/** Why the decision on a row by itself is in abstain_reason, and which abstain_reasons hold it back: see solah.explain.novelty. */
function doubtsOf(policy, readings, { belief, decision, unknown }) {
  if (!policy) return [];
  const abstain_reasons = [];
  const least = policy.minBelief[decision];
  if (belief[decision] < least) abstain_reasons.push({ kind: "low probability", holds: true, least });
  const known = policy.shares
    ? policy.shares.reduce((sum, share, place) => sum + (readings[place] === null ? 0 : share), 0)
    : 1 - unknown.share;
  if (known < policy.minKnown) abstain_reasons.push({ kind: "few readings", holds: true, known: Math.max(known, 0) });
  policy.cells.forEach(({ low, high }, place) => {
    const reading = readings[place];
    if (low === null || reading === null || (low <= reading && reading <= high)) return;
    abstain_reasons.push({ kind: "out of range", holds: policy.inRange, place });
  });
  const unseen = unseenPairs(policy, readings);
  if (unseen.length > (policy.maxUnseen ?? 0)) {
    const holds = policy.maxUnseen !== null;
    abstain_reasons.push(...unseen.map(({ first, second }) => ({ kind: "unseen", holds, first, second })));
  }
  return abstain_reasons;
}

/** Run a model on one row: its outputs, and what follows from them. */
function evaluate({ program, policy }, readings) {
  const way = run(program, readings);
  const belief = way.outputs.at(-1);
  const outcome = { way, belief, unknown: way.parts.at(-1).at(-1) };
  if (program.centres || ["number", "exp"].includes(program.stages.at(-1).link)) {
    return { ...outcome, estimate: estimate(program, belief) };
  }
  outcome.decision = decide(program, belief);
  const abstain_reasons = doubtsOf(policy, readings, outcome);
  return { ...outcome, abstain_reasons, abstains: abstain_reasons.some(({ holds }) => holds) };
}
