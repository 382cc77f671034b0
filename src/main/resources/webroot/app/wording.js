/**
 * A page's words in the language of choice, which this browser remembers. A text is a string, or a function of what it names.
 * @module
 */
import { recall, remember } from './prefs.js';

/**
 * The words of one page; `title` is the page's own.
 * @param {{en: Record<string, unknown>, zh: Record<string, unknown>}} languages texts by their names
 */
export function wording(languages) {
  let current;
  const choose = (wanted) => {
    current = String(wanted).toLowerCase().startsWith('zh') ? 'zh' : 'en';
    document.documentElement.lang = current === 'zh' ? 'zh-CN' : 'en';
    document.title = languages[current].title;
  };
  choose(recall('language') ?? navigator.language);
  return {
    /** The language in use: `en` or `zh`. */
    language: () => current,

    /** Switches, and remembers it in this browser. */
    use: (next) => {
      choose(next);
      remember('language', current);
    },

    /** Whether there is a text of this name. */
    has: (name) => Object.hasOwn(languages[current], name),

    /** A text by its name, which is there. @param {...unknown} values what the text names */
    say: (name, ...values) => {
      const text = languages[current][name];
      return typeof text === 'function' ? text(...values) : text;
    },
  };
}
