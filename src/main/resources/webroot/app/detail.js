/**
 * Who has a share of a packet, with the luckiest crowned.
 * @module
 */
import { crown, html } from './ui.js';
import { Face, nameOf } from './faces.js';
import { clock, duration, money } from './format.js';
import { t } from './texts.js';

/** From the moment at which it could be claimed to the last claim; at least 1. */
function secondsTaken(packet, claims) {
  const start = Math.max(Date.parse(packet.createdAt), Date.parse(packet.opensAt));
  return Math.max(1, (Math.max(...claims.map(({ at }) => Date.parse(at))) - start) / 1000);
}

/** @param {{packet: object, page: {items: object[], luckiest: object|null}|null, me: string}} props */
export function Claims({ packet, page, me }) {
  const over = packet.status !== 'open';
  const total = packet.claimed.amount;
  const items = [...(page?.items ?? [])].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.slot - a.slot);
  const hidden = items.some((claim) => claim.amount === undefined && claim.user !== me);
  const title = packet.status === 'drained' && items.length === packet.count
    ? t('drainedIn', packet.count, duration(secondsTaken(packet, items)))
    : t('claimsTitle', packet.claimed.count, packet.count);
  return html`<section class="claims" aria-label=${title}>
    <p class="claims-head"><span>${title}</span>
      ${total !== undefined && html`<span>${t('claimsTotal', money(total, packet.asset), money(packet.amount, packet.asset))}</span>`}</p>
    ${hidden && html`<p class="soft small">${t('claimsHidden')}</p>`}
    ${page && items.length === 0 && html`<p class="soft small">${t('noClaims')}</p>`}
    <ol>${items.map((claim) => {
      const lucky = over && packet.count > 1 && packet.kind !== 'equal' && claim.slot === (page.luckiest ?? packet.luckiest)?.slot;
      return html`<li key=${claim.slot} class="claim ${lucky ? 'lucky' : ''} ${claim.user === me ? 'own' : ''}" data-user=${claim.user}>
        <${Face} user=${claim.user} size="small" />
        <span class="claim-who"><b>${nameOf(claim.user)}</b><time datetime=${claim.at}>${clock(claim.at)}</time></span>
        <span class="claim-what"><b>${claim.amount === undefined ? '· · ·' : money(claim.amount, packet.asset)}</b>
          ${lucky && html`<span class="luckiest">${crown}${t('luckiest')}</span>`}</span>
      </li>`;
    })}</ol>
  </section>`;
}
