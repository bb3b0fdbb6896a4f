// Numbers as the reader's language writes them: 18,420 or 18.420.
//
// The page is in English, and so are the numbers that are written into it. They are marked with the
// class "number", and translated once; those that are written later go the same way. What is
// stored or typed (fields, links, the document) stays as it is.

const NUMBER = /(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(\u00a0%)?/g;
const [LEAST_PLAIN, LARGE, MOST_PLAIN] = [1e-4, 1e4, 1e12];
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const languages = readableLanguages();
const formats = new Map();

/** The languages of the browser, unless one of them is invalid. */
function readableLanguages() {
  try {
    return Intl.getCanonicalLocales([...navigator.languages, "en"]);
  } catch {
    return ["en"];
  }
}

/** How a number with some decimals is written; digits are those of the English text around it. */
function formatOf(decimals, useGrouping, style) {
  const key = `${decimals} ${useGrouping} ${style}`;
  if (!formats.has(key)) {
    formats.set(key, new Intl.NumberFormat(languages, {
      style, useGrouping, numberingSystem: "latn", minimumFractionDigits: decimals, maximumFractionDigits: decimals,
    }));
  }
  return formats.get(key);
}

const isEnglish = formatOf(1, true, "decimal").format(1234567.8) === "1,234,567.8";

/** Translate the numbers of a text that is written in English. */
function inLanguage(text) {
  if (isEnglish) return text;
  return text.replace(NUMBER, (_, whole, fraction = "", sign = "") => {
    const number = `${whole.replaceAll(",", "")}${fraction}`;
    const decimals = Math.max(fraction.length - 1, 0);
    if (sign) return formatOf(decimals, false, "percent").format(Number(number) / 100);
    return formatOf(decimals, Number(number) >= LARGE, "decimal").format(number);
  });
}

/** Translate the numbers that were written into the page. */
function translateNumbers() {
  if (isEnglish) return;
  for (const part of document.querySelectorAll(".number")) part.textContent = inLanguage(part.textContent);
}

/** Write digits as people do: with commas between thousands from 10,000 on, and a minus. */
function punctuated(digits) {
  const sign = Number(digits) < 0 ? "−" : "";
  const [whole, fraction] = digits.replace("-", "").split(".");
  const grouped = Math.abs(Number(digits)) >= LARGE ? whole.replace(/\B(?=(?:\d{3})+$)/g, ",") : whole;
  return `${sign}${grouped}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** Write a number with significant digits, in English, as Python's spell_number does. */
function spellNumber(value, digits) {
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  if (rounded === 0 || (size >= LEAST_PLAIN && size < MOST_PLAIN)) return punctuated(String(rounded));
  const [first, power] = value.toExponential(digits - 1).split("e");
  const raised = power.replace("+", "").replace("-", "⁻").replace(/\d/g, (digit) => RAISED[digit]);
  return `${punctuated(String(Number(first)))}\u00a0×\u00a010${raised}`;
}

const fixedInEnglish = (value, decimals) => punctuated(value.toFixed(decimals));

const fixed = (value, decimals) => inLanguage(fixedInEnglish(value, decimals));
const percent = (share, decimals = 1) => inLanguage(`${fixedInEnglish(100 * share, decimals)}\u00a0%`);
const brief = (value, digits = 5) => inLanguage(spellNumber(value, digits));
const exact = (value) => brief(value, 17);
const count = (number) => inLanguage(punctuated(String(number)));
