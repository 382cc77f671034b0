/**
 * A button on a packet or a rain that is over: this browser recomputes it from the seed, and says yes or no.
 * @module
 */
import { html, useState } from './ui.js';
import { t } from './texts.js';

/** @param {{of: 'fair'|'rainFair', verify: () => Promise<{fair: boolean, faults: string[]}>}} props `of` is what its texts begin with */
export function Fairness({ of, verify: compute }) {
  const [step, setStep] = useState({ name: 'idle' });
  const verify = async () => {
    setStep({ name: 'busy' });
    try {
      const { fair, faults } = await compute();
      setStep({ name: fair ? 'yes' : 'no', detail: faults[0] });
    } catch (unclear) {
      setStep({ name: 'unclear', detail: unclear.message });
    }
  };
  const { name, detail } = step;
  return html`<section class="fairness" data-fair=${name} aria-label=${t('fairTitle')}>
    ${(name === 'idle' || name === 'busy') && html`<button type="button" class="quiet-button" disabled=${name === 'busy'} onClick=${verify}>
      ${t(name === 'busy' ? 'fairBusy' : `${of}Check`)}</button>`}
    <div role="status">
      ${name === 'yes' && html`<p><b><span aria-hidden="true">✓ </span>${t(`${of}Yes`)}</b></p><p class="soft small">${t(`${of}YesHint`)}</p>`}
      ${name === 'no' && html`<p><b><span aria-hidden="true">✗ </span>${t('fairNo')}</b></p><p class="soft small" lang="en">${detail}</p>`}
      ${name === 'unclear' && html`<p><b>${t('fairUnclear')}</b></p><p class="soft small" lang="en">${detail}</p>`}
    </div>
    <p class="small"><a href="docs/guide/fairness.html" target="_blank" rel="noopener">${t('fairMore')}</a></p>
  </section>`;
}
