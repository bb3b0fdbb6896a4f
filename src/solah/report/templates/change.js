// Finds the smallest change of each single reading that changes the decision.
//
// Between neighbouring peaks the scores of a stage are linear in one reading, so that a class is
// decided for on an interval: looking at the ends is enough. A stage above others may turn within a
// piece, so pieces are then looked at in parts, cut where an output passes from one word to the next.

const PARTS = 16;
const BENDING_ROUNDS = 2;
const HALVINGS = 200;
const FEWEST_DIGITS = 2;
const ROUNDINGS = 13;
const LEAST_SPAN = 1e-300;

/** Where one reading must be looked at, from the present one to an end of the range. */
function knotsTowards(feature, present, end, parts) {
  const between = feature.peaks.filter((peak) => (peak - present) * (peak - end) < 0);
  const knots = [present, ...between.sort((a, b) => Math.abs(a - present) - Math.abs(b - present)), end];
  return knots.slice(1).flatMap((knot, i) =>
    Array.from({ length: parts }, (_, k) =>
      (k + 1 === parts ? knot : knots[i] + ((knot - knots[i]) * (k + 1)) / parts)));
}

/** Add the readings at which an output described by words passes from one word to the next. */
function bent({ program }, readings, j, knots) {
  const words = program.axes.filter(({ kind }) => kind === "one_belief");
  let ways = knots;
  for (let round = 0; round < BENDING_ROUNDS; round += 1) {
    const stops = [readings[j], ...ways];
    const outputs = stops.map((stop) => run(program, readings.with(j, stop)).outputs);
    ways = ways.flatMap((knot, i) => {
      const found = words.flatMap(({ source, output, peaks }) => {
        const [before, after] = [outputs[i][source][output], outputs[i + 1][source][output]];
        return peaks
          .filter((peak) => (before - peak) * (after - peak) < 0)
          .map((peak) => stops[i] + ((peak - before) / (after - before)) * (knot - stops[i]));
      });
      const nearestFirst = found.sort((a, b) => Math.abs(a - stops[i]) - Math.abs(b - stops[i]));
      return [...nearestFirst, knot];
    });
  }
  return ways;
}

/** The reading nearest to `inside` that is decided otherwise, up to the last bit. */
function boundary(decisionAt, inside, outside, decision) {
  for (let round = 0; round < HALVINGS; round += 1) {
    const middle = inside + (outside - inside) / 2;
    if (middle === inside || middle === outside) break;
    if (decisionAt(middle) === decision) inside = middle;
    else outside = middle;
  }
  return outside;
}

/** The whole numbers on both sides of knots, as they come along the way. */
function wholeKnots(knots, present) {
  const whole = new Set(knots.flatMap((knot) => [Math.floor(knot), Math.ceil(knot)]));
  whole.delete(present);
  return [...whole].sort((a, b) => Math.abs(a - present) - Math.abs(b - present));
}

function firstChange(decisionAt, knots, present, isWhole) {
  const decision = decisionAt(present);
  let inside = present;
  for (const knot of knots) {
    if (decisionAt(knot) !== decision) {
      const found = boundary(decisionAt, inside, knot, decision);
      if (!isWhole) return found;
      const whole = outwardFrom(present, found)(found);
      return decisionAt(whole) === decision ? knot : whole;
    }
    inside = knot;
  }
  return null;
}

function outwardFrom(present, reading) {
  return reading > present ? Math.ceil : Math.floor;
}

/** The number of fewest digits, rounded outwards within the range, that is decided in the same way. */
function rounded(decisionAt, feature, reading, present, limit, isWhole) {
  const decision = decisionAt(reading);
  const [outward, nearer] = [outwardFrom(present, reading), reading > present ? Math.min : Math.max];
  const fewest = FEWEST_DIGITS - Math.floor(Math.log10(spanOf(feature)));
  for (let extra = 0; extra < ROUNDINGS; extra += 1) {
    const digits = isWhole ? Math.min(fewest + extra, 0) : fewest + extra;
    const scale = 10 ** digits;
    const whole = outward(reading * scale) / scale;
    const tried = nearer(Number(whole.toFixed(Math.min(Math.max(digits, 0), 100))), limit);
    if (decisionAt(tried) === decision) return tried;
  }
  return reading;
}

/** How far it is to another reading, as a share of the range; all the way to a state without order. */
function distance(feature, from, to) {
  return feature.ordered ? Math.abs(to - from) / spanOf(feature) : 1;
}

function spanOf({ continuous, low, high, peaks }) {
  return Math.max(continuous ? high - low : peaks[peaks.length - 1] - peaks[0], LEAST_SPAN);
}

function continuousChange(decisionAt, feature, present, knotsTo) {
  const ends = [Math.min(feature.low, present), Math.max(feature.high, present)];
  const isWhole = feature.whole && Number.isInteger(present);
  const stops = (end) => (isWhole ? wholeKnots(knotsTo(end), present) : knotsTo(end));
  const found = ends
    .map((end) => [present === end ? null : firstChange(decisionAt, stops(end), present, isWhole), end])
    .filter(([reading]) => reading !== null)
    .sort(([a], [b]) => Math.abs(a - present) - Math.abs(b - present));
  if (!found.length) return [];
  const [edge, end] = found[0];
  const to = rounded(decisionAt, feature, edge, present, end, isWhole);
  return [{ to, edge, decision: decisionAt(edge), move: distance(feature, present, edge) }];
}

/** Every other state that is decided otherwise; of states in order only the nearest. */
function stateChanges(decisionAt, feature, present) {
  const decision = decisionAt(present);
  const changes = feature.peaks
    .filter((state) => state !== present && decisionAt(state) !== decision)
    .map((to) => ({
      to, edge: to, decision: decisionAt(to), move: distance(feature, present, to),
    }))
    .sort((a, b) => a.move - b.move);
  return feature.ordered ? changes.slice(0, 1) : changes;
}

/** List what would change the decision, one feature at a time, the smallest moves first. */
function changesOf(model, readings) {
  const isBent = !model.program.axes.every(isRead);
  return model.features
    .flatMap((feature, j) => {
      const present = readings[j];
      if (present === null) return [];
      const decisionAt = (reading) => evaluate(model, readings.with(j, reading)).decision;
      const knotsTo = (end) => {
        const knots = knotsTowards(feature, present, end, isBent ? PARTS : 1);
        return isBent ? bent(model, readings, j, knots) : knots;
      };
      const found = feature.continuous
        ? continuousChange(decisionAt, feature, present, knotsTo)
        : stateChanges(decisionAt, feature, present);
      return found.map((change) => ({ feature: j, from: present, ...change }));
    })
    .sort((a, b) => a.move - b.move || a.feature - b.feature);
}
