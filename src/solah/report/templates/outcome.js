// Shows the prediction: probabilities, the parts, contributions and changes that flip it.

const MOST_REASONS = 8;
const MOST_CHANGES = 5;

// --- the decision --------------------------------------------------------------------------

function showDecision(outcome) {
  const { belief: probabilities } = outcome;
  const place = isNumber ? probabilities.indexOf(Math.max(...probabilities)) : outcome.decision;
  const isDecided = !isNumber && !outcome.abstains;
  byId("verdict").textContent = isNumber ? brief(outcome.estimate, 4)
    : isDecided ? model.target.labels[place] : "don't know";
  if (!isNumber) byId("verdict-chip").className = isDecided ? `chip ${colourOf(place)}` : "";
  byId("certainty").textContent = isDecided ? percent(probabilities[place]) : "";
  if (!isNumber) {
    byId("abstain_reasons").textContent = spellReasons(outcome);
    byId("abstain_reasons").hidden = !outcome.abstain_reasons.length;
  }
  fillBar(byId("verdict-bar"), probabilities);
  all("#beliefs li").forEach((item, c) => {
    item.classList.toggle("is-decided", c === place && !outcome.abstains);
    item.querySelector("output").textContent = percent(probabilities[c]);
  });
  const known = state.readings.filter((reading) => reading !== null).length;
  const { share, variance } = outcome.unknown;
  const cost = variance > 0 && !isSum ? ` Other weights count ${percent(damping(variance))}.` : "";
  const missed = variance > 0 ? ` Completeness ${percent(1 - share)}.${cost}` : "";
  byId("known").textContent = `${count(known)} of ${count(state.readings.length)} values known.${missed}`;
}

function resultOf(belief) {
  if (isNumber) return `about ${brief(estimate(model.program, belief), 4)}`;
  const place = decide(model.program, belief);
  return [model.target.labels[place], fixed(belief[place], 2)];
}

function showNodes({ way }) {
  for (const card of all(".hierarchy .node")) {
    const node = model.nodes[card.dataset.node];
    const belief = nodeBelief(model, node, way);
    const adds = isSum && node.part !== null;
    const result = adds ? inLanguage(signedNumber(nodeWeights(node, way)[0])) : resultOf(belief);
    const letters = Number(card.dataset.letters);
    if (!isSum) fillBar(card.querySelector(".belief"), belief);
    card.querySelector(".result").textContent = Array.isArray(result)
      ? `${cutTo(result[0], letters - 5)} ${result[1]}` : result;
  }
}

function showRules({ way }) {
  for (const part of all("details[data-node][open]")) {
    const { term, rules } = model.nodes[part.dataset.node];
    if (!term) continue;
    const shares = ruleShares(model.program, term, way);
    all(".rules > li", part).forEach((rule, i) => {
      const share = shares.get(rules[i]) ?? 0;
      const fired = rule.querySelector(".fired");
      fired.hidden = share < LEAST_SHOWN;
      fired.querySelector("output").textContent = fixed(share, 2);
      rule.classList.toggle("fires", share >= LEAST_SHOWN);
    });
  }
}

// --- why -----------------------------------------------------------------------------------

/** The steps from knowing nothing to the outcome, of which the small ones are put together. */
function reasons(explained, weigh) {
  const parts = explained.parts.map((part, j) => ({ j, size: weigh(part) }));
  const known = parts.filter(({ j }) => state.readings[j] !== null);
  known.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
  const least = LEAST_SHOWN / 10 * (isNumber ? Math.abs(known[0]?.size ?? 0) : 1);
  const isTold = ({ size }, i) => i < MOST_REASONS && Math.abs(size) > least;
  const steps = known.filter(isTold).map(({ j, size }) => ({
    name: `${model.features[j].name} is ${spellReading(j, state.readings[j])}`, size,
  }));
  const others = known.filter((part, i) => !isTold(part, i));
  if (others.length) {
    steps.push({
      name: `${count(others.length)} other value${others.length === 1 ? "" : "s"}`,
      size: others.reduce((sum, { size }) => sum + size, 0),
    });
  }
  return steps;
}

function waterfallLine(name, value, from, to, style, scale) {
  const line = element("li", "", style);
  const label = element("span");
  label.append(element("bdi", name));
  const bar = drawn("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" });
  const [left, right] = [scale(Math.min(from, to)), scale(Math.max(from, to))];
  bar.append(drawn("rect", { x: left, width: Math.max(right - left, 0.4), height: 6 }));
  line.append(label, bar, element("output", value));
  return line;
}

function showWhy(outcome) {
  const explained = contributions(model, state.readings);
  const chosen = byId("towards")?.value;
  const place = chosen ? Number(chosen) : outcome.decision;
  const weigh = isNumber ? (part) => estimate(model.program, part) : (part) => part[place];
  const [start, end] = [weigh(explained.before), weigh(explained.after)];
  const steps = reasons(explained, weigh);
  const levels = steps.reduce((sums, { size }) => [...sums, sums[sums.length - 1] + size], [start]);
  const low = isNumber ? Math.min(...levels) : 0;
  const span = (isNumber ? Math.max(...levels) - low : Math.max(...levels, 1e-9)) || 1;
  const scale = (level) => (100 * (level - low)) / span;
  const format = isNumber ? (level) => brief(level, 4) : (level) => percent(level);
  byId("why").replaceChildren(
    waterfallLine("before any value", format(start), low, start, "end", scale),
    ...steps.map(({ name, size }, i) => waterfallLine(
      name, isNumber ? inLanguage(signedNumber(size)) : signedPoints(size), levels[i], levels[i + 1],
      size < 0 ? "down" : "up", scale,
    )),
    waterfallLine("now", format(end), low, end, "end", scale),
  );
}

// --- what would change it ------------------------------------------------------------------

function changeLine({ feature: j, from, to, decision }) {
  const line = element("li");
  const text = element("span");
  const way = model.features[j].continuous ? (to > from ? " up to " : " down to ") : " to ";
  text.append(element("bdi", model.features[j].name), `: from ${spellReading(j, from)}${way}`);
  text.append(element("strong", model.features[j].continuous ? exact(to) : spellReading(j, to)), " → ");
  const outcome = element("span", "", "class");
  outcome.append(element("i", "", `chip ${colourOf(decision)}`), element("bdi", model.target.labels[decision]));
  text.append(outcome);
  const button = element("button", "Try it");
  button.type = "button";
  button.setAttribute("aria-label", `Try ${model.features[j].name} ${spellReading(j, to)}`);
  button.addEventListener("click", () => change(j, to));
  line.append(text, button);
  return line;
}

function showChanges() {
  const list = byId("change");
  if (!list) return;
  const found = changesOf(model, state.readings);
  const lines = found.slice(0, MOST_CHANGES).map(changeLine);
  if (!found.length) lines.push(element("li", "No change of one value flips it."));
  if (found.length > MOST_CHANGES) {
    const rest = found.length - MOST_CHANGES;
    lines.push(element("li", `${count(rest)} more ${rest === 1 ? "needs" : "need"} a larger change.`, "fine"));
  }
  list.replaceChildren(...lines);
}
