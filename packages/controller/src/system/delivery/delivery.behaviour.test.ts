import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { admin, startTestController, type TestController } from '../../testing/controller.ts';
import { refusalOf, signatureOf } from './webhook.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let controller: TestController;
let administrator: Awaited<ReturnType<TestController['signIn']>>;
let receiver: Server;
const received: Received[] = [];
let hook = '';

beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(request.url === '/broken' ? 503 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  receiver.close();
  await controller.close();
});

const deliveries = async (kind: string) => {
  const { data } = await administrator.client.notifications.list({ query: { deliveries: true, count: 100 } });
  return data.filter((one) => one.kind === kind).flatMap(({ deliveries: found = [] }) => found);
};
const configure = (more: object) =>
  administrator.client.settings.update({
    body: { webhooks: [{ url: hook, events: ['settings.*', 'delivery.test'], secret: 'sesame' }], ...more },
  });

it('a webhook on a private address is called only when the settings permit it', async () => {
  await configure({ sendTest: { webhook: hook } });
  await expect.poll(() => deliveries('delivery.test')).toMatchObject([{ state: 'pending', attempts: 1 }]);
  expect((await deliveries('delivery.test'))[0]?.error).toContain('allowPrivateTargets');
  expect(received).toEqual([]);
});

it('a webhook gets notifications of its kinds, signed with its secret', async () => {
  await configure({ delivery: { allowPrivateTargets: true } });
  await expect.poll(() => received.length).toBeGreaterThan(0);
  const { headers, body } = received[0] as Received;
  const timestamp = Number(headers['x-rushhour-timestamp']);
  expect(Math.abs(Date.now() / 1000 - timestamp)).toBeLessThan(300);
  expect(headers['x-rushhour-signature']).toBe(signatureOf({ secret: 'sesame', timestamp, body }));
  expect([headers['x-rushhour-event'], JSON.parse(body)]).toMatchObject(['settings.changed', { severity: 'info' }]);
  await expect.poll(() => deliveries('settings.changed').then((all) => all.at(-1)?.state)).toBe('delivered');
});

it('what a webhook refuses is tried again later, and the answer is in the log', async () => {
  const broken = hook.replace('/hook', '/broken');
  await configure({ webhooks: [{ url: broken, events: ['none'] }], sendTest: { webhook: broken } });
  const latest = async () => (await deliveries('delivery.test')).find(({ target }) => target === broken);
  await expect.poll(latest).toMatchObject({ state: 'pending', attempts: 1, error: 'answered with status 503' });
  expect(Date.parse((await latest())?.nextAt ?? '') - Date.now()).toBeGreaterThan(1000);
});

it('a test names what it cannot reach', async () => {
  const refused = administrator.client.settings.update({
    body: { sendTest: { webhook: 'http://elsewhere.test/', mail: 'a@b.test' } },
  });
  await expect(refused).rejects.toMatchObject({ status: 400 });
});

it('the log of deliveries is for those who read settings', async () => {
  const viewer = await controller.signInWith(administrator, [201]);
  const { data } = await viewer.client.notifications.list({ query: { deliveries: true } });
  expect(data.every((one) => one.deliveries === undefined)).toBe(true);
});

it('notifications are mailed to those they are for', async () => {
  const box = mkdtempSync(join(tmpdir(), 'rushhour-mail-'));
  const port = 20_000 + (process.pid % 20_000);
  const server = spawn(
    '/usr/bin/python3',
    ['-m', 'aiosmtpd', '-n', '-l', `127.0.0.1:${port}`, '-c', 'aiosmtpd.handlers.Mailbox', `${box}/mail`],
    { stdio: 'ignore' },
  );
  try {
    await expect.poll(() => isListening(port)).toBe(true);
    await configure({
      mail: { host: '127.0.0.1', port, tls: 'none', from: 'rushhour@lab.test', events: ['settings.*'] },
      sendTest: { mail: 'operator@lab.test' },
    });
    const mails = () => readdirSync(`${box}/mail/new`).map((name) => readFileSync(join(box, 'mail/new', name), 'utf8'));
    await expect
      .poll(() => mails().some((mail) => /X-RcptTo: operator@lab\.test/.test(mail) && mail.includes('[Rushhour] Test')))
      .toBe(true);
    await expect
      .poll(() =>
        mails().some((mail) => mail.includes('Settings changed') && mail.includes(`X-RcptTo: ${admin.email}`)),
      )
      .toBe(true);
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(box, { recursive: true });
  }
});

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.on('error', () => resolve(false));
  });

it('addresses that webhooks never or only by permission call', () => {
  expect(
    ['127.0.0.1', '::1', '10.1.2.3', '::ffff:192.168.0.1', 'fd00::1'].map((ip) => refusalOf(ip, false)),
  ).not.toContain(undefined);
  expect(['169.254.169.254', 'fe80::1'].map((ip) => refusalOf(ip, true))).not.toContain(undefined);
  expect(['192.0.2.1', '2001:db8::1'].map((ip) => refusalOf(ip, false))).toEqual([undefined, undefined]);
});
