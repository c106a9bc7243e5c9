import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { everyColumn, statement } from '../store/engine/statement.ts';
import type { Tables } from '../store/tables/index.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController({ trustedProxies: ['127.0.0.1'] });
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const insertThrottle = statement((db, _: Tables['throttles']) =>
  db.insertInto('throttles').values(everyColumn('throttles')),
);

const login = (email: string, password: string, address = '192.0.2.1') =>
  fetch(`${controller.url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ email, password }),
  });

/** Sends a body of any length until the server hangs up; answers the status and the bytes that were taken. */
const pour = (path: string, headers: string, limitBytes: number) =>
  new Promise<{ status: string; sent: number }>((resolve) => {
    const { hostname, port } = new URL(controller.url);
    const socket = connect(Number(port), hostname);
    const chunk = Buffer.alloc(65_536, 'x');
    let [answer, sent] = ['', 0];
    const send = () => {
      while (sent < limitBytes && !socket.destroyed) {
        sent += chunk.length;
        if (!socket.write(chunk)) return;
      }
      socket.end();
    };
    socket.on('drain', send).on('data', (data) => {
      answer += data.toString();
    });
    socket.on('error', () => {}).on('close', () => resolve({ status: answer.slice(9, 12), sent }));
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Length: ${limitBytes}\r\n\r\n`);
    send();
  });

const megabyte = 1_048_576;

describe('a body of a request that is refused', () => {
  it.for([
    ['without a session', '/v1/files', 'Content-Type: multipart/form-data; boundary=x\r\n', '401'],
    ['to no route', '/v1/nothing', 'Content-Type: application/json\r\n', '404'],
  ])('%s is not read to its end', async ([, path = '', headers = '', status]) => {
    const poured = await pour(path, headers, 200 * megabyte);
    expect(poured.status).toBe(status);
    expect(poured.sent).toBeLessThan(50 * megabyte);
  });
});

it('a sign-in has at most 4 KiB', async () => {
  const response = await login('a@example.test', 'x'.repeat(5000));
  expect(response.status).toBe(413);
});

it('attempts at the same time count like attempts one after the other', async () => {
  const victim = await controller.signInWith(administrator, []);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => login(victim.email, `wrong ${n}`)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(35);
});

it('failures of one client behind a trusted proxy do not lock out another', async () => {
  const other = await controller.signInWith(administrator, []);
  const key = 'address:198.51.100.7';
  const [blockedUntil, updatedAt] = [Date.now() + 600_000, Date.now()].map((ms) => new Date(ms).toISOString());
  const row = { key, failures: 50, blockedUntil: blockedUntil as string, updatedAt: updatedAt as string };
  await controller.store.database.transaction((tx) => insertThrottle.all(tx, row));
  expect((await login(other.email, other.password, '198.51.100.7')).status).toBe(429);
  expect((await login(other.email, other.password, '198.51.100.8')).status).toBe(200);
});

it('agents of one client behind a trusted proxy leave room for those of another', async () => {
  const join = (address: string) =>
    new Promise<WebSocket | undefined>((resolve) => {
      const url = `${controller.url.replace('http', 'ws')}/agent`;
      const socket = new WebSocket(url, { headers: { 'x-forwarded-for': `192.0.2.1, ${address}` } });
      socket.on('open', () => resolve(socket)).on('error', () => resolve(undefined));
    });
  const sockets = await Promise.all(Array.from({ length: 260 }, () => join('198.51.100.7')));
  expect(sockets.filter((socket) => socket === undefined)).toHaveLength(4);
  const other = await join('198.51.100.8');
  expect(other).toBeDefined();
  for (const socket of [...sockets, other]) socket?.terminate();
});
