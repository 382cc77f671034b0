/**
 * What the viewer received and sent, by year: the sums, how often the luckiest, and each of them.
 * @module
 */
import { crown, html, useEffect, usePages, useState } from './ui.js';
import { received, sent, summary } from './api.js';
import { Dialog } from './dialog.js';
import { Face, learn, nameOf } from './faces.js';
import { ASSET, clock, money } from './format.js';
import { greetingOf, stateOf } from './packet.js';
import { now } from './time.js';
import { t } from './texts.js';

const YEARS = 5;
const NOTHING = { count: 0, amountText: '0', luckiest: 0, refunded: 0 };

/** A year of the reader's own calendar: from its first moment to the next one's. */
function span(year) {
  return { from: new Date(year, 0, 1).toISOString(), to: new Date(year + 1, 0, 1).toISOString() };
}

/** @param {{room: object, onClose: () => void}} props */
export function History({ room, onClose }) {
  const latest = new Date(now()).getFullYear();
  const [side, setSide] = useState('received');
  const [year, setYear] = useState(latest);
  return html`<${Dialog} name="yearly" title=${t('history')} onClose=${onClose}>
    <div class="past">
      <fieldset class="kinds sides"><legend class="unseen">${t('history')}</legend><div>${['received', 'sent'].map((each) => html`
        <label key=${each}><input type="radio" name="side" value=${each} checked=${side === each} onChange=${() => setSide(each)} />
          <span>${t(each === 'sent' ? 'historySent' : 'historyReceived')}</span></label>`)}</div></fieldset>
      <label class="year"><span class="unseen">${t('historyYear')}</span>
        <select name="year" value=${year} onChange=${(event) => setYear(Number(event.target.value))}>
          ${Array.from({ length: YEARS }, (none, n) => latest - n).map((each) => html`<option key=${each} value=${each}>${t('year', each)}</option>`)}
        </select></label>
      <${Totals} room=${room} side=${side} year=${year} />
      <${Items} key=${`${side} ${year}`} room=${room} side=${side} year=${year} />
    </div>
  <//>`;
}

function Totals({ room, side, year }) {
  const [seen, setSeen] = useState(null);
  const [failed, setFailed] = useState(0);
  useEffect(() => {
    let current = true;
    let timer = 0;
    summary(room.token(), span(year)).then((found) => current && setSeen({ year, ...found }), () => {
      // Another one is under way, or the line is down.
      timer = current && setTimeout(() => setFailed((n) => n + 1), 2000);
    });
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [year, room.movements, failed]);
  const known = seen?.year === year;
  const all = known ? seen[side] : [];
  const sums = all.length > 0 ? all : [{ asset: ASSET, ...NOTHING }];
  const count = all.reduce((n, each) => n + each.count, 0);
  const luckiest = all.reduce((n, each) => n + (each.luckiest ?? 0), 0);
  const back = all.filter((each) => each.refunded > 0);
  return html`<section class="totals" aria-live="polite" data-year=${known ? year : null} data-side=${side} data-count=${count}>
    <${Face} user=${room.me} size="large" />
    <p class="totals-who">${t(side === 'sent' ? 'historyAllSent' : 'historyAllReceived', nameOf(room.me))}</p>
    ${sums.map((each) => html`<p key=${each.asset} class="totals-sum" data-amount=${each.amountText}>${known ? money(each.amountText, each.asset) : '…'}</p>`)}
    <dl>
      <div><dt>${t(side === 'sent' ? 'historyPackets' : 'historyShares')}</dt><dd>${known ? count.toLocaleString('en') : '…'}</dd></div>
      ${side === 'received'
        ? html`<div data-luckiest=${luckiest}><dt>${crown} ${t('luckiest')}</dt><dd>${known ? t('times', luckiest) : '…'}</dd></div>`
        : html`<div><dt>${t('recordRefund')}</dt><dd>${known ? back.map((each) => money(each.refundedText, each.asset)).join(' · ') || money(0) : '…'}</dd></div>`}
    </dl>
  </section>`;
}

function Items({ room, side, year }) {
  const read = (cursor) => (side === 'sent' ? sent : received)(room.token(), span(year), cursor).then((page) => {
    [page, ...page.items].forEach((each) => learn(each.profiles));
    return page;
  });
  const { items, more } = usePages(read, room.movements);
  return html`<section class="records" aria-label=${t('records')}>
    ${items?.length === 0 && html`<p class="soft past-none">${t('noRecords')}</p>`}
    <ul>${items?.map((item) => (side === 'sent' ? html`<${Sent} key=${item.id} packet=${item} />` : html`<${Received} key=${item.packet} claim=${item} />`))}</ul>
    ${more && html`<button type="button" class="quiet-button" onClick=${more}>${t('more')}</button>`}
  </section>`;
}

function Received({ claim }) {
  const giver = claim.campaign?.openedBy ?? claim.sender;
  return html`<li data-received=${claim.packet}>
    <${Face} user=${giver} size="small" />
    <span class="record-what"><b>${claim.campaign ? t('poolOf', nameOf(giver), claim.campaign.name) : nameOf(giver)}</b><time datetime=${claim.at}>${clock(claim.at)}</time></span>
    <span class="record-sum">${money(claim.amount, claim.asset)}${claim.luckiest && html`<small class="luckiest">${crown}${t('luckiest')}</small>`}</span>
  </li>`;
}

function Sent({ packet }) {
  const state = stateOf(packet, now());
  const taken = t('claimedOf', packet.claimed.count, packet.count);
  return html`<li data-sent=${packet.id}>
    <span class="record-mark is-send" aria-hidden="true"></span>
    <span class="record-what"><b>${greetingOf(packet)}</b><time datetime=${packet.createdAt}>${clock(packet.createdAt)}</time></span>
    <span class="record-sum">${money(packet.amount, packet.asset)}<small class="soft">${state === 'open' || state === 'mine' || state === 'waiting' ? taken : `${taken} · ${t(state)}`}</small></span>
  </li>`;
}
