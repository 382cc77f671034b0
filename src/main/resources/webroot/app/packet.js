/**
 * One packet in the timeline: a red envelope that says what can be done with it.
 * @module
 */
import { crown, envelope, html, openEnvelope, useNow } from './ui.js';
import { Face, nameOf } from './faces.js';
import { clock, duration, money } from './format.js';
import { t } from './texts.js';

const KINDS = { lucky: 'kindLucky', equal: 'kindEqual', exclusive: 'kindExclusive' };

/** The sender's greeting, the purpose of a campaign's pool, or a wish of the house. */
export function greetingOf(packet) {
  const pool = packet.campaign;
  return packet.greeting || (pool ? t('poolOf', pool.name, pool.product) : t('defaultGreeting'));
}

/** The user who brought it into the group: its sender; of a campaign's pool, the user who opened it. */
export function giverOf(packet) {
  return packet.campaign?.openedBy ?? packet.sender;
}

/**
 * What a packet is to this viewer now.
 * @returns {'waiting'|'open'|'mine'|'drained'|'expired'|'refunded'|'cancelled'|'closed'}
 */
export function stateOf(packet, now) {
  if (packet.status !== 'open') {
    return packet.status;
  }
  if (Date.parse(packet.expiresAt) <= now) {
    return 'expired';
  }
  if (packet.mine) {
    return 'mine';
  }
  return Date.parse(packet.opensAt) > now ? 'waiting' : 'open';
}

/** Whether it ended with shares left. */
const wentBack = (state) => state === 'refunded' || state === 'cancelled' || state === 'closed';

/** For whom an exclusive packet is, as far as the viewer may know; empty for others. */
export function forWhom({ recipients = [] }) {
  const names = recipients.slice(0, 3).map(nameOf).join(t('listComma'));
  return names && t('forWhom', recipients.length > 3 ? t('andMore', names, recipients.length) : names);
}

/** @param {{packet: object, me: string, onOpen: (packet: object, grab: boolean) => void}} props */
export function PacketRow({ packet, me, onOpen }) {
  const now = useNow(packet.status === 'open');
  const state = stateOf(packet, now);
  const own = giverOf(packet) === me;
  return html`<li class="row ${own ? 'own' : ''}" data-packet=${packet.id} data-state=${state}>
    <${Face} user=${giverOf(packet)} />
    <div class="said">
      <p class="by"><b>${nameOf(giverOf(packet))}</b> <time datetime=${packet.createdAt}>${clock(packet.createdAt)}</time></p>
      <${Bubble} packet=${packet} state=${state} now=${now} onOpen=${onOpen} />
    </div>
  </li>
  ${notes(packet, state)}`;
}

function Bubble({ packet, state, now, onOpen }) {
  const name = nameOf(giverOf(packet));
  const greeting = greetingOf(packet);
  const grabs = state === 'open';
  const closed = grabs || state === 'waiting';
  return html`<article class="packet ${wentBack(state) ? 'refunded' : state} ${packet.mine ? 'has-mine' : ''}" aria-label=${t('packetLabel', name, greeting)}>
    <button type="button" class="face-of-packet" aria-label=${t('lookLabel', name, greeting)}
      onClick=${() => onOpen(packet, false)}>
      ${closed ? envelope : openEnvelope}
      <span class="words"><span class="greeting">${greeting}</span><span class="state-line">${stateLine(packet, state, now)}</span></span>
    </button>
    ${grabs && html`<button type="button" class="coin" aria-label=${t('grabLabel', name, greeting)}
      onClick=${() => onOpen(packet, true)}><span aria-hidden="true">${t('grabGlyph')}</span></button>`}
    <${Progress} packet=${packet} state=${state} />
  </article>`;
}

function stateLine(packet, state, now) {
  switch (state) {
    case 'waiting':
      return t('opensIn', duration((Date.parse(packet.opensAt) - now) / 1000));
    case 'open': {
      const left = (Date.parse(packet.expiresAt) - now) / 1000;
      return left < 3600 ? t('endsIn', duration(left)) : t('shares', packet.count);
    }
    default:
      return packet.mine ? t('youGot', money(packet.mine.amount, packet.asset)) : t(state);
  }
}

function Progress({ packet, state }) {
  const taken = packet.claimed.count;
  return html`<div class="packet-foot">
    <span>${t(KINDS[packet.kind])}${packet.recipients?.length ? ` · ${forWhom(packet)}` : ''}${packet.passcodeRequired ? ` · ${t('needsPasscode')}` : ''}</span>
    <meter class="taken" min="0" max=${packet.count} value=${taken} aria-label=${t('claimedOf', taken, packet.count)}></meter>
    <span aria-hidden="true">${taken}/${packet.count}${packet.mine && state !== 'mine' ? ` · ${t(state === 'refunded' ? 'expired' : state)}` : ''}</span>
  </div>`;
}

function notes(packet, state) {
  if (state === 'drained' && packet.luckiest) {
    return html`<li class="note" key="luckiest">${packet.count > 1 && packet.kind !== 'equal' && html`<span>${crown}
      ${t('noteLuckiest', nameOf(packet.luckiest.user), money(packet.luckiest.amount, packet.asset))}</span>`}</li>`;
  }
  if (wentBack(state)) {
    const left = packet.refund ?? packet.amount - (packet.claimed.amount ?? 0);
    return html`<li class="note" key="refund"><span>${t('noteRefund', packet.campaign?.name ?? nameOf(packet.sender), money(left, packet.asset))}</span></li>`;
  }
  return null;
}
