/**
 * What this browser remembers. Who one is belongs to the tab, so that two tabs can be two people; the language belongs to
 * the browser. Storage may be forbidden: then nothing is remembered, and nothing fails.
 * @module
 */
const PREFIX = 'hongbao.';

/** A setting of this browser; null when there is none. */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keeps a setting of this browser. */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // not allowed here
  }
}

/** The user of this tab: `{user, group, token, expiresAt, demo}`; null for nobody. */
export function recallSession() {
  try {
    return JSON.parse(sessionStorage.getItem(`${PREFIX}session`));
  } catch {
    return null;
  }
}

/** Keeps who this tab is over a reload; null forgets. */
export function rememberSession(session) {
  try {
    if (session === null) {
      sessionStorage.removeItem(`${PREFIX}session`);
    } else {
      sessionStorage.setItem(`${PREFIX}session`, JSON.stringify(session));
    }
  } catch {
    // not allowed here
  }
}
