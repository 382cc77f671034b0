/**
 * Amounts and times as people read them. Amounts are whole minor units; they never become fractions of a number.
 * @module
 */
import { language, t } from './texts.js';

/** The asset of the page's packets. */
export const ASSET = 'CNY';

/** By code, as the server says: how many digits are behind the point, and the symbol. */
const TERMS = new Map();
const UNKNOWN = { scale: 0, symbol: '' };

/** A sign stands before the amount, a word after it. */
const SIGN = /^[^\p{L}\p{N}]$/u;

/** A comma that parts thousands. Any other one may be meant as a point. */
const THOUSANDS = /,(?=[0-9]{3}(?![0-9]))/g;

/** @param {{code: string, scale: number, symbol: string}[]} assets as the server has them declared */
export function learnAssets(assets) {
  assets.forEach(({ code, scale, symbol }) => TERMS.set(code, { scale, symbol }));
}

/** The sign of an asset, for a drawing; empty when it has none. */
export function signOf(asset = ASSET) {
  const { symbol } = TERMS.get(asset) ?? UNKNOWN;
  return SIGN.test(symbol) ? symbol : '';
}

/**
 * @param {number | bigint | string} minor whole minor units; of a sum its text
 * @param {string} [asset]
 */
export function money(minor, asset = ASSET) {
  if (asset === 'POINTS') {
    return t('points', BigInt(minor));
  }
  const { scale, symbol } = TERMS.get(asset) ?? UNKNOWN;
  const digits = String(minor).replace('-', '').padStart(scale + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - scale)).toLocaleString('en');
  const sum = scale === 0 ? whole : `${whole}.${digits.slice(-scale)}`;
  return `${minor < 0 ? '−' : ''}${SIGN.test(symbol) ? symbol + sum : `${sum}\u00a0${symbol || asset}`}`;
}

/**
 * What a person typed, in minor units of {@link ASSET}.
 * @param {string} text such as `88`, `8.8`, `88.88`
 * @returns {number|null} null for what is no such number
 */
export function minorUnits(text) {
  const { scale } = TERMS.get(ASSET) ?? UNKNOWN;
  const parts = /^([0-9]{1,13})(?:[.。]([0-9]+))?$/.exec(text.trim().replace(THOUSANDS, ''));
  const behind = parts?.[2] ?? '';
  const value = parts === null || behind.length > scale ? NaN : Number(parts[1] + behind.padEnd(scale, '0'));
  return Number.isSafeInteger(value) ? value : null;
}

/** Seconds as a person says them: the largest unit, or two for minutes. */
export function duration(seconds) {
  if (seconds < 60) {
    return t('seconds', Math.max(0, Math.ceil(seconds)));
  }
  if (seconds < 3600) {
    return t('minutes', Math.ceil(seconds / 60));
  }
  return seconds < 86400 ? t('hours', Math.round(seconds / 3600)) : t('days', Math.round(seconds / 86400));
}

/** The hour and minute of a time; with the day when it is not today. */
export function clock(time) {
  const at = new Date(time);
  const options = { hour: '2-digit', minute: '2-digit' };
  if (at.toDateString() !== new Date().toDateString()) {
    Object.assign(options, { month: 'short', day: 'numeric' });
  }
  return at.toLocaleString(language() === 'zh' ? 'zh-CN' : 'en-GB', options);
}
