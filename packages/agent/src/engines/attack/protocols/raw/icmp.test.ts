import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../../../../tests/process/free-port.ts';
import { attemptOf, runBothEnds } from '../../testing/two-ends.ts';

const echo = (host: string) => ({ host, port: 7, service: 'icmp', protocol: 'icmp', transport: 'icmp' });
const beacon = (id: number, text: string, count = 1) =>
  attemptOf(id, {
    service: 'icmp',
    exchange: { protocol: 'icmp', content: { data: Buffer.from(text).toString('base64') }, count, intervalMs: 5 },
  });

describe.each(['127.0.0.1', '::1'])('echo requests with payload to %s', (host) => {
  it('arrive complete and are answered with the signature of our server', async () => {
    const attempts = [beacon(0, 'first beacon'), beacon(1, 'x'.repeat(1400)), beacon(2, 'three times', 3)];
    const both = await runBothEnds({
      ...{ attempts, targets: [echo(host)], listen: [echo(host)], client: { timeoutMs: 2000 } },
    });
    expect(both.controls.map(({ reason, isGood }) => [reason, isGood])).toEqual([
      ['path', true],
      ['end', true],
    ]);
    expect(both.clients).toMatchObject(
      attempts.map(() => ({ connect: 'ok', end: 'response', responseIsOurs: true, isComplete: true })),
    );
    expect(both.servers.map(({ attempt, step, seen }) => [attempt, step, seen])).toEqual([
      [0, 0, 'full'],
      [1, 0, 'full'],
      [2, 0, 'full'],
      [2, 1, 'full'],
      [2, 2, 'full'],
    ]);
    expect(both.servers[0]?.sentSha256).toBe(both.clients[0]?.rxSha256);
  });

  it('prove nothing when only the kernel answers', async () => {
    const both = await runBothEnds({
      attempts: [beacon(0, 'into the dark')],
      targets: [echo(host)],
      listen: [{ host, port: await freePort(), service: 'other', protocol: 'raw' }],
      client: { control: { retries: 0, timeoutMs: 200, everyAttempts: 10, afterSilentDrop: true } },
    });
    expect(both.controls[0]).toMatchObject({ isGood: false, detail: 'the reply is not signed' });
    expect(both.clients).toMatchObject([{ skipped: 'path_not_proven', sentBytes: 0 }]);
  });
});
