// The model as people see it, on top of the program that is run: features with words, and nodes.
//
// A node is a term, a group or a whole stage of the program.

/** Describe a feature of which a term reads only in which part it is; a part begins with the word named. */
function partsOf({ sets, peaks, mean_masses }, starts) {
  const places = starts.flatMap((start) => [sets.lastIndexOf(start - 1), sets.indexOf(start)]);
  const parts = { peaks: [...new Set(places)].map((k) => peaks[k]) };
  const shares = peaks.map((peak) => membershipsAt(parts, peak));
  parts.missing = parts.peaks.map((_, k) =>
    shares.reduce((sum, share, n) => sum + mean_masses[n] * share[k], 0));
  return parts;
}

/** Let axes follow the words of the features that they read. */
function followWords({ program, features }) {
  for (const axis of program.axes.filter(({ partedAt }) => partedAt !== undefined)) {
    const feature = features[axis.source];
    const { peaks, mean_masses: missing } = feature;
    Object.assign(axis, axis.partedAt ? partsOf(feature, axis.partedAt) : { peaks, missing });
  }
}

/** Give each term its part of the spread of all weights in its stage. */
function shareSpread({ terms }) {
  const total = terms.reduce((sum, { variance }) => sum + Math.sqrt(variance), 0);
  for (const term of terms) term.share = term.variance && Math.sqrt(term.variance) / total;
}

/** Run the program without any reading: where each explanation starts. */
function setStart(model) {
  model.start = run(model.program, model.features.map(() => null));
}

/** Make a model ready: the terms of nodes, the features that terms and stages depend on, the start. */
function prepared(model) {
  const { stages, axes } = model.program;
  for (const stage of stages) {
    shareSpread(stage);
    for (const term of stage.terms) {
      const parts = term.axes.map((a) => (isRead(axes[a]) ? [axes[a].source] : stages[axes[a].source].asks));
      term.asks = [...new Set(parts.flat())];
    }
    stage.asks = [...new Set(stage.terms.flatMap(({ asks }) => asks))];
  }
  model.nodes.forEach((node) => { node.term = node.rules && stages[node.stage].terms[node.part ?? 0]; });
  followWords(model);
  setStart(model);
  return model;
}

/** What the part of a stage that a node is adds to its scores. */
function nodeWeights({ stage, part }, { parts }) {
  return parts[stage][part].weights;
}

/** The output of a node; of a part of a stage, as if it were alone in it. */
function nodeBelief({ program }, node, way) {
  if (node.part === null) return way.outputs[node.stage];
  const stage = program.stages[node.stage];
  const start = stage.logPrior ?? stage.baseline;
  return outputsOf(stage, nodeWeights(node, way).map((weight, c) => weight + start[c]));
}
