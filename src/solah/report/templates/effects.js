// What the edits change on the rows of the page, and the edits themselves.

const MOST_LISTED = 50;

let trial = null;
let staleTerms = new Set();
let editFrame = 0;
let announcing = 0;
let isSaved = true;

/** Show an edit: the controls at once, and what it changes with the next frame. */
function showEdit(one) {
  one.terms.forEach((term) => staleTerms.add(term));
  isSaved = false;
  cancelAnimationFrame(editFrame);
  editFrame = requestAnimationFrame(showEffects);
}

function showEffects() {
  if (trial) updateTrial(model, trial, staleTerms);
  const touched = new Set([...staleTerms].flatMap((i) => model.nodes[i].term.asks));
  touched.forEach((j) => { if (model.features[j].continuous) drawWords(controlFigure(j), j); });
  staleTerms = new Set();
  shownControls.forEach((show) => show());
  showJournal();
  if (trial) showTrial();
  refresh();
}

// --- what changes --------------------------------------------------------------------------

function scoreLine(name, before, now, format, isBetter) {
  const line = element("div", "", before === now ? "" : isBetter ? "up" : "down");
  line.append(element("dt", name), element("dd", format(now)));
  line.append(element("dd", before === now ? "as before" : `before ${format(before)}`, "fine"));
  return line;
}

/** How well the rows of the page are decided before the edits and now, and which decisions differ. */
function effectsOf({ truth, before, now }) {
  return {
    before: measure(model.target, truth, before),
    now: measure(model.target, truth, now),
    changed: changedRows(trial, isNumber),
  };
}

function showTrial() {
  const { before, now, changed } = effectsOf(trial);
  const spelt = (value) => fixed(value, 4);
  const lines = !now ? [] : isNumber ? [
    scoreLine("R²", before.r2, now.r2, spelt, now.r2 > before.r2),
    scoreLine("mean absolute error", before.error, now.error, (error) => brief(error), now.error < before.error),
  ] : [
    scoreLine("accuracy", before.accuracy, now.accuracy, (share) => percent(share, 2), now.accuracy > before.accuracy),
    scoreLine("log-loss", before.logLoss, now.logLoss, spelt, now.logLoss < before.logLoss),
  ];
  const flips = element("div");
  flips.append(
    element("dt", isNumber ? "estimates changed" : "decisions flipped"),
    element("dd", count(changed.length)),
    element("dd", `of ${count(trial.numbers.length)} rows`, "fine"),
  );
  byId("effect-scores").replaceChildren(...lines, flips);
  showWays(changed);
  showRows(changed);
  announce([...lines, flips]
    .map((line) => [...line.children].map(({ textContent }) => textContent).join(" ")).join(", "));
}

/** Announce the effects to screen readers, after a pause. */
function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { byId("edit-announcer").textContent = text; }, 400);
}

const isKnown = (truth) => !Number.isNaN(truth);

/** From which class to which, how many rows, and how many of them are right now or were before. */
function showWays(changed) {
  const ways = new Map();
  for (const { from, to, truth } of isNumber ? [] : changed) {
    const key = `${from} ${to}`;
    const way = ways.get(key) ?? { from, to, rows: 0, right: 0, wrong: 0 };
    way.rows += 1;
    way.right += truth === to ? 1 : 0;
    way.wrong += truth === from ? 1 : 0;
    ways.set(key, way);
  }
  const lines = [...ways.values()].sort((a, b) => b.rows - a.rows).map(({ from, to, rows, right, wrong }) => {
    const line = element("li");
    const counts = trial.truth.some(isKnown) ? `${count(right)} now right, ${count(wrong)} now wrong` : "";
    line.append(fromTo(from, to), element("span", count(rows)), element("span", counts, "fine"));
    return line;
  });
  byId("effect-ways").replaceChildren(...lines);
}

function fromTo(from, to) {
  const made = element("span", "", "from-to");
  const parts = [from, to].map((value) => {
    if (isNumber) return element("span", brief(value, 4));
    const part = element("span", "", "class");
    part.append(element("i", "", `chip ${colourOf(value)}`), element("bdi", model.target.labels[value]));
    return part;
  });
  made.append(parts[0], " → ", parts[1]);
  return made;
}

function showRows(changed) {
  const lines = changed.slice(0, MOST_LISTED).map(({ r, number, from, to, truth }) => {
    const line = element("li");
    const button = element("button", `row ${count(number)}`, "quiet");
    button.type = "button";
    button.title = "Look at it under “Try it”";
    button.addEventListener("click", () => {
      load(trial.ways[r].readings);
      byId("try").scrollIntoView();
    });
    const note = !isKnown(truth) ? "" : isNumber ? `true value ${brief(truth)}`
      : truth === to ? "now right" : truth === from ? "now wrong" : `true class ${model.target.labels[truth]}`;
    line.append(button, fromTo(from, to), element("span", note, `fine ${note.replace(" ", "-")}`));
    return line;
  });
  const rest = changed.length - lines.length;
  if (rest > 0) lines.push(element("li", `and ${count(rest)} more`, "fine"));
  byId("effect-rows").replaceChildren(...lines);
  byId("effect-changes").hidden = !changed.length;
}

// --- the edits -----------------------------------------------------------------------------

function editLine(one) {
  const line = element("li");
  const text = one.describe(one.original, one.read());
  const reason = element("input");
  Object.assign(reason, { type: "text", value: one.reason, placeholder: "why? (optional)", maxLength: 2000 });
  reason.setAttribute("aria-label", `The reason: ${text}`);
  reason.addEventListener("input", () => { one.reason = reason.value.trim(); });
  const back = element("button", "Take back", "quiet");
  back.type = "button";
  back.setAttribute("aria-label", `Take back: ${text}`);
  back.addEventListener("click", () => {
    beginGesture();
    edit(one, one.original);
    byId("edit-undo").focus();
  });
  line.append(element("bdi", `${text[0].toUpperCase()}${text.slice(1)}.`), reason, back);
  return line;
}

function showJournal() {
  const edited = editedTargets();
  document.documentElement.classList.toggle("is-edited", edited.length > 0);
  byId("edit-undo").disabled = !journal.past.length;
  byId("edit-redo").disabled = !journal.future.length;
  byId("edit-none").hidden = edited.length > 0;
  byId("edit-list").replaceChildren(...edited.map(editLine));
  byId("edit-save").disabled = !edited.length;
  for (const option of byId("edit-choice").options) {
    const isTouched = edited.some(({ key, terms }) =>
      (option.value === BEGINNING ? key === "bias" : terms.includes(Number(option.value))));
    option.textContent = `${option.textContent.replace(/ \(edited\)$/, "")}${isTouched ? " (edited)" : ""}`;
  }
}

function saveDocument() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([documentText(byId("edit-author").value.trim())], { type: "application/json" }));
  link.download = "edited.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  isSaved = true;
}

// --- the mode ------------------------------------------------------------------------------

function startEditing() {
  if (!byId("editor").hidden) return;
  setScoreLimit();
  if (payload.sample) trial = startTrial(model, payload.sample);
  fillChoice();
  openCard(byId("edit-choice").value);
  showJournal();
  if (trial) showTrial();
  byId("edit-start").hidden = true;
  byId("editor").hidden = false;
}

/** Undo with Ctrl+Z, redo with Ctrl+Shift+Z or Ctrl+Y, except where a field has an undo of its own. */
function followKeys(event) {
  const isTyping = event.target.matches('input[type="text"], input[type="number"], input[type="search"]');
  if (byId("editor").hidden || isTyping || !(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) redo();
  else undo();
}

function wireEditing() {
  if (!editing) return;
  byId("edit-start").hidden = false;
  byId("edit-start").addEventListener("click", () => {
    startEditing();
    byId("edit-choice").focus();
  });
  for (const button of all("[data-edit]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      startEditing();
      reveal({ terms: [button.dataset.edit] });
      byId("correct").scrollIntoView();
      byId("edit-choice").focus({ preventScroll: true });
    });
  }
  byId("edit-undo").addEventListener("click", undo);
  byId("edit-redo").addEventListener("click", redo);
  byId("edit-save").addEventListener("click", saveDocument);
  addEventListener("keydown", followKeys);
  addEventListener("beforeunload", (event) => {
    if (!isSaved && editedTargets().length) event.preventDefault();
  });
}
