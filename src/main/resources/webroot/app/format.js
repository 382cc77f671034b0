/**
 * Amounts and times as people read them. Amounts are whole fen; they never become fractions of a number.
 * @module
 */
import { language, t } from './texts.js';

/**
 * @param {number} minor whole minor units
 * @param {string} [asset]
 */
export function money(minor, asset = 'CNY') {
  if (asset === 'POINTS') {
    return t('points', minor);
  }
  if (asset !== 'CNY') {
    return `${minor.toLocaleString('en')} ${asset}`;
  }
  const fen = String(Math.abs(minor) % 100).padStart(2, '0');
  const yuan = Math.floor(Math.abs(minor) / 100).toLocaleString('en');
  return `${minor < 0 ? '−' : ''}¥${yuan}.${fen}`;
}

/**
 * What a person typed, in fen.
 * @param {string} text such as `88`, `8.8`, `88.88`
 * @returns {number|null} null for what is no such number
 */
export function fen(text) {
  const parts = /^([0-9]{1,13})(?:[.。]([0-9]{1,2}))?$/.exec(text.trim().replaceAll(',', ''));
  return parts === null ? null : Number(parts[1]) * 100 + Number((parts[2] ?? '').padEnd(2, '0'));
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
