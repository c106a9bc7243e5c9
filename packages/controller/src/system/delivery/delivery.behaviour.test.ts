import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { makeWithOpenssl } from '../../assets/certificates/testing/openssl.ts';
import { statement } from '../../store/engine/statement.ts';
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
let brokenStatus = 503;
const makeDue = statement((db, p: { target: string }) =>
  db.updateTable('deliveries').set({ nextAt: '2020-01-01T00:00:00.000Z' }).where('target', '=', p.target),
);

beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(request.url === '/broken' ? brokenStatus : 204).end();
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
  brokenStatus = 204;
  await controller.store.database.transaction((tx) => makeDue.all(tx, { target: broken }));
  await expect.poll(latest).toMatchObject({ state: 'delivered', attempts: 2, error: '' });
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

/** A mail server of another project, its mails, and what is given to it beside the address. */
const withMailServer = async (
  options: readonly string[],
  use: (port: number, mails: () => string[]) => Promise<void>,
) => {
  const box = mkdtempSync(join(tmpdir(), 'rushhour-mail-'));
  const port = await freePort();
  const handler = ['-c', 'aiosmtpd.handlers.Mailbox', `${box}/mail`];
  const args = ['-m', 'aiosmtpd', '-n', ...options, '-l', `127.0.0.1:${port}`, ...handler];
  const server = spawn('/usr/bin/python3', args, { stdio: 'ignore' });
  try {
    await expect.poll(() => isListening(port)).toBe(true);
    await use(port, () =>
      readdirSync(`${box}/mail/new`).map((name) => readFileSync(join(box, 'mail/new', name), 'utf8')),
    );
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(box, { recursive: true });
  }
};
const isTestFor = (address: string) => (mail: string) =>
  mail.includes(`X-RcptTo: ${address}`) && mail.includes('[Rushhour] Test');

it('notifications are mailed to those they are for', () =>
  withMailServer([], async (port, mails) => {
    await configure({
      mail: { host: '127.0.0.1', port, tls: 'none', from: 'rushhour@lab.test', events: ['settings.*'] },
      sendTest: { mail: 'operator@lab.test' },
    });
    await expect.poll(() => mails().some(isTestFor('operator@lab.test'))).toBe(true);
    await expect
      .poll(() =>
        mails().some((mail) => mail.includes('Settings changed') && mail.includes(`X-RcptTo: ${admin.email}`)),
      )
      .toBe(true);
  }));

it.each([
  ['tls', 'smtps'],
  ['starttls', 'tls'],
] as const)('mail goes out by %s, to a server with a certificate that can be verified only', async (tls, option) => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-mail-key-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
  await makeWithOpenssl('req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject);
  const trusted = getCACertificates('default');
  onTestFinished(() => {
    setDefaultCACertificates(trusted);
    rmSync(folder, { recursive: true });
  });
  await withMailServer([`--${option}cert`, cert, `--${option}key`, key], async (port, mails) => {
    const [before, after] = [`before-${tls}@lab.test`, `after-${tls}@lab.test`];
    const mail = { host: '127.0.0.1', port, tls, from: 'rushhour@lab.test', events: [] };
    await configure({ mail, sendTest: { mail: before } });
    const errorOf = async () => (await deliveries('delivery.test')).find(({ target }) => target === before)?.error;
    await expect.poll(errorOf).toMatch(/self-signed certificate/);
    setDefaultCACertificates([...trusted, readFileSync(cert, 'utf8')]);
    await configure({ sendTest: { mail: after } });
    await expect.poll(() => mails().some(isTestFor(after))).toBe(true);
    expect(mails().some(isTestFor(before))).toBe(false);
  });
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
