// The controls of the edit mode: the words and rules of one term at a time.

const STEPS = 200;
const LEAST_STEP = 1000;
const MOST_SCORE = 1e6;
const BEGINNING = "begin";
const [PICTURE_WIDTH, PICTURE_HEIGHT, PICTURE_FULL] = [240, 56, 0.92 * 56];

/** What shows a target on the open card, brought up to date after each edit. */
let shownControls = [];

// --- words ---------------------------------------------------------------------------------

/** The corners of a word's shape within the figure, as they are now. */
function wordCorners(j, word) {
  const [low, high] = shown[j];
  const stops = [low, ...model.features[j].peaks.filter((peak) => peak > low && peak < high), high];
  const fits = stops.map((stop) => wordFits(model.features[j], stop)[word]);
  return stops
    .map((stop, s) => [((stop - low) / (high - low)) * PICTURE_WIDTH, PICTURE_HEIGHT - fits[s] * PICTURE_FULL])
    .filter((_, s) => fits[s] > 0 || fits[s - 1] > 0 || fits[s + 1] > 0);
}

/** Draw the words of a feature again in a figure of them. */
function drawWords(picture, j) {
  all(".word", picture).forEach((line, word) => {
    line.setAttribute("d", `M${wordCorners(j, word).map((corner) => corner.join(" ")).join("L")}`);
  });
}

const controlFigure = (j) => document.querySelector(`.control[data-feature="${j}"] svg.words`);

/** Between which readings an end of a word may move: words keep their order. */
function edgeBounds(j, k) {
  const { peaks } = model.features[j];
  const room = (shown[j][1] - shown[j][0]) / LEAST_STEP;
  return [
    k === 0 ? Math.min(shown[j][0], peaks[k]) : Math.min(peaks[k - 1] + room, peaks[k]),
    k === peaks.length - 1 ? Math.max(shown[j][1], peaks[k]) : Math.max(peaks[k + 1] - room, peaks[k]),
  ];
}

function moveEdge(j, k, reading) {
  const [low, high] = edgeBounds(j, k);
  edit(edgeTarget(j, k), Math.min(Math.max(roundSlider(j, reading), low), high));
}

/** Where a key takes an end of a word; undefined for other keys. */
function keyedReading(event, j, k) {
  const [low, high] = edgeBounds(j, k);
  const step = ((shown[j][1] - shown[j][0]) / STEPS) * (event.shiftKey ? 10 : 1);
  const at = model.features[j].peaks[k];
  return {
    ArrowLeft: at - step, ArrowDown: at - step, ArrowRight: at + step, ArrowUp: at + step,
    PageDown: at - 10 * step, PageUp: at + 10 * step, Home: low, End: high,
  }[event.key];
}

function makeHandle(j, k, plot) {
  const feature = model.features[j];
  const word = feature.sets[k] ?? k;
  const handle = element("div", "", `handle ${word % 2 ? "is-low" : "is-high"}`);
  handle.tabIndex = 0;
  handle.setAttribute("role", "slider");
  handle.setAttribute("aria-label", `${feature.name}, ${edgeName(feature, k)}`);
  const readingAt = ({ clientX }) => {
    const { left, width } = plot.getBoundingClientRect();
    return shown[j][0] + ((clientX - left) / width) * (shown[j][1] - shown[j][0]);
  };
  handle.addEventListener("pointerdown", (event) => {
    beginGesture();
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) moveEdge(j, k, readingAt(event));
  });
  handle.addEventListener("focus", beginGesture);
  handle.addEventListener("keydown", (event) => {
    const reading = keyedReading(event, j, k);
    if (reading === undefined) return;
    event.preventDefault();
    moveEdge(j, k, reading);
  });
  shownControls.push(() => {
    const [at, [low, high]] = [feature.peaks[k], edgeBounds(j, k)];
    handle.style.left = `${(100 * (at - shown[j][0])) / (shown[j][1] - shown[j][0])}%`;
    handle.dataset.value = typed(at);
    handle.classList.toggle("is-edited", isEdited(edgeTarget(j, k)));
    const values = { valuemin: low, valuemax: high, valuenow: at, valuetext: brief(at) };
    Object.entries(values).forEach(([name, value]) => handle.setAttribute(`aria-${name}`, value));
  });
  return handle;
}

/** A field for an end of a word, for readings that are to be exact. */
function makeEdgeField(j, k) {
  const line = element("label", edgeName(model.features[j], k));
  const field = element("input");
  Object.assign(field, { type: "number", step: "any" });
  field.setAttribute("aria-label", `${model.features[j].name}, ${edgeName(model.features[j], k)}`);
  field.addEventListener("change", () => {
    beginGesture();
    if (Number.isFinite(field.valueAsNumber)) moveEdge(j, k, field.valueAsNumber);
    field.value = typed(model.features[j].peaks[k]);
  });
  shownControls.push(() => { field.value = typed(model.features[j].peaks[k]); });
  line.append(field);
  return line;
}

function makeWords(i, j) {
  const feature = model.features[j];
  const part = element("div", "", "edit-words");
  const heading = element("h4");
  heading.append("Where the words of ", element("bdi", feature.name), " apply");
  const plot = element("div", "", "plot");
  const figure = controlFigure(j).cloneNode(true);
  const places = feature.peaks.map((_, k) => k);
  plot.append(figure, ...places.map((k) => makeHandle(j, k, plot)));
  shownControls.push(() => drawWords(figure, j));
  const ends = element("p", "", "ends");
  ends.append(...shown[j].map((end) => element("span", brief(end))));
  const fields = element("div", "", "edges");
  fields.append(...places.map((k) => makeEdgeField(j, k)));
  part.append(heading, plot, ends, fields);
  const others = termsAsking(j).filter((other) => other !== i);
  if (others.length) {
    part.append(element("p", `These words also count in: ${others.map((other) => editing.titles[other]).join("; ")}.`, "fine"));
  }
  return part;
}

// --- weights -------------------------------------------------------------------------------

/** The range of the sliders: 1.5 times the largest weight before any edit. */
let scoreLimit = 0;

function setScoreLimit() {
  let most = 0;
  for (const { terms, baseline } of model.program.stages) {
    const added = terms.flatMap(({ weights, missing }) => [...weights, missing ?? []]);
    most = [...added, baseline].flat().reduce((sofar, score) => Math.max(sofar, Math.abs(score)), most);
  }
  most *= size === 2 ? 3 : 1.5;
  scoreLimit = isNumber ? most || 1 : Math.max(Math.ceil(most), 2);
}

/** Give one class another score. What it gains, the others lose alike; of two, it is how much more the second has. */
function withScore(scores, c, score) {
  if (size < 2) return [score];
  if (size === 2) return [-score / 2, score / 2];
  const lost = (score - scores[c]) / (size - 1);
  return scores.map((one, other) => (other === c ? score : one - lost));
}

const scoreOf = (scores, c) => (size === 2 ? scores[1] - scores[0] : scores[c]);

/** Name the two sides of a slider: of several classes, the one it belongs to. */
function makeSides(c) {
  const side = (place) => {
    const made = element("span", "", "class");
    made.append(element("i", "", `chip ${colourOf(place)}`), element("bdi", model.target.labels[place]));
    return made;
  };
  if (isNumber) return [element("span", "less"), element("span", "more")];
  return size === 2 ? [side(0), side(1)] : [side(c), element("span")];
}

function makeEvidence(one, name, c) {
  const line = element("div", "", "weight");
  const [slider, field] = [element("input"), element("input")];
  const step = isNumber ? Number((scoreLimit / STEPS).toPrecision(1)) : 0.05;
  Object.assign(slider, { type: "range", min: -scoreLimit, max: scoreLimit, step });
  Object.assign(field, { type: "number", step: "any" });
  const whose = isNumber ? name : `${name}: weight for ${model.target.labels[size === 2 ? 1 : c]}`;
  slider.setAttribute("aria-label", whose);
  field.setAttribute("aria-label", `${whose}, as a number`);
  const set = (score) => {
    const { isOn, scores } = one.read();
    edit(one, { isOn, scores: withScore(scores, c, Math.min(Math.max(score, -MOST_SCORE), MOST_SCORE)) });
  };
  slider.addEventListener("pointerdown", beginGesture);
  slider.addEventListener("focus", beginGesture);
  slider.addEventListener("input", () => set(slider.valueAsNumber));
  field.addEventListener("change", () => {
    beginGesture();
    if (Number.isFinite(field.valueAsNumber)) set(field.valueAsNumber);
  });
  shownControls.push(() => {
    const { isOn, scores } = one.read();
    const score = scoreOf(scores, c);
    if (document.activeElement !== slider || slider.valueAsNumber !== score) slider.value = score;
    slider.setAttribute("aria-valuetext", isOn ? spellScores(scores) : "switched off");
    field.value = isNumber ? typed(score) : Number(score.toFixed(2));
    slider.disabled = !isOn;
    field.disabled = !isOn;
  });
  const [left, right] = makeSides(c);
  line.append(left, slider, right, field);
  return line;
}

function makeSliders(one, name) {
  const sliders = element("div", "", "sliders");
  const classes = isNumber || size < 3 ? [0] : model.target.labels.map((_, c) => c);
  sliders.append(...classes.map((c) => makeEvidence(one, name, c)));
  return sliders;
}

function makeRule(i, r) {
  const { text, fact } = editing.rules[i][r]; // whose numbers are every other part
  const one = ruleTarget(i, r);
  const line = element("li");
  const name = element("label", "", "switch");
  const box = element("input");
  box.type = "checkbox";
  box.setAttribute("role", "switch");
  box.addEventListener("change", () => {
    beginGesture();
    edit(one, { ...one.read(), isOn: box.checked });
  });
  name.append(box, element("bdi", text));
  const about = element("p", `Learned from: ${fact.map((part, at) => (at % 2 ? inLanguage(part) : part)).join("")}.`, "fine");
  shownControls.push(() => {
    const { isOn } = one.read();
    box.checked = isOn;
    line.classList.toggle("is-off", !isOn);
    line.classList.toggle("is-edited", isEdited(one));
    about.hidden = model.nodes[i].term.asks.some(isMoved);
  });
  line.append(name, makeSliders(one, text), about);
  return line;
}

// --- the card ------------------------------------------------------------------------------

/** The rules of a term from low to high, that of a missing reading last. */
function rulesInOrder(i) {
  const { rules } = model.nodes[i];
  const place = (r) => (rules[r] < 0 ? Infinity : rules[r]);
  return rules.map((_, r) => r).sort((a, b) => place(a) - place(b));
}

/** Show that counts of rules are older than the words, once a word was moved. */
function makeMovedNote(i) {
  const note = element("p", "The rows of these rules were counted before words were moved, so that neither their number nor their classes are told here.", "note");
  shownControls.push(() => { note.hidden = !model.nodes[i].term.asks.some(isMoved); });
  return note;
}

function openTerm(i) {
  const hasEnds = (j) => model.features[j].continuous && model.features[j].words.length > 1;
  const heading = element("h4", isNumber ? "What the rules add" : "What the rules add, in log-odds");
  const rules = element("ol", "", "edit-rules");
  rules.append(...rulesInOrder(i).map((r) => makeRule(i, r)));
  const left = editing.counts[i] - editing.rules[i].length;
  const rest = element("p", `${count(left)} weaker rules are not listed here, and stay as they are.`, "fine");
  rest.hidden = left <= 0;
  const words = model.nodes[i].term.asks.filter(hasEnds).map((j) => makeWords(i, j));
  return [...words, heading, makeMovedNote(i), rules, rest];
}

function openBeginning() {
  return [element("h4", "Baseline: the scores before any rule"), makeSliders(biasTarget(), "baseline")];
}

/** Show the controls of a term, or of the baseline. */
function openCard(chosen) {
  shownControls = [];
  byId("edit-card").replaceChildren(...(chosen === BEGINNING ? openBeginning() : openTerm(Number(chosen))));
  shownControls.forEach((show) => show());
}

/** Open the card on which a target can be seen, if it is not open. */
function reveal({ key, terms }) {
  const choice = byId("edit-choice");
  const places = key === "bias" ? [BEGINNING] : terms.map(String);
  if (places.includes(choice.value)) return;
  choice.value = places[0];
  openCard(choice.value);
}

/** List the terms, by importance, and the baseline. */
function fillChoice() {
  const choice = byId("edit-choice");
  const terms = model.nodes.flatMap((node, i) => (node.term ? [i] : []));
  terms.sort((a, b) => model.nodes[b].term.share - model.nodes[a].term.share);
  choice.append(...terms.map((i) => new Option(editing.titles[i], i)), new Option("baseline", BEGINNING));
  choice.addEventListener("change", () => openCard(choice.value));
}
