/**
 * Entry by an OpenID provider: the authorization code flow with PKCE (RFC 7636, RFC 9700), all in the browser. There is no client secret, and
 * no token is ever in an address.
 * @module
 */
import { ROOT } from '../app/api.js';
import { Told, t } from './texts.js';

/** Where this tab keeps the verifier, the state that has to come back, and the view while the user is away. */
const KEPT = 'hongbao.oidc';
const ANSWER_MILLIS = 15_000;

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function ask(url, more = {}) {
  try {
    const response = await fetch(url, { ...more, signal: AbortSignal.timeout(ANSWER_MILLIS) });
    return await response.json();
  } catch {
    throw new Told(t('noSignIn', new URL(url).host));
  }
}

async function discover({ issuer }) {
  const found = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (found.issuer !== issuer || !/^https?:/.test(found.authorization_endpoint)) {
    throw new Told(t('noSignIn', 'issuer'));
  }
  return found;
}

/** The issuer that lets operators in: `{issuer, clientId, scope}`; null when nobody is configured. */
export async function provider() {
  const configured = await ask(new URL('console/oidc.json', ROOT));
  return configured.issuer ? configured : null;
}

/** Goes to the provider, which sends the browser back here. */
export async function depart(configured) {
  if (!crypto.subtle) {
    throw new Told(t('noTls'));
  }
  const found = await discover(configured);
  const kept = { state: random(), verifier: random(), hash: location.hash };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(kept.verifier));
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  const url = new URL(found.authorization_endpoint);
  Object.entries({
    response_type: 'code',
    client_id: configured.clientId,
    redirect_uri: ROOT.href,
    scope: configured.scope,
    state: kept.state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  }).forEach(([name, value]) => url.searchParams.set(name, value));
  location.assign(url);
}

/** Whether the provider has just sent the browser back. */
export function isBack() {
  return new URLSearchParams(location.search).has('state');
}

/** Changes the code that came back for a token, once. */
export async function arrive(configured) {
  const came = new URLSearchParams(location.search);
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}');
  sessionStorage.removeItem(KEPT);
  history.replaceState(null, '', ROOT.href);
  if (kept.hash) {
    location.replace(kept.hash);
  }
  const isOurs = kept.state !== undefined && came.get('state') === kept.state && (came.get('iss') ?? configured.issuer) === configured.issuer;
  if (!isOurs || !came.get('code')) {
    throw new Told(t('noSignIn', (isOurs && came.get('error')) || 'state'));
  }
  const found = await discover(configured);
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: came.get('code'),
    redirect_uri: ROOT.href,
    client_id: configured.clientId,
    code_verifier: kept.verifier,
  });
  const answer = await ask(found.token_endpoint, { method: 'POST', body });
  if (typeof answer.access_token !== 'string') {
    throw new Told(t('noSignIn', answer.error ?? 'token'));
  }
  return answer.access_token;
}
