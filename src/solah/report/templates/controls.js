// The readings that the reader sets: by controls, from a row of the data, or from a link.

// --- the state, and its link ---------------------------------------------------------------

const state = { readings: [], row: null };
const lastKnown = model.features.map((_, j) => payload.start[j]);

function load(readings, row = null) {
  state.readings = [...readings];
  state.row = row;
  readings.forEach((reading, j) => { if (reading !== null) lastKnown[j] = reading; });
  refresh();
}

function change(j, reading) {
  load(state.readings.with(j, reading));
}

/** Begin with the row whose decision is the closest call: there is most to see. */
function begin() {
  const certainties = rows.map(({ readings }) => {
    const { belief, decision } = evaluate(model, readings);
    return belief[decision ?? 0];
  });
  const closest = isNumber ? 0 : certainties.indexOf(Math.min(...certainties));
  if (rows.length) load(rows[closest].readings, closest);
  else load(payload.start);
}

const linkOf = (readings) => `#at=${readings.map((x) => (x === null ? "_" : String(x))).join(",")}`;

function isReading(j, text) {
  if (text === "_") return true;
  const reading = Number(text);
  if (text.trim() === "" || !Number.isFinite(reading)) return false;
  return !model.features[j].coded || model.features[j].peaks.includes(reading);
}

/** Read a link's state; null if it is not of this model. */
function readLink(hash) {
  if (!hash.startsWith("#at=")) return null;
  const parts = hash.slice(4).split(",");
  if (parts.length !== model.features.length) return null;
  if (!parts.every((text, j) => isReading(j, text))) return null;
  return parts.map((text) => (text === "_" ? null : Number(text)));
}

function rowOf(readings) {
  const found = rows.findIndex((row) => row.readings.every((x, j) => x === readings[j]));
  return found < 0 ? null : found;
}

// --- controls ------------------------------------------------------------------------------

/** A slider is rounded to a thousandth of its range, so that readings stay short. */
function roundSlider(j, value) {
  const [low, high] = shown[j];
  const digits = Math.min(100, Math.max(0, 3 - Math.ceil(Math.log10(high - low))));
  return Number(value.toFixed(digits));
}

function wireContinuous(j, control) {
  const [slider, field, box] = all("input[type=range], input[type=number], input[type=checkbox]", control);
  slider.addEventListener("input", () => change(j, roundSlider(j, slider.valueAsNumber)));
  field.addEventListener("input", () => {
    change(j, Number.isFinite(field.valueAsNumber) ? field.valueAsNumber : null);
  });
  box.addEventListener("change", () => change(j, box.checked ? null : lastKnown[j]));
  return () => {
    const reading = state.readings[j];
    const isUnknown = reading === null;
    control.classList.toggle("is-unknown", isUnknown);
    box.checked = isUnknown;
    slider.value = isUnknown ? lastKnown[j] : reading;
    if (document.activeElement !== field) field.value = isUnknown ? "" : typed(reading);
    control.querySelector(".now").textContent = isUnknown
      ? "" : spellWords(model.features[j], reading);
  };
}

function wireChoice(j, control) {
  const choice = control.querySelector("select");
  choice.addEventListener("change", () => change(j, choice.value === "" ? null : Number(choice.value)));
  return () => {
    const reading = state.readings[j];
    control.classList.toggle("is-unknown", reading === null);
    const options = [...choice.options];
    const option = options.find((one) => one.value !== "" && Number(one.value) === reading);
    if (reading === null || option) {
      choice.selectedIndex = reading === null ? 0 : options.indexOf(option);
    } else {
      choice.append(new Option(brief(reading), String(reading), true, true));
    }
  };
}

/** A number's focal sets share one colour, from faint to full, as in the bars. */
if (isNumber) {
  all("#beliefs .chip").forEach((chip, c, chips) => {
    chip.style.opacity = 0.15 + (0.85 * c) / Math.max(chips.length - 1, 1);
  });
}

const controls = all(".control").map((control) => {
  const j = Number(control.dataset.feature);
  return (model.features[j].continuous ? wireContinuous : wireChoice)(j, control);
});

function wireFilter() {
  const [filter, more] = [byId("filter"), byId("more")];
  if (!filter) return;
  const items = all(".control");
  const first = items.filter((item) => !item.hidden).length;
  const show = () => {
    const sought = filter.value.trim().toLowerCase();
    const isWhole = more.getAttribute("aria-expanded") === "true";
    items.forEach((item, i) => {
      const name = model.features[item.dataset.feature].name.toLowerCase();
      item.hidden = sought ? !name.includes(sought) : i >= first && !isWhole;
    });
    byId("no-match").hidden = items.some((item) => !item.hidden);
    more.hidden = Boolean(sought);
    more.textContent = isWhole ? `Show the first ${first} only` : `Show all ${items.length} features`;
  };
  filter.addEventListener("input", show);
  more.addEventListener("click", () => {
    more.setAttribute("aria-expanded", String(more.getAttribute("aria-expanded") !== "true"));
    show();
  });
}
