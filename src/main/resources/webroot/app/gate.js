/**
 * The way in: whom a visitor of a default start wants to be.
 * @module
 */
import { html, useEffect, useRef, useState } from './ui.js';
import { demo, demoLogin, ProblemError } from './api.js';
import { Face, nameOf } from './faces.js';
import { t } from './texts.js';
import { LanguageButton } from './language.js';

/** A server that did not answer is asked again after so long, also when nobody presses the button. */
const ASK_AGAIN_MILLIS = 3_000;

/** @param {{onEnter: (session: object) => void, onLanguage: () => void}} props */
export function Gate({ onEnter, onLanguage }) {
  const [offer, setOffer] = useState(null);
  const [trouble, setTrouble] = useState('');
  const [entering, setEntering] = useState('');

  const ask = () => {
    setTrouble('');
    demo().then(setOffer, () => setTrouble(t('problemOffline')));
  };
  useEffect(ask, []);
  useEffect(() => {
    if (!trouble || offer) return undefined;
    const later = setTimeout(ask, ASK_AGAIN_MILLIS);
    return () => clearTimeout(later);
  }, [trouble, offer]);

  const heading = useRef(null);
  useEffect(() => {
    if (document.activeElement === document.body) {
      heading.current.focus();
    }
  }, []);

  const enter = async (member) => {
    setEntering(member);
    setTrouble('');
    try {
      onEnter({ ...(await demoLogin(member)), members: offer.members });
    } catch (refused) {
      setTrouble(refused instanceof ProblemError ? refused.message : t('problemOffline'));
      setEntering('');
    }
  };

  return html`<div class="gate">
    <header class="gate-bar"><${LanguageButton} onLanguage=${onLanguage} /></header>
    <main class="gate-card">
      <div class="emblem" aria-hidden="true"><span class="emblem-flap"></span><span class="emblem-seal">福</span></div>
      <h1 ref=${heading} tabindex="-1">${t('brand')}</h1>
      <p class="tagline">${t('tagline')}</p>
      ${offer === null && !trouble && html`<p class="soft">${t('loading')}</p>`}
      ${offer?.open && html`<${Members} members=${offer.members} entering=${entering} onEnter=${enter} />`}
      ${offer && !offer.open && html`<section class="gate-off">
        <h2>${t('demoOff')}</h2><p>${offer.reason}</p><p class="soft">${t('demoOffHint')}</p></section>`}
      ${trouble && html`<p class="alert" role="alert">${trouble}
        ${' '}<button type="button" class="quiet-button" onClick=${ask}>${t('tryAgain')}</button></p>`}
    </main>
    <footer class="gate-links">
      <a href="docs">${t('api')}</a><a href="asyncapi.yaml">${t('socket')}</a>
      <a href="hongbao-client.js">${t('clientSource')}</a>
    </footer>
  </div>`;
}

function Members({ members, entering, onEnter }) {
  return html`<section aria-labelledby="who">
    <h2 id="who">${t('whoAreYou')}</h2>
    <ul class="choices">${members.map((member) => html`<li key=${member}>
      <button type="button" data-member=${member} disabled=${entering !== ''} aria-label=${t('become', nameOf(member))}
        onClick=${() => onEnter(member)}>
        <${Face} user=${member} size="large" /><span>${nameOf(member)}</span>
      </button></li>`)}</ul>
    <p class="soft">${t('secondTab')}</p>
  </section>`;
}
