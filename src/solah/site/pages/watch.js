// Keep the live page up to date with snapshots of a network.
//
// Names and decisions come from the network and only ever become text (textContent), never markup.

const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const main = document.querySelector("main");
const SILENT = {
  missing: "missing", waiting: "no message yet", inside: "stays in its node",
};
const REFUSED = {
  unreadable: "unreadable", unfit: "not by the plan", other_model: "of another model", elsewhere: "of no known kind",
};
const CONDITIONS = {
  live: "Live", degraded: "Degraded", stale: "Stale", offline: "Offline", waiting: "Waiting",
  disconnected: "Not connected to the broker",
};
const ANNOUNCE_EVERY = 5000;

let picture = null;
let clock = 0; // the server's time, less the page's own
let isPaused = false;
let isLinked = false; // whether the server of this page answers
let announced = { text: "", at: -Infinity };

// --- format ------------------------------------------------------------------------------

const cutTo = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);
const colourOf = (place) => `c${place % Number(main.dataset.colours)}`;

function formatDuration(seconds) {
  const size = Math.abs(seconds);
  if (size < 1) return `${fixed(1000 * seconds, 0)} ms`;
  if (size < 120) return `${fixed(seconds, size < 10 ? 1 : 0)} s`;
  return size < 7200 ? `${fixed(seconds / 60, 0)} min` : `${fixed(seconds / 3600, 0)} h`;
}

function formatSeen(seen) {
  if (seen === null) return "never";
  const ago = performance.now() / 1000 + clock - seen;
  return ago < 1 ? "now" : `${formatDuration(ago)} ago`;
}

function formatModel(node) {
  if (!node.is_planned) return "not in the plan";
  if (!node.model) return "";
  return node.has_newest ? node.model.slice(0, 8) : `${node.model.slice(0, 8)}, not the newest`;
}

/** The stable decision after a decision; null for "don't know". */
function stableOf({ decision, stable }) {
  return stable === "" ? decision : stable;
}

function formatReasons({ decision, certainty, stable, abstain_reasons }) {
  if (stable === "") return "";
  const why = abstain_reasons.length ? ` (${abstain_reasons.join(", ")})` : "";
  if (stable !== decision) {
    return `${stable === null ? "Don’t know" : "Unchanged"}${why}. The leading class is ${decision}, ${percent(certainty)}.`;
  }
  return abstain_reasons.length ? `Reasons to abstain: ${abstain_reasons.join(", ")}.` : "";
}

function formatOutput(part) {
  return part.state === "heard" ? part.says : SILENT[part.state];
}

// --- showing -------------------------------------------------------------------------------

/** Change the text of an element, only where it is new: a reader's place on the page is kept. */
function write(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

function reveal(target, text) {
  write(target, text);
  target.hidden = text === "";
}

function fillBar(bar, belief) {
  let start = 0;
  all("rect", bar).forEach((part, c) => {
    part.setAttribute("x", 100 * start);
    part.setAttribute("width", 100 * (belief[c] ?? 0));
    start += belief[c] ?? 0;
  });
}

/** Keep a table of as many rows as there are; a cell is its text and, perhaps, its style. */
function fillTable(id, rows) {
  const body = byId(id).tBodies[0];
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, i) => {
    const row = body.rows[i] ?? body.insertRow();
    while (row.cells.length > cells.length) row.deleteCell(-1);
    cells.forEach(([text, style = ""], j) => {
      const cell = row.cells[j] ?? row.insertCell();
      if (cell.className !== style) cell.className = style;
      if (!cell.firstElementChild) cell.append(document.createElement("bdi"));
      write(cell.firstElementChild, text);
    });
  });
}

/** Show the state of the site; never live if that is unknown. */
function showCondition() {
  const { state, reasons } = picture.condition;
  const { last_at: lastAt } = picture.decisions;
  const isKnown = isLinked && state !== "disconnected";
  const isOld = !isKnown || ["stale", "offline"].includes(state);
  const words = reasons.length ? `${CONDITIONS[state]}: ${reasons.join("; ")}.` : CONDITIONS[state];
  if (isLinked) tellLink(words, { live: "is-on", degraded: "is-part", waiting: "" }[state] ?? "is-off");
  else tellLink("The server of this page is lost, so it shows old data; trying again …", "is-off");
  write(byId("decision-age"), lastAt === null ? "No decision yet." : `The last decision came ${formatSeen(lastAt)}.`);
  write(byId("now-word"), isOld ? "as last decided" : "now");
  document.querySelector(".now").classList.toggle("is-old", isOld);
}

function showAlerts(alerts) {
  const list = byId("alerts");
  list.hidden = alerts.length === 0;
  while (list.children.length > alerts.length) list.lastElementChild.remove();
  alerts.forEach(({ name, text, since }, i) => {
    const item = list.children[i] ?? list.appendChild(document.createElement("li"));
    write(item, `${name}: ${text}, since ${new Date(1000 * since).toLocaleString()}`);
  });
}

function showShadow(shadow) {
  byId("shadow").hidden = shadow === null;
  if (shadow === null) return;
  const apart = shadow.apart === null ? "" : `, ${brief(shadow.apart, 4)} apart on average`;
  write(byId("shadow-counts"), shadow.rows
    ? `Model ${shadow.hash.slice(0, 8)} agrees on ${count(shadow.agreed)} of ${count(shadow.rows)} rows (${percent(shadow.agreement)})${apart}.`
    : `Model ${shadow.hash.slice(0, 8)}: no row compared yet.`);
  fillTable("differing", shadow.differing.map(({ decision, shadow: tried, times }) => [
    [decision], [tried], [count(times), "number"],
  ]));
}

function showTiles({ total, rate, incomplete, kept, latency }) {
  write(byId("total"), count(total));
  write(byId("rate"), fixed(rate, 1));
  write(byId("incomplete"), kept ? percent(incomplete) : "–");
  write(byId("p50"), latency ? formatDuration(latency.p50) : "–");
  write(byId("p99"), latency ? formatDuration(latency.p99) : "–");
}

function showVerdict({ decisions, parts }) {
  const last = decisions.last[0];
  if (!last) return;
  const root = parts[parts.length - 1];
  const stable = stableOf(last);
  const place = stable === last.decision ? last.place : picture.model ? picture.model.classes.indexOf(stable) : -1;
  const hasPlace = place !== null && place >= 0;
  write(byId("verdict"), stable ?? "don’t know");
  write(byId("certainty"), last.certainty === null || stable !== last.decision ? "" : percent(last.certainty));
  reveal(byId("verdict-abstain_reasons"), formatReasons(last));
  write(byId("verdict-row"), `Row ${last.row}, completeness ${percent(last.completeness)}.`);
  reveal(byId("verdict-missing"), last.missing.length ? `Missing: ${last.missing.join(", ")}.` : "");
  byId("verdict-chip").hidden = !hasPlace;
  if (hasPlace) byId("verdict-chip").className = `chip ${colourOf(place)}`;
  if (root && byId("verdict-bar")) fillBar(byId("verdict-bar"), root.belief);
  all("#beliefs li").forEach((item, c) => {
    item.classList.toggle("is-decided", c === place);
    write(item.querySelector("output"), root && root.belief.length ? percent(root.belief[c]) : "");
  });
  const words = ["verdict", "certainty", "verdict-abstain_reasons", "verdict-missing"].map((id) => byId(id).textContent);
  announce(words.filter(Boolean).join(" "), [stable, last.missing, last.abstain_reasons]);
}

/** Announce decisions to screen readers, when they change and not too often. */
function announce(text, about) {
  const key = JSON.stringify(about);
  const now = performance.now();
  if (key === announced.text || now - announced.at < ANNOUNCE_EVERY) return;
  announced = { text: key, at: now };
  write(byId("announcer"), text);
}

function showCards(parts) {
  for (const card of all(".hierarchy .node")) {
    const part = parts[Number(card.dataset.node)];
    if (!part) continue;
    const output = formatOutput(part);
    const letters = Number(card.dataset.letters);
    const words = part.state === "heard" && part.certainty !== null
      ? `${cutTo(output, letters - 5)} ${fixed(part.certainty, 2)}` : cutTo(output, letters);
    for (const state of Object.keys(SILENT)) card.classList.toggle(`is-${state}`, part.state === state);
    fillBar(card.querySelector(".belief"), part.state === "heard" ? part.belief : []);
    write(card.querySelector(".result"), words);
  }
}

function showParts(parts) {
  for (const part of parts) {
    const row = byId(`node-${part.place}`);
    if (!row) continue;
    const [says, belief, number] = [...row.cells].slice(3);
    write(says, formatOutput(part));
    says.className = `says ${part.state}`;
    write(belief, part.state !== "heard" || part.certainty === null ? "" : fixed(part.certainty, 2));
    write(number, part.row === null ? "" : String(part.row));
  }
}

function showNodes(nodes) {
  fillTable("nodes", nodes.map((node) => [
    [node.name],
    [node.state === "unknown" ? "no message yet" : node.state, node.state],
    [fixed(node.rate, 1), "number"],
    [fixed(node.reading_rate, 1), "number"],
    [formatSeen(node.heard)],
    [formatModel(node), node.is_planned && node.has_newest ? "" : "fine"],
  ]));
}

function formatReading({ is_known: isKnown, age, max_age: maxAge }) {
  if (isKnown) return "known";
  if (age === null) return "none came";
  return maxAge !== null && age > maxAge ? "too old" : "unknown";
}

function showSensors(nodes) {
  const sensors = nodes.flatMap((node) => node.sensors.map((one) => ({ ...one, node: node.name })));
  byId("sensors-section").hidden = sensors.length === 0;
  fillTable("sensors", sensors.map((one) => [
    [one.feature],
    [one.node],
    [formatReading(one), one.is_known ? "" : "missing"],
    [one.age === null ? "" : formatDuration(one.age), "number"],
    [one.max_age === null ? "until it is gone" : formatDuration(one.max_age), "number"],
    [Object.entries(one.counts).map(([what, times]) => `${times} ${what.replaceAll("_", " ")}`).join(", ")],
  ]));
}

function showDecisions({ last, missing, kept, incomplete }) {
  const whose = missing.map(({ part, times }) => `${part} (${times})`).join(", ");
  reveal(byId("lacking"), whose ? `${percent(incomplete)} of the last ${count(kept)} lacked values of ${whose}.` : "");
  const hasPolicy = last.some(({ stable }) => stable !== "");
  for (const heading of all("#last th.of-policy")) heading.hidden = !hasPolicy;
  fillTable("last", last.map((one) => [
    [String(one.row), "number"],
    [one.decision],
    [one.certainty === null ? "" : fixed(one.certainty, 2), "number"],
    [one.latency === null ? "" : formatDuration(one.latency), "number"],
    [percent(one.completeness), "number"],
    [one.age === null ? "" : formatDuration(one.age), "number"],
    [one.missing.join(", "), "missing"],
    ...(hasPolicy ? [[stableOf(one) ?? "don’t know"], [one.abstain_reasons.join(", ")]] : []),
  ]));
}

function showRefused(messages) {
  const kinds = Object.entries(REFUSED).filter(([kind]) => messages[kind]);
  const refused = kinds.map(([kind, words]) => `${messages[kind]} ${words}`).join(", ");
  write(byId("refused"), refused ? `Messages not taken: ${refused}.` : "");
}

function show() {
  showCondition();
  showAlerts(picture.alerts);
  showShadow(picture.shadow);
  showTiles(picture.decisions);
  showVerdict(picture);
  showCards(picture.parts);
  showParts(picture.parts);
  showNodes(picture.nodes);
  showSensors(picture.nodes);
  showDecisions(picture.decisions);
  showRefused(picture.messages);
}

// --- keeping up ----------------------------------------------------------------------------

function take(text) {
  picture = JSON.parse(text);
  clock = picture.now - performance.now() / 1000;
  const model = picture.model ? picture.model.hash : "";
  if (model !== main.dataset.model) {
    location.reload(); // another model is drawn otherwise
    return;
  }
  if (!isPaused) show();
}

function tellLink(text, style) {
  write(byId("link-state"), text);
  byId("link-state").className = `fine ${style}`;
}

function connect() {
  const events = new EventSource("events");
  const link = (isOpen) => {
    isLinked = isOpen;
    if (picture) showCondition();
    else tellLink(isOpen ? "Connecting …" : "The server of this page does not answer; trying again …", isOpen ? "" : "is-off");
  };
  events.addEventListener("open", () => link(true));
  events.addEventListener("error", () => link(false));
  events.addEventListener("message", ({ data }) => take(data));
}

function wirePause() {
  const button = byId("pause");
  button.hidden = false;
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.setAttribute("aria-pressed", String(isPaused));
    if (!isPaused && picture) show();
  });
}

wirePause();
connect();
setInterval(() => {
  if (!picture) return;
  showCondition(); // also while paused: old values stay old
  if (isPaused) return;
  showNodes(picture.nodes);
  showVerdict(picture); // which may have been too soon to be announced
}, 1000);
