// Keeps what the page shows in step with the readings, and wires the rest.

// --- keeping up ----------------------------------------------------------------------------

// A page within a notebook has no address of its own.
const isFramed = location.protocol === "about:";
let frame = 0;
let timer = 0;

/** Show the probabilities with the next frame, and slower parts once the input pauses. */
function refresh() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(showNow);
}

function showNow() {
  const outcome = evaluate(model, state.readings);
  controls.forEach((show) => show());
  if (byId("row")) byId("row").value = state.row === null ? "" : String(state.row);
  showDecision(outcome);
  showNodes(outcome);
  showRules(outcome);
  clearTimeout(timer);
  timer = setTimeout(() => showLater(outcome), 60);
}

function showLater(outcome) {
  showWhy(outcome);
  showChanges();
  const link = linkOf(state.readings);
  byId("link").href = link;
  const isOwn = location.hash === "" || location.hash.startsWith("#at=");
  if (isOwn && !isFramed && location.hash !== link) history.replaceState(null, "", link);
  byId("announcer").textContent = `${byId("verdict").textContent} ${byId("certainty").textContent}`;
}

// --- the rest of the page ------------------------------------------------------------------

/** Open the rules that a link leads to. */
function openTarget(hash) {
  const target = /^#node-\d+$/.test(hash) ? document.querySelector(hash) : null;
  if (!target) return;
  target.closest("details").open = true;
  target.closest("details").scrollIntoView({ block: "nearest" });
  target.focus({ preventScroll: true });
}

function follow() {
  const readings = readLink(location.hash);
  if (readings) load(readings, rowOf(readings));
  openTarget(location.hash);
}

function wireTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  button.hidden = false;
  name();
}

function wirePrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));
}

function wireHeatMap() {
  const figure = byId("heat");
  if (!figure) return;
  const { names, matrix } = payload.dependence;
  const side = 480;
  const cell = side / names.length;
  const at = { row: 0, column: 0 };
  const point = (row, column) => {
    at.row = Math.min(Math.max(row, 0), names.length - 1);
    at.column = Math.min(Math.max(column, 0), names.length - 1);
    const [x, y] = [at.column * cell, at.row * cell];
    byId("heat-cursor").setAttribute("d", `M${x} ${y}h${cell}v${cell}h${-cell}Z`);
    byId("heat-value").textContent = `${names[at.row]}, ${names[at.column]}: ${fixed(matrix[at.row][at.column], 2)}`;
  };
  figure.addEventListener("pointermove", (event) => {
    const place = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(figure.getScreenCTM().inverse());
    if (place.x >= 0 && place.y >= 0) point(Math.floor(place.y / cell), Math.floor(place.x / cell));
  });
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  figure.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    point(at.row + step[0], at.column + step[1]);
  });
}

/** Show the rules of the parts that were chosen, or of all. */
function wireRules() {
  const [list, button] = [byId("nodes"), byId("all-rules")];
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const isWhole = list.classList.toggle("is-whole");
    all("details", list).forEach((part) => { part.open = isWhole; });
    button.textContent = isWhole ? "Close all rules" : "Open all rules";
    button.setAttribute("aria-expanded", String(isWhole));
  });
}

/** List the rows of the page: without a script they could not be looked at. */
function fillRows() {
  const format = (outcome) => (isNumber ? inLanguage(outcome) : outcome);
  byId("row")?.append(...rows.map(({ row, truth: actual, decided }, r) => {
    const other = isNumber || actual === decided ? "" : ` (predicted ${decided})`;
    return new Option(`row ${count(row)}${actual === null ? "" : `: ${format(actual)}${other}`}`, r);
  }));
}

/** Make room behind each rule for how far it applies now. */
function makeShares() {
  for (const line of all(".rules .then")) {
    const fired = element("span", " now ", "fine fired");
    fired.hidden = true;
    fired.append(element("output"));
    line.append(fired);
  }
}

function wireTools() {
  byId("reset").addEventListener("click", begin);
  byId("forget").addEventListener("click", () => load(model.features.map(() => null)));
  byId("row")?.addEventListener("change", ({ target }) => {
    if (target.value !== "") load(rows[target.value].readings, Number(target.value));
  });
  byId("towards")?.addEventListener("change", refresh);
  for (const part of all("details[data-node]")) part.addEventListener("toggle", refresh);
  for (const link of all('a[href^="#node-"]')) {
    link.addEventListener("click", () => openTarget(link.getAttribute("href")));
  }
  addEventListener("hashchange", follow);
  if (isFramed) {
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      byId(link.getAttribute("href").slice(1))?.scrollIntoView();
    });
  }
}

translateNumbers();
fillRows();
makeShares();
byId("what-if").hidden = false;
document.documentElement.classList.add("is-live");
wireTheme();
wirePrint();
wireHeatMap();
wireFilter();
wireRules();
wireTools();
wireEditing();
begin();
follow();

/** For tests and for other scripts: the model's arithmetic, the readings shown now, and what edits change. */
window.solah = {
  evaluate: (readings) => {
    const outcome = evaluate(model, readings);
    return { ...outcome, beliefs: model.nodes.map((node) => nodeBelief(model, node, outcome.way)) };
  },
  contributions: (readings) => contributions(model, readings),
  changes: (readings) => changesOf(model, readings),
  get readings() { return [...state.readings]; },
  get effects() { return trial && effectsOf(trial); },
};
