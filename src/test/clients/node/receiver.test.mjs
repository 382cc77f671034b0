// The receiver of the guide, as it stands there: NodeClientIT runs it. GUIDE is events.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const [, program] = /Save it as `receiver.mjs`:\n\n```js\n(.*?)```/s.exec(readFileSync(process.env.GUIDE, 'utf8'));
const secret = Buffer.alloc(32, 7);
const body = JSON.stringify({ data: { items: [{ id: 'b-0', type: 'claim.settled', data: { user: 'bob' } }] } });

test('neither a line that a crash cut nor a sender that hangs up costs anybody a point', { timeout: 20_000 }, async (t) => {
  // Given a book whose last line a crash cut, on a port that is free
  const directory = mkdtempSync(join(tmpdir(), 'receiver-'));
  const book = join(directory, 'points.txt');
  writeFileSync(book, 'a-0 bob\nb-0 bo');
  const listening = "listen(0, '127.0.0.1', function () { console.log(this.address().port); })";
  writeFileSync(join(directory, 'receiver.mjs'), program.replace(/listen\(.*?\)/, listening));
  const env = { ...process.env, WEBHOOK_SECRET: `whsec_${secret.toString('base64')}` };
  const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => receiver.kill());
  const [said] = await once(receiver.stdout, 'data');
  const port = Number(said);

  // When a sender hangs up in the middle
  const sender = connect(port, '127.0.0.1');
  sender.write('POST / HTTP/1.1\r\nHost: shop\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n');
  await once(sender, 'data'); // the receiver reads
  sender.destroy();

  // And the event of that line comes again
  const at = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`m.${at}.${body}`).digest('base64');
  const headers = { 'webhook-id': 'm', 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
  const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });

  // Then
  assert.equal(status, 204);
  assert.equal(readFileSync(book, 'utf8'), 'a-0 bob\nb-0 bob\n');
});
