/**
 * A button on a packet that is over: this browser recomputes every share from the seed, and says yes or no.
 * @module
 */
import { html, useState } from './ui.js';
import { t } from './texts.js';

/** @param {{packet: object, room: object}} props */
export function Fairness({ packet, room }) {
  const [step, setStep] = useState({ name: 'idle' });
  const verify = async () => {
    setStep({ name: 'busy' });
    try {
      const { fair, faults } = await room.verify(packet.id);
      setStep({ name: fair ? 'yes' : 'no', detail: faults[0] });
    } catch (unclear) {
      setStep({ name: 'unclear', detail: unclear.message });
    }
  };
  const { name, detail } = step;
  return html`<section class="fairness" data-fair=${name} aria-label=${t('fairTitle')}>
    ${(name === 'idle' || name === 'busy') && html`<button type="button" class="quiet-button" disabled=${name === 'busy'} onClick=${verify}>
      ${t(name === 'busy' ? 'fairBusy' : 'fairCheck')}</button>`}
    <div role="status">
      ${name === 'yes' && html`<p><b><span aria-hidden="true">✓ </span>${t('fairYes')}</b></p><p class="soft small">${t('fairYesHint')}</p>`}
      ${name === 'no' && html`<p><b><span aria-hidden="true">✗ </span>${t('fairNo')}</b></p><p class="soft small" lang="en">${detail}</p>`}
      ${name === 'unclear' && html`<p><b>${t('fairUnclear')}</b></p><p class="soft small" lang="en">${detail}</p>`}
    </div>
    <p class="small"><a href="/docs/guide/fairness.html" target="_blank" rel="noopener">${t('fairMore')}</a></p>
  </section>`;
}
