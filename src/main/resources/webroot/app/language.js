/**
 * The button that changes the page's language.
 * @module
 */
import { html } from './ui.js';
import { language, t, useLanguage } from './texts.js';

/** @param {{onLanguage: () => void}} props */
export function LanguageButton({ onLanguage }) {
  const toggle = () => {
    useLanguage(language() === 'zh' ? 'en' : 'zh');
    onLanguage();
  };
  return html`<button type="button" class="language" lang=${language() === 'zh' ? 'en' : 'zh-CN'}
    aria-label=${t('otherLanguageLabel')} onClick=${toggle}>${t('otherLanguage')}</button>`;
}
