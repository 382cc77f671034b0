/**
 * The console's words in the language of choice. A text is a string, or a function of what it names.
 * @module
 */
import { recall, remember } from '../app/prefs.js';
import { en } from './texts-en.js';
import { zh } from './texts-zh.js';

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

/** For the browser's own words of times and numbers. */
export function locale() {
  return current === 'zh' ? 'zh-CN' : 'en-GB';
}

/** Switches to the other language, and remembers it in this browser. */
export function switchLanguage() {
  current = current === 'zh' ? 'en' : 'zh';
  remember('language', current);
  announce();
}

/**
 * A text by its name; the end of the name itself when there is none, as of a field that a later server has.
 * @param {string} name as in texts-en.js
 * @param {...unknown} values what the text names
 */
export function t(name, ...values) {
  const text = LANGUAGES[current][name];
  if (text === undefined) {
    return name.slice(name.indexOf('_') + 1).replaceAll('_', ' ');
  }
  return typeof text === 'function' ? text(...values) : text;
}

/** Thrown with a sentence for the person. */
export class Told extends Error {}

/** What a field is called, as `claimed.count`. */
export function label(field) {
  return t(`f_${field.replaceAll('.', '_')}`);
}
