/**
 * What the views share: the templates and hooks of Preact, and small drawings.
 * @module
 */
import { now as timeNow } from './time.js';
import { html, render, useEffect, useLayoutEffect, useRef, useState } from '../vendor/preact-htm.js';

export { html, render, useEffect, useLayoutEffect, useRef, useState };

/** A view that is drawn again each second, for countdowns. @returns the time in milliseconds */
export function useNow(active = true) {
  const [now, setNow] = useState(timeNow());
  useEffect(() => {
    if (!active) {
      return undefined;
    }
    const timer = setInterval(() => setNow(timeNow()), 1000);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}

/**
 * A list that is read page by page, anew whenever `key` changes.
 * @param {(cursor?: string) => Promise<{items: object[], next: ?string}>} read
 * @returns {{items: ?object[], more: ?(() => Promise<void>)}} items are null before the first page; more is null at the end
 */
export function usePages(read, key) {
  const [{ items, next }, setPages] = useState({ items: null, next: null });
  useEffect(() => {
    let current = true;
    read().then((page) => {
      if (current) {
        setPages(page);
      }
    }, () => {});
    return () => {
      current = false;
    };
  }, [key]);
  // Nothing is added twice, nor to what was read anew.
  const more = () => read(next).then((page) => setPages((known) => (known.next === next
    ? { items: [...known.items, ...page.items], next: page.next } : known)), () => {});
  return { items, more: next && more };
}

/** Whether the visitor asked for no movement. */
export function isStill() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** A crown for the luckiest. */
export const crown = html`<svg class="crown" viewBox="0 0 24 20" aria-hidden="true">
  <path d="M2 5l5 5 5-8 5 8 5-5-2.2 12H4.2z" /><path d="M4.2 18.4h15.6" />
</svg>`;

/** A purse for the wallet. */
export const purse = html`<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
  <path d="M4 8.5C4 6.6 5.6 5 7.5 5H17v3.5M4 8.5V17a2.5 2.5 0 0 0 2.5 2.5h11A2.5 2.5 0 0 0 20 17v-6a2.5 2.5 0 0 0-2.5-2.5H4z" />
  <circle cx="16" cy="14" r="1.4" />
</svg>`;

/** A small wheel. */
export const wheel = html`<svg class="mini-wheel" viewBox="-16 -16 32 32" aria-hidden="true">
  <circle class="disc" r="13.5" />
  <path class="parts" d="M0 0V-12.5A12.5 12.5 0 0 1 10.8-6.25zM0 0l10.8 6.25A12.5 12.5 0 0 1 0 12.5zM0 0l-10.8 6.25A12.5 12.5 0 0 1-10.8-6.25z" />
  <circle class="dot" r="3.5" />
</svg>`;

/** A cross to close with. */
export const cross = html`<svg class="glyph" viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6l12 12M18 6L6 18" /></svg>`;

/** A small envelope. */
export const envelope = html`<svg class="mini-envelope" viewBox="0 0 40 48" aria-hidden="true">
  <rect class="body" x="1" y="1" width="38" height="46" rx="5" />
  <path class="flap" d="M1 6a5 5 0 0 1 5-5h28a5 5 0 0 1 5 5v10c-5 6-11 9-19 9S6 22 1 16z" />
  <circle class="seal" cx="20" cy="25" r="7" />
</svg>`;

/** The same, opened, with the letter out. */
export const openEnvelope = html`<svg class="mini-envelope open" viewBox="0 0 40 48" aria-hidden="true">
  <path class="flap" d="M1 18L18 3.5a3 3 0 0 1 4 0L39 18z" />
  <rect class="letter" x="7" y="9" width="26" height="24" rx="2" />
  <path class="body" d="M1 18c5 7 11 10 19 10s14-3 19-10v24a5 5 0 0 1-5 5H6a5 5 0 0 1-5-5z" />
</svg>`;
