/**
 * A modal dialog: the browser's own, so that focus stays in it, Escape closes it, and focus returns where it came from.
 * @module
 */
import { cross, html, useLayoutEffect, useRef } from './ui.js';
import { t } from './texts.js';

/**
 * @param {{name: string, title: string, onClose: () => void, children: unknown}} props
 *   `name` is a class for its look; `title` names it for a screen reader
 */
export function Dialog({ name, title, onClose, children }) {
  const ref = useRef(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    const row = opener?.closest('[data-packet]');
    dialog.showModal();
    return () => {
      dialog.close();
      // What opened it may be gone: a share can be grabbed once.
      const back = opener?.isConnected ? opener : row?.querySelector('button');
      back?.focus();
    };
  }, []);
  const outside = (event) => {
    if (event.target === ref.current) {
      onClose();
    }
  };
  const cancelled = (event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog class="dialog ${name}" ref=${ref} aria-label=${title} onCancel=${cancelled} onMouseDown=${outside}>
    <div class="sheet">
      <button class="close" type="button" onClick=${onClose} aria-label=${t('close')}>${cross}</button>
      ${children}
    </div>
  </dialog>`;
}
