// What the reader edits: the ends of words, the weights of rules, and the baseline.
//
// A target is one thing that can be edited. It reads and writes its value in the model, describes an
// edit as a sentence, and lists the terms to evaluate again and the records that change.

const { editing } = payload;
const { stages: [sum], size } = model.program;

const targets = new Map();
const journal = { past: [], future: [], gesture: 0 };

function target(key, make) {
  if (!targets.has(key)) {
    const made = make();
    targets.set(key, { key, reason: "", original: made.read(), ...made });
  }
  return targets.get(key);
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const isEdited = (one) => !isSame(one.read(), one.original);

// --- targets -------------------------------------------------------------------------------

/** Name the end of a word that a focal set represents: "fully low up to". */
function edgeName({ words, sets, peaks }, k) {
  const side = k === 0 ? "up to" : k === peaks.length - 1 ? "from" : "at";
  if (!sets.length) {
    return k % 2 ? `${words[(k - 1) / 2]} and ${words[(k + 1) / 2]} alike at` : `only ${words[k / 2]} ${side}`;
  }
  const inner = sets[k - 1] === sets[k] ? "up to" : sets[k + 1] === sets[k] ? "from" : side;
  return `fully ${words[sets[k]]} ${inner}`;
}

/** The terms that ask a feature, by their nodes. */
function termsAsking(j) {
  return model.nodes.flatMap((node, i) => (node.term?.asks.includes(j) ? [i] : []));
}

/** Describe the move of an end of a word. */
function describeMove({ name, words, sets }, k, from, to, format) {
  const at = (peak) => format(spellNumber(peak, 5));
  const word = sets.length ? words[sets[k]] : k % 2 ? `${words[(k - 1) / 2]}-or-${words[(k + 1) / 2]}` : words[k / 2];
  const isLow = sets[k] > 0 && sets[k - 1] !== sets[k];
  const isHigh = sets[k] < words.length - 1 && sets[k + 1] !== sets[k];
  const verb = !sets.length ? "peaks" : isLow && isHigh ? "is" : isLow ? "begins" : "ends";
  return `moved the word '${word}' of '${name}': it ${verb} at ${at(to)} instead of ${at(from)}`;
}

/** An end of a word. */
function edgeTarget(j, k) {
  const feature = model.features[j];
  return target(`edge ${j} ${k}`, () => ({
    terms: termsAsking(j),
    records: [],
    read: () => feature.peaks[k],
    write: (peak) => { feature.peaks[k] = peak; },
    describe: (from, to, format = inLanguage) => describeMove(feature, k, from, to, format),
  }));
}

/** How much the weights of rules vary, the mean over the classes; each rule counts by its support. */
function spreadOf(weights, supports) {
  const total = supports.reduce((all, support) => all + support, 0) || 1;
  const mean = (of) => supports.reduce((all, support, r) => all + support * of(weights[r]), 0) / total;
  const parts = weights[0].map((_, c) => {
    const middle = mean((one) => one[c]);
    return mean((one) => (one[c] - middle) ** 2);
  });
  return parts.reduce((all, part) => all + part, 0) / parts.length;
}

/** Whether a rule of the document is for a missing reading. */
const isForMissing = ({ if: conditions }) => conditions[0][1] === null;

/** The rules of a term as the document has them: their weights and supports, and the variance. */
function learntRules(i) {
  const { rules, variance = 0 } = JSON.parse(editing.node.terms[i]);
  const learned = rules.filter((rule) => !isForMissing(rule));
  return { variance, weights: learned.map(({ weights }) => weights), supports: learned.map(({ rows }) => rows) };
}

/** Let a term be as much more or less unsure when it is missing as its weights vary more or less. */
function updateVariance(i) {
  const { term } = model.nodes[i];
  if (!sum.terms.some(({ variance }) => variance)) return;
  term.learned ??= learntRules(i);
  const { variance, weights, supports } = term.learned;
  const [before, now] = [weights, term.weights].map((one) => spreadOf(one, supports));
  term.variance = before > 0 && variance ? variance * (now / before) : now;
  shareSpread(sum);
}

/** What a rule adds, and whether it does. Without its rule, a missing reading is unknown. */
function ruleTarget(i, r) {
  const { term, rules } = model.nodes[i];
  const rule = rules[r];
  const { text } = editing.rules[i][r];
  let value = { isOn: true, scores: rule < 0 ? term.missing : term.weights[rule] };
  return target(`rule ${i} ${r}`, () => ({
    terms: [i],
    records: [i],
    read: () => value,
    write: (next) => {
      value = next;
      if (rule < 0) {
        term.missing = next.isOn ? next.scores : null;
        return;
      }
      term.weights[rule] = next.isOn ? next.scores : next.scores.map(() => 0);
      updateVariance(i);
    },
    describe: (from, to, format = inLanguage) => (to.isOn
      ? `set the rule: ${text}: ${spellScores(to.scores, format)} instead of ${spellScores(from.scores, format)}`
      : `removed the rule: ${text}, which added ${spellScores(from.scores, format)}`),
  }));
}

/** The baseline: the scores before any rule. */
function biasTarget() {
  return target("bias", () => ({
    terms: [],
    records: [],
    read: () => ({ isOn: true, scores: sum.baseline }),
    write: ({ scores }) => { sum.baseline = scores; },
    describe: (from, to, format = inLanguage) =>
      `set the baseline: ${spellScores(to.scores, format)} instead of ${spellScores(from.scores, format)}`,
  }));
}

// --- the journal ---------------------------------------------------------------------------

/** A movement that begins now is undone by itself; what belongs to one movement is undone together. */
function beginGesture() {
  journal.gesture += 1;
}

function edit(one, value) {
  if (isSame(value, one.read())) return;
  const last = journal.past.at(-1);
  if (last?.target === one && last.gesture === journal.gesture) last.after = value;
  else journal.past.push({ target: one, before: one.read(), after: value, gesture: journal.gesture });
  one.time = new Date();
  journal.future = [];
  put(one, value);
}

function undo() {
  const step = journal.past.pop();
  if (!step) return;
  journal.future.push(step);
  reveal(step.target);
  put(step.target, step.before);
}

function redo() {
  const step = journal.future.pop();
  if (!step) return;
  journal.past.push(step);
  reveal(step.target);
  put(step.target, step.after);
}

function put(one, value) {
  one.write(value);
  followWords(model);
  setStart(model);
  showEdit(one);
}

/** What differs from the model as it was, the oldest edit first. */
function editedTargets() {
  return [...targets.values()].filter(isEdited).sort((a, b) => a.time - b.time);
}

/** Whether a word of a feature was moved, here or before, so that what was counted is not of it. */
function isMoved(j) {
  return model.features[j].moved || areWordsEdited(j);
}

function areWordsEdited(j) {
  return model.features[j].peaks.some((_, k) => targets.has(`edge ${j} ${k}`) && isEdited(edgeTarget(j, k)));
}

// --- the document --------------------------------------------------------------------------

function featureText(text, j) {
  if (!areWordsEdited(j)) return text;
  const { sets, peaks } = model.features[j];
  const record = JSON.parse(text);
  if (record.ranges) {
    record.ranges = record.ranges.map(([low, high], word) => [
      low === null ? null : peaks[sets.indexOf(word)],
      high === null ? null : peaks[sets.lastIndexOf(word)],
    ]);
  } else {
    record.peaks = peaks;
  }
  return JSON.stringify({ ...record, moved: true });
}

function termText(text, i, edited) {
  if (!edited.some(({ records }) => records.includes(i))) return text;
  const [record, { term }] = [JSON.parse(text), model.nodes[i]];
  if (term.learned) record.variance = term.variance;
  record.rules = record.rules.flatMap((rule, r) => {
    const weights = isForMissing(rule) ? term.missing : term.weights[r];
    return weights ? [{ ...rule, weights }] : [];
  });
  return JSON.stringify(record);
}

function nodeText(edited) {
  const { terms, ...head } = editing.node;
  if (edited.some(({ key }) => key === "bias")) head.baseline = JSON.stringify(sum.baseline);
  const texts = terms.map((text, i) => termText(text, i, edited));
  return recordText({ ...head, terms: block(texts, "      ") }, "     ");
}

const block = (items, indent) => `[${items.map((item) => `\n${indent}${item}`).join(",")}\n${indent.slice(2)}]`;

const recordText = (record, indent) =>
  `{${Object.entries(record).map(([key, text]) => `\n${indent}${JSON.stringify(key)}: ${text}`).join(",")}\n${indent.slice(2)}}`;

/** Write an edit for the document: in English, whatever the language of the browser. */
function editText({ original, read, describe, time, reason }, author) {
  const record = { text: describe(original, read(), (text) => text), author, time: `${time.toISOString().slice(0, 19)}Z`, reason };
  return JSON.stringify(Object.fromEntries(Object.entries(record).filter(([, value]) => value)));
}

/** Write the document with all edits; what was not edited stays as it was, to the last digit. */
function documentText(author) {
  const edited = editedTargets();
  const { features, edits = [], ...rest } = editing.document;
  const all = [...edits, ...edited.map((one) => editText(one, author))];
  const parts = {
    ...rest,
    features: block(features.map(featureText), "    "),
    nodes: block([nodeText(edited)], "    "),
    ...(all.length ? { edits: block(all, "    ") } : {}),
  };
  return `${recordText(parts, "  ")}\n`;
}
