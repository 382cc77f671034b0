/**
 * The page's words.
 * @module
 */
import { en } from './texts-en.js';
import { zh } from './texts-zh.js';
import { wording } from './wording.js';

const words = wording({ en, zh });

/** The language in use, and a switch to another one. */
export const { language, use: useLanguage } = words;

/**
 * A text by its name.
 * @param {string} name as in texts-en.js
 * @param {...unknown} values what the text names
 */
export function t(name, ...values) {
  return words.has(name) ? words.say(name, ...values) : name;
}

/**
 * What a refusal is called.
 * @param {string} kind of the problem, such as `not-eligible`
 * @param {string} fallback said of a kind that has no text
 */
export function problemText(kind, fallback) {
  const name = `problem${kind.replace(/(^|-)(.)/g, (all, dash, letter) => letter.toUpperCase())}`;
  return words.has(name) ? words.say(name) : fallback;
}
