import type { Attempt } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { freePort } from '../../../../../../../tests/process/free-port.ts';
import { attemptOf, runBothEnds } from '../../testing/two-ends.ts';

type Named = readonly { readonly name: string; readonly value: string }[];

const attemptWith = (id: number, headers: Named, answered: Named = []): Attempt =>
  attemptOf(id, {
    service: 'http',
    exchange: {
      protocol: 'http',
      steps: [
        {
          request: { method: 'GET', path: `/${id}`, version: '2', headers: [...headers] },
          answer: { mode: 'canned', status: 200, headers: [...answered] },
        },
      ],
    },
  });

const perConnection = ['Connection', 'Keep-Alive', 'Proxy-Connection', 'Transfer-Encoding', 'Upgrade', 'TE'].map(
  (name) => ({ name, value: 'x' }),
);

it('over HTTP/2, headers of one connection are left out, and what cannot be sent is an error by name', async () => {
  const port = await freePort();
  const service = { host: '127.0.0.1', port, service: 'http', protocol: 'http', transport: 'tcp', isTls: false };
  const twice = ['text/plain', 'text/html'].map((value) => ({ name: 'Content-Type', value }));
  const { clients, servers } = await runBothEnds({
    attempts: [
      attemptWith(0, [...perConnection, { name: 'X-UPPER', value: 'Kept' }]),
      attemptWith(1, [{ name: 'X-Word', value: 'a\r\nSet-Cookie: b' }]),
      attemptWith(2, [{ name: 'two words', value: 'x' }]),
      attemptWith(3, [], [...perConnection, { name: 'X-Word', value: 'a\r\nb' }]),
      attemptWith(4, [], twice),
      attemptWith(5, []),
    ],
    targets: [{ ...service, weight: 1 }],
    listen: [service],
  });
  const problem = 'HTTP/2 cannot carry this request:';
  expect(clients.map(({ error }) => error)).toEqual([
    undefined,
    `${problem} the value of X-Word has a line break or a zero byte`,
    `${problem} the name "two words" is not allowed`,
    undefined,
    undefined,
    undefined,
  ]);
  expect(clients.map(({ responseIsOurs }) => responseIsOurs)).toEqual([true, false, false, true, false, true]);
  expect(clients[4]?.end).toBe('reset');
  const arrived = servers.filter(({ attempt }) => attempt !== null).map(({ attempt, seen }) => [attempt, seen]);
  expect(new Map(arrived as [number, string][])).toEqual(new Map([0, 3, 4, 5].map((attempt) => [attempt, 'full'])));
});
