/**
 * What a packet may be, as the server says it too: the form explains its limits before anything is sent. Pure.
 * @module
 */
import { ASSET, minorUnits, money } from './format.js';
import { t } from './texts.js';

const MAX_AMOUNT = 99_999_999_999_999;
/** Shares of a packet, unless the server's `packet.max-count` says less. */
export const MAX_COUNT = 10_000;
const MAX_TEXT = { greeting: 100, passcode: 64 };

/**
 * A filled form, as the server wants it, and what is wrong with it.
 * @param {object} form the fields as they were typed
 * @param {{group: string, balance: string|null, now: number}} context
 * @returns {{body: object, errors: Record<string, string>, each: {low: number, high: number}|null}}
 */
export function check(form, { group, balance, now }) {
  const errors = {};
  const typed = amountOf(form.amount, 'amount', errors);
  const count = countOf(form, errors);
  const min = form.kind === 'equal' ? null : optional(form.min, 'min', errors);
  const max = form.kind === 'equal' ? null : optional(form.max, 'max', errors);
  const amount = form.kind === 'equal' && typed && count ? typed * count : typed;
  if (amount && !errors.amount) {
    rangeOf(amount, balance, errors);
  }
  if (amount && count && !errors.amount && !errors.count) {
    fits(amount, count, min ?? 1, max, errors);
  }
  texts(form, errors);
  if (form.kind === 'exclusive' && form.recipients.length === 0) {
    errors.recipients = t('errRecipients');
  }
  if (form.opensAt && !(Date.parse(form.opensAt) > now)) {
    errors.opensAt = t('errOpensAt');
  }
  const body = { group, kind: form.kind, asset: ASSET, amount, count, expiresInSeconds: Number(form.expiry) };
  return { body: { ...body, ...extras(form, min, max) }, errors, each: range(form.kind, amount, count, min, max, errors) };
}

function amountOf(text, name, errors) {
  const value = minorUnits(text);
  if (value === null) {
    errors[name] = t('errNumber');
  } else if (value < 1) {
    errors[name] = t('errAmountLow');
  }
  return value;
}

function optional(text, name, errors) {
  return text.trim() === '' ? null : amountOf(text, name, errors);
}

function countOf(form, errors) {
  const count = /^[0-9]{1,6}$/.test(form.count.trim()) ? Number(form.count) : 0;
  if (count < 1 || count > MAX_COUNT) {
    errors.count = t('errCount', MAX_COUNT.toLocaleString('en'));
  } else if (form.kind === 'exclusive' && count > form.recipients.length && form.recipients.length > 0) {
    errors.count = t('errRecipientsCount');
  }
  return count;
}

function rangeOf(amount, balance, errors) {
  if (amount > MAX_AMOUNT) {
    errors.amount = t('errAmountHigh');
  } else if (balance !== null && amount > BigInt(balance)) {
    errors.amount = t('errBalance', money(balance));
  }
}

function fits(amount, count, min, max, errors) {
  if (max !== null && max < min) {
    errors.min = t('errMin');
  } else if (min * count > amount) {
    errors.amount = t('errTooManyShares', money(min * count));
  } else if (max !== null && max * count < amount) {
    errors.amount = t('errTooFewShares', money(max * count));
  }
}

function texts(form, errors) {
  if ([...form.greeting].length > MAX_TEXT.greeting) {
    errors.greeting = t('errGreeting');
  }
  if (form.passcode !== '' && (form.passcode.trim() === '' || [...form.passcode].length > MAX_TEXT.passcode)) {
    errors.passcode = t('errPasscode');
  }
}

function extras(form, min, max) {
  return {
    ...(min && { min }),
    ...(max && { max }),
    ...(form.kind !== 'equal' && { split: form.split }),
    ...(form.greeting.trim() && { greeting: form.greeting.trim() }),
    ...(form.kind === 'exclusive' && { recipients: form.recipients }),
    ...(form.passcode.trim() && { passcode: form.passcode.trim() }),
    ...(form.opensAt && !Number.isNaN(Date.parse(form.opensAt)) && { opensAt: new Date(form.opensAt).toISOString() }),
  };
}

/** The least and the most of one share; null when the numbers do not fit. */
function range(kind, amount, count, min, max, errors) {
  if (!amount || !count || errors.amount || errors.count || errors.min || errors.max) {
    return null;
  }
  if (kind === 'equal' || count === 1) {
    return { low: amount / count, high: amount / count };
  }
  const low = min ?? 1;
  return { low, high: Math.min(max ?? amount, amount - low * (count - 1)) };
}
