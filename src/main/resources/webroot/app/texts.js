/**
 * The page's words in the language of choice. A text is a string, or a function of what it names.
 * @module
 */
import { en } from './texts-en.js';
import { zh } from './texts-zh.js';
import { recall, remember } from './prefs.js';

const LANGUAGES = { en, zh };

let current = choose(recall('language') ?? navigator.language);
announce();

function choose(wanted) {
  return String(wanted).toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

function announce() {
  document.documentElement.lang = current === 'zh' ? 'zh-CN' : 'en';
  document.title = LANGUAGES[current].title;
}

/** The language in use: `en` or `zh`. */
export function language() {
  return current;
}

/** Switches, and remembers it in this browser. */
export function useLanguage(next) {
  current = choose(next);
  remember('language', current);
  announce();
}

/**
 * A text by its name.
 * @param {string} name as in texts-en.js
 * @param {...unknown} values what the text names
 */
export function t(name, ...values) {
  if (!hasText(name)) {
    return name;
  }
  const text = LANGUAGES[current][name];
  return typeof text === 'function' ? text(...values) : text;
}

/**
 * What a refusal is called.
 * @param {string} kind of the problem, such as `not-eligible`
 * @param {string} fallback said of a kind that has no text
 */
export function problemText(kind, fallback) {
  const name = `problem${kind.replace(/(^|-)(.)/g, (all, dash, letter) => letter.toUpperCase())}`;
  return hasText(name) ? t(name) : fallback;
}

function hasText(name) {
  return Object.hasOwn(LANGUAGES[current], name);
}
