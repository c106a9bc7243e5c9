import { expect, it } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { attemptOf, httpAttempt, runBothEnds } from './testing/two-ends.ts';

const service = { protocol: 'http', transport: 'tcp', isTls: false };
const scan = (id: number, addressIndex: number, port: number, isOpen: boolean) =>
  attemptOf(id, {
    kind: 'campaign',
    service: 'http',
    addressIndex,
    exchange: { protocol: 'scan', port, isOpen, timeoutMs: 1000 },
  });

it('a sweep finds open ports open and closed ones closed at each address, and the server knows who asked', async () => {
  const [open, shut] = [await freePort(), await freePort()];
  const at = (host: string) => ({ host, port: open, service: 'http', ...service });
  const hosts = ['127.0.9.1', '127.0.9.2', '127.0.9.3'];
  const both = await runBothEnds({
    attempts: [...hosts, 'missing'].flatMap((_, n) => [scan(2 * n, n, open, true), scan(2 * n + 1, n, shut, false)]),
    targets: hosts.map(at),
    listen: hosts.map(at),
  });
  expect(both.clients.map(({ connect, responseIsOurs, skipped }) => skipped ?? `${connect} ${responseIsOurs}`)).toEqual(
    [...hosts.flatMap(() => ['ok true', 'refused true']), ...['no_address', 'no_address']],
  );
  const asked = (port: number) =>
    both.servers.filter((seen) => seen.port === port && seen.seen === 'connected').map(({ ip }) => ip);
  expect(asked(shut)).toEqual(hosts);
  // Proofs come by the open port; the connections of the sweep itself carry nothing.
  expect([...new Set(asked(open))]).toEqual(hosts);
  // Each address is proven right before it is looked at, and not all of them at once.
  const firstLook = both.clients.filter(({ attempt }) => attempt % 2 === 0 && attempt < 6);
  const proofs = both.controls.filter(({ reason }) => reason === 'before');
  expect(proofs.map(({ target }) => target)).toEqual(hosts.map((host) => `${host}:${open}`));
  for (const [n, { startedMs }] of proofs.entries())
    if (n > 0) expect(startedMs).toBeGreaterThanOrEqual(firstLook[n - 1]?.endedMs ?? Number.POSITIVE_INFINITY);
});

it('proofs of a campaign come with its steps, those of other tests at the start', async () => {
  const port = await freePort();
  const endpoint = { host: '127.0.0.1', port, service: 'http', ...service };
  const reasons = async (kind: 'campaign' | 'waf') => {
    const ends = { attempts: [{ ...httpAttempt(0, '/a'), kind }], targets: [endpoint], listen: [endpoint] };
    return (await runBothEnds(ends)).controls[0]?.reason;
  };
  expect([await reasons('campaign'), await reasons('waf')]).toEqual(['before', 'path']);
});
