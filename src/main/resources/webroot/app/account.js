/**
 * The viewer's wallet: what it holds, and what went in and out.
 * @module
 */
import { html, usePages } from './ui.js';
import { records } from './api.js';
import { Dialog } from './dialog.js';
import { Face, nameOf } from './faces.js';
import { clock, money, signOf } from './format.js';
import { t } from './texts.js';

const KINDS = { deposit: 'recordDeposit', withdrawal: 'recordWithdrawal', send: 'recordSend', claim: 'recordClaim', refund: 'recordRefund',
  cost: 'recordCost', award: 'recordAward', return: 'recordReturn' };

/** @param {{room: object, dialog?: boolean, onHistory: () => void, onClose?: () => void}} props at the side, or as a dialog on small screens */
export function Account({ room, dialog = false, onHistory, onClose }) {
  const body = html`<div class="account">
    <div class="card">
      <p class="card-who"><${Face} user=${room.me} /><span>${nameOf(room.me)}</span></p>
      <p class="card-label">${t('balance')}</p>
      <p class="card-balance" data-balance=${room.balance}>${room.balance === null ? `${signOf()} …` : money(room.balance)}</p>
      ${room.points !== null && html`<p class="card-points">${money(room.points, 'POINTS')}</p>`}
    </div>
    <button type="button" class="to-history" onClick=${onHistory}>${t('history')}<span aria-hidden="true">›</span></button>
    <${Records} room=${room} />
  </div>`;
  return dialog ? html`<${Dialog} name="wallet" title=${t('wallet')} onClose=${onClose}>${body}<//>` : body;
}

function Records({ room }) {
  const { items, more } = usePages((cursor) => records(room.token(), cursor), room.movements);
  return html`<section class="records" aria-label=${t('records')}>
    <h2>${t('records')}</h2>
    ${items?.length === 0 && html`<p class="soft">${t('noRecords')}</p>`}
    <ul>${items?.map((item) => html`<li key=${item.id} data-kind=${item.kind}>
      <span class="record-mark is-${item.kind}" aria-hidden="true"></span>
      <span class="record-what"><b>${t(KINDS[item.kind] ?? item.kind)}</b><time datetime=${item.at}>${clock(item.at)}</time></span>
      <span class="record-sum ${item.direction}">${item.direction === 'credit' ? '+' : '−'}${money(item.amount, item.asset)}</span>
    </li>`)}</ul>
    ${more && html`<button type="button" class="quiet-button" onClick=${more}>${t('more')}</button>`}
  </section>`;
}
