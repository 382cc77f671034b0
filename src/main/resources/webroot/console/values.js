/**
 * What a server answers, as people read it: by the names of the fields, so that also what a later server adds is shown.
 * @module
 */
import { html } from '../app/ui.js';
import { label, locale, t } from './texts.js';

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const SUM = /(?:^|[.])(?:amount|budget|min|max|returned|balance|opening|closing|in|out|held|total)$|^caps[.]|^file[.]refunded$/;
const WORD = /(?:^|[.])(?:status|state|result|kind|direction|severity|outcome|verdict|mode|category|of|change|account)$/;

/** The view of the thing that a field names, by field. */
const SHOWN = { user: 'users', sender: 'users', openedBy: 'users', by: 'users', packet: 'packets', draw: 'draws', campaign: 'campaigns', rain: 'rains', group: 'groups', webhook: 'webhooks',
  command: 'commands', reversedBy: 'commands' };

/** The view of the thing that a field names: a packet that no user sent is a pool of a campaign, or a drop of a rain. */
function viewOf(field, row, value) {
  if (field === 'campaign.id' || (field === 'sender' && row.campaign?.id === value)) {
    return row.group === `rain:${value}` ? 'rains' : 'campaigns';
  }
  return SHOWN[field];
}

/** The place of a view, or of one thing in it. */
export function place(view, id) {
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
}

/** The number of digits behind the point, by asset. */
const scales = new Map([['CNY', 2]]);

/** @param {{code: string, scale: number}[]} assets as the server has them declared */
export function learnAssets(assets) {
  assets.forEach(({ code, scale }) => scales.set(code, scale));
}

/** @param {number | string} minor whole minor units; of a sum its text */
export function money(minor, asset) {
  const scale = scales.get(asset) ?? 0;
  const digits = String(minor).replace('-', '').padStart(scale + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - scale)).toLocaleString('en');
  const sum = scale === 0 ? whole : `${whole}.${digits.slice(-scale)}`;
  return `${minor < 0 ? '−' : ''}${asset === 'CNY' ? `¥${sum}` : `${sum} ${asset}`}`;
}

function time(value) {
  return html`<time datetime=${value} title=${value}>${new Date(value).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'medium' })}</time>`;
}

/** Of a sum that may exceed what a number holds, the text beside it. */
function exact(row, field, value) {
  return at(row, `${field}Text`) ?? value;
}

/** A value by a path such as `claimed.count`. */
export function at(row, path) {
  return path.split('.').reduce((value, name) => value?.[name], row);
}

/** Whether something is one value, no list and no object. */
export function isPlain(value) {
  return value === null || typeof value !== 'object';
}

/** A badge says its word: its colour only helps. */
export function Badge({ word }) {
  return html`<span class="badge" data-word=${word}>${t(`w_${word}`)}</span>`;
}

/** The asset of a thing's amounts. */
function assetOf(row) {
  return row.asset ?? (row.scale === undefined ? undefined : row.code);
}

/** The rest of a budget is money; the rest of a prize is a count. */
function isSum(field, row) {
  return SUM.test(field) || (field === 'left' && row.budget !== undefined);
}

/** An element of a list, in a cell. */
function brief(each) {
  if (isPlain(each)) {
    return each;
  }
  return each.asset && Number.isInteger(each.amount) ? money(each.amountText ?? each.amount, each.asset) : JSON.stringify(each);
}

/**
 * @param {{field: string, row: object, open?: string | ((row: object) => string)}} props `open` is the view that shows the row's own `id`
 */
export function Value({ field, row, open }) {
  const value = at(row, field);
  if (value === null || value === undefined || value === '') {
    return html`<span class="soft">–</span>`;
  }
  if (typeof value === 'boolean') {
    return t(value ? 'yes' : 'no');
  }
  if (typeof value === 'number') {
    return isSum(field, row) && assetOf(row) ? html`<span data-amount=${value}>${money(exact(row, field, value), assetOf(row))}</span>` : value.toLocaleString(locale());
  }
  if (Array.isArray(value)) {
    return value.map(brief).join(', ');
  }
  if (typeof value === 'object') {
    return value.id ? html`<a href=${place(SHOWN[field] ?? open, value.id)}>${value.name ?? value.id}</a>` : JSON.stringify(value);
  }
  if (TIME.test(value)) {
    return time(value);
  }
  if (WORD.test(field)) {
    return html`<${Badge} word=${value} />`;
  }
  const view = field !== 'id' ? viewOf(field, row, value) : typeof open === 'function' ? open(row) : open;
  return view ? html`<a class="id" href=${place(view, value)}>${value}</a>` : html`<span class=${/id$|session|commitment|seed/i.test(field) ? 'id' : ''}>${value}</span>`;
}

/** The plain fields of a thing, those of the objects in it too: `claimed.count`. A sum's text is shown in the place of the sum. */
export function fieldsOf(row) {
  return Object.entries(row).flatMap(([name, value]) => {
    if (name.endsWith('Text') && typeof row[name.slice(0, -'Text'.length)] === 'number') {
      return [];
    }
    if (isPlain(value) || Array.isArray(value)) {
      return Array.isArray(value) && value.some((each) => !isPlain(each)) ? [] : [name];
    }
    return value.id && value.name ? [name] : Object.keys(value).filter((inner) => isPlain(value[inner])).map((inner) => `${name}.${inner}`);
  });
}

/**
 * A table of things; without `columns`, of all their fields. A column in which no row has a value is left out.
 * @param {{caption: string, rows: object[], columns?: string[], open?: string, actions?: (row: object) => unknown}} props
 */
export function Table({ caption, rows, columns, open, actions }) {
  const named = columns ?? [...new Set(rows.flatMap(fieldsOf))];
  const [first, ...more] = named.filter((each) => rows.some((row) => ![null, undefined].includes(at(row, each))));
  // The roles are said, since a phone shows the rows as cards, and then a browser forgets that it is a table.
  return html`<div class="scroll" tabindex="0"><table role="table">
    <caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      ${[first, ...more].map((each) => html`<th role="columnheader" scope="col" key=${each}>${label(each)}</th>`)}
      ${actions && html`<th role="columnheader" scope="col"><span class="unseen">${t('actions')}</span></th>`}</tr></thead>
    <tbody role="rowgroup">${rows.map((row, index) => html`<tr role="row" key=${row.id ?? index} data-row=${row.id ?? index}>
      <th role="rowheader" scope="row" data-label=${label(first)}><${Value} field=${first} row=${row} open=${open} /></th>
      ${more.map((each) => html`<td role="cell" key=${each} data-field=${each} data-label=${label(each)}><${Value} field=${each} row=${row} open=${open} /></td>`)}
      ${actions && html`<td role="cell" class="row-actions">${actions(row)}</td>`}</tr>`)}</tbody>
  </table></div>`;
}

/**
 * One thing: its fields, and a table for each list in it.
 * @param {{thing: object, columns?: string[]}} props `columns` of its lists
 */
export function Thing({ thing, columns }) {
  const lists = Object.entries(thing).filter(([, value]) => Array.isArray(value) && value.length > 0 && value.every((each) => !isPlain(each)));
  return html`<dl class="facts">${fieldsOf(thing).map((field) => html`<div key=${field} data-field=${field}>
      <dt>${label(field)}</dt><dd><${Value} field=${field} row=${thing} /></dd></div>`)}</dl>
    ${lists.map(([name, rows]) => html`<h3 key=${name}>${label(name)}</h3><${Table} caption=${label(name)} rows=${rows} columns=${columns} />`)}`;
}
