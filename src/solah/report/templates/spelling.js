// The model and the rows of the page, and how to format and draw things.
//
// Names from the data only ever become text (textContent), never markup.

const payload = JSON.parse(document.getElementById("payload").textContent);
const model = prepared(payload.model);
const { rows, shown } = payload;
const { isNumber, isSum } = model.target;
const LEAST_SHOWN = 0.005;

const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Write a number for a field: a machine reads it. */
const typed = (value) => {
  const rounded = Number(value.toPrecision(5));
  return Math.abs(rounded) < LEAST_PLAIN && rounded ? rounded.toExponential() : String(rounded);
};

const signed = (spelt) => (/[1-9]/.test(spelt) ? spelt.replace(/^(?!−)/, "+") : "0");
const signedPoints = (share) => inLanguage(signed(fixedInEnglish(100 * share, 1)));
const signedScore = (score) => signed(fixedInEnglish(score, 2));
const signedNumber = (value) => signed(spellNumber(value, 3));

function spellReading(j, reading) {
  const feature = model.features[j];
  if (reading === null) return "missing";
  const word = feature.continuous ? undefined : feature.words[feature.peaks.indexOf(reading)];
  if (word === undefined) return brief(reading);
  return word.length > 10 && Number.isFinite(Number(word)) ? brief(Number(word)) : word;
}

/** How well each word describes a reading. */
function wordFits(feature, reading) {
  const masses = membershipsAt({ peaks: feature.peaks, missing: feature.mean_masses }, reading);
  return feature.words.map((_, i) => (feature.sets.length
    ? masses.reduce((sum, mass, k) => sum + (feature.sets[k] === i ? mass : 0), 0)
    : (masses[2 * i - 1] ?? 0) + masses[2 * i] + (masses[2 * i + 1] ?? 0)));
}

/** Name the words that describe a reading, and how well those that do so in part. */
function spellWords(feature, reading) {
  return wordFits(feature, reading)
    .map((fit, i) => [feature.words[i], fit])
    .filter(([, fit]) => fit > LEAST_SHOWN)
    .map(([word, fit]) => (fit > 1 - LEAST_SHOWN ? word : `${word} ${fixed(fit, 2)}`))
    .join(" · ");
}

/** Write the scores of all classes; of two, their difference. */
function spellScores(scores, format = inLanguage) {
  if (isNumber) return format(signedNumber(scores[0]));
  if (scores.length > 2) {
    return scores.map((score, c) => `${model.target.labels[c]} ${format(signedScore(score))}`).join(", ");
  }
  const most = scores.indexOf(Math.max(...scores));
  const size = Math.max(...scores) - Math.min(...scores);
  return size > 0 ? `${model.target.labels[most]} ${format(signedScore(size))}` : "nothing";
}

/** Show why the model abstains, or how the values differ from the training rows. */
function spellReasons({ abstain_reasons, abstains, belief, decision }) {
  if (!abstain_reasons.length) return "";
  const label = model.target.labels[decision];
  const digits = (value) => brief(value, 3);
  const spelt = {
    "low probability": ({ least }) => `the probability of ${label} is ${digits(belief[decision])}, below ${digits(least)}`,
    "few readings": ({ known }) => `completeness is ${digits(known)}, below ${digits(model.policy.minKnown)}`,
    "out of range": ({ place }) => {
      const { low, high } = model.policy.cells[place];
      return `${model.features[place].name} ${spellReading(place, state.readings[place])} is outside ${brief(low)} to ${brief(high)}`;
    },
    unseen: ({ first, second }) =>
      `this combination of ${model.features[first].name} and ${model.features[second].name} never occurred in training`,
  };
  const what = abstains ? "Abstains (don't know)" : "Unlike the training rows";
  return `${what}: ${abstain_reasons.map((abstain_reason) => spelt[abstain_reason.kind](abstain_reason)).join("; ")}.`;
}

function cutTo(text, letters) {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function element(name, text = "", style = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (style) made.className = style;
  return made;
}

function drawn(name, features) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(features)) made.setAttribute(key, value);
  return made;
}

function fillBar(bar, belief) {
  let start = 0;
  all("rect", bar).forEach((part, c) => {
    part.setAttribute("x", 100 * start);
    part.setAttribute("width", 100 * belief[c]);
    start += belief[c];
  });
}

const colourOf = (place) => (isNumber ? "ramp" : `c${place % payload.colours}`);
