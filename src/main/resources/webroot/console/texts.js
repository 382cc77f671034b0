/**
 * The console's words.
 * @module
 */
import { wording } from '../app/wording.js';
import { en } from './texts-en.js';
import { zh } from './texts-zh.js';

const words = wording({ en, zh });

/** For the browser's own words of times and numbers. */
export function locale() {
  return words.language() === 'zh' ? 'zh-CN' : 'en-GB';
}

/** Switches to the other language. */
export function switchLanguage() {
  words.use(words.language() === 'zh' ? 'en' : 'zh');
}

/**
 * A text by its name; the end of the name itself when there is none, as of a field that a later server has.
 * @param {string} name as in texts-en.js
 * @param {...unknown} values what the text names
 */
export function t(name, ...values) {
  return words.has(name) ? words.say(name, ...values) : name.slice(name.indexOf('_') + 1).replaceAll('_', ' ');
}

/** Thrown with a sentence for the person. */
export class Told extends Error {}

/** A field's name in the page's language, such as that of `claimed.count`. */
export function label(field) {
  return t(`f_${field.replaceAll('.', '_')}`);
}
