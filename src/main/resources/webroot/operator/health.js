/**
 * Why this server is not ready, since when, and what to do; and what it says of itself.
 * @module
 */
import { fetchJson, fetchText } from './numbers.js';

/** By check of /health/ready: what it means, and what to do first. Of several event loops each is a check. */
const CHECKS = {
  staying: ['It was told to stop', 'It serves until http.drain-delay is over. When nobody meant it, the log says who sent the signal.'],
  postgres: ['Postgres does not answer', 'Start it, or promote a replica. What was accepted waits, and is settled by itself after.'],
  redis: ['Redis does not answer', 'Start it, or let the failover do its work. Every shard is recovered by itself. Never copy a dump of Redis back.'],
  shards: ['Its shards are not ready', 'After a start or a failover give it seconds. Then the log says what keeps a shard.'],
  loop: ['An event loop hangs', 'The log has its stack. When it does not end by itself, start the server again: another takes its shards.'],
};
const MIB = 1024 * 1024;

function why(check, since) {
  const [title, todo] = CHECKS[check] ?? CHECKS.loop;
  const item = document.createElement('li');
  item.dataset.check = check;
  const name = document.createElement('b');
  name.textContent = title;
  const when = document.createElement('time');
  if (since) {
    when.dateTime = since;
    when.textContent = `since ${new Date(since).toLocaleTimeString('en-GB')}`;
  }
  const text = document.createElement('p');
  text.textContent = todo;
  item.append(name, ' ', when, text);
  return item;
}

/** What /health/ready says now. @returns {Promise<string[]>} the checks that are not well, and shows why */
export async function showHealth() {
  const { checks, since } = await fetchJson('/health/ready');
  const down = checks.filter((check) => check.status !== 'UP').map((check) => check.name);
  const list = document.getElementById('why');
  if (list.dataset.down !== down.join()) { // read out once
    list.dataset.down = down.join();
    list.replaceChildren(...down.map((check) => why(check, since[check])));
  }
  return down;
}

/** The sum of a metric's series; null for none. */
function sum(scrape, name) {
  const values = [...scrape.matchAll(new RegExp(`^${name}(?:\\{[^\\n]*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value));
  return values.length === 0 ? null : values.reduce((all, each) => all + each, 0);
}

/** Version, servers and Redis' memory, as /metrics has them. */
export async function showAbout() {
  const scrape = await fetchText('/metrics');
  const version = /^hongbao_build_info\{[^\n]*version="([^"]*)"/m.exec(scrape)?.[1];
  const servers = sum(scrape, 'hongbao_servers');
  const used = sum(scrape, 'hongbao_redis_memory_used_bytes');
  const limit = sum(scrape, 'hongbao_redis_memory_limit_bytes');
  const facts = [
    version && `version ${version}`,
    servers && (servers === 1 ? 'the only server' : `one of ${servers} servers`),
    used && `Redis holds ${Math.round(used / MIB)} MiB${limit ? ` of ${Math.round(limit / MIB)}` : ', without a limit'}`,
  ];
  document.getElementById('about').textContent = facts.filter(Boolean).join(' · ');
}
