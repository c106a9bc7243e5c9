import { describe, expect, it } from 'vitest';
import { runJobIn, startJobIn } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { useCable } from '../use-cable.ts';

takePriority();

const cable = useCable('file', ({ left, right }) => {
  left.run('ip', 'address', 'add', 'fd99::1/64', 'dev', left.device, 'nodad');
  right.run('ip', 'address', 'add', 'fd99::2/64', 'dev', right.device, 'nodad');
  // By default the kernel sends one error per second.
  right.run('sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0');
  right.run('nft', 'add table inet t');
  right.run('nft', 'add chain inet t c { type filter hook prerouting priority 0 ; }');
});

const echo = (hosts: string[], more: object = {}, duration: object = { seconds: 1 }) => ({
  engine: 'icmp',
  config: { role: 'client', targets: hosts.map((host) => ({ host, port: 1 })), timeoutMs: 500, ...more },
  duration,
});
const fromLeft = (...args: Parameters<typeof echo>) => runJobIn(cable.left, echo(...args));

/** Runs with an nft rule installed and returns the number of packets it matched. */
const under = async <T>(rule: string, work: () => Promise<T>): Promise<{ result: T; met: number }> => {
  cable.right.run('nft', `add rule inet t c ${rule}`);
  try {
    const result = await work();
    return { result, met: Number(/counter packets (\d+)/.exec(cable.right.run('nft', 'list', 'ruleset'))?.[1]) };
  } finally {
    cable.right.run('nft', 'flush chain inet t c');
  }
};

describe('echoes', () => {
  it.each([['10.99.0.2'], ['fd99::2']])('to %s are all answered, as the remote kernel counts', async (host) => {
    const server = await startJobIn(cable.right, {
      engine: 'icmp',
      config: { role: 'server', listen: [{ host, port: 1 }] },
      duration: { mode: 'continuous' },
    });
    const asked = await fromLeft([host], { load: { rate: 1000 } });
    const answered = await server.stop();
    expect(asked.outcome).toMatchObject({ status: 'finished', notes: [] });
    expect(asked.counter('icmp.sent') + asked.counter('icmp.dropped')).toBe(1000);
    expect(asked.counter('icmp.received')).toBe(asked.counter('icmp.sent'));
    expect(asked.counter('icmp.lost')).toBe(0);
    expect(asked.histogram('icmp.rtt').count).toBe(asked.counter('icmp.received'));
    expect(answered.counter('icmp.answered')).toBe(asked.counter('icmp.sent'));
  });

  it('are lost exactly as often as a rule drops them', async () => {
    const { result, met } = await under('icmp type echo-request numgen random mod 10 < 3 counter drop', () =>
      fromLeft(['10.99.0.2'], { load: { rate: 1000 } }),
    );
    expect(met).toBeGreaterThan(200);
    expect(result.counter('icmp.lost')).toBe(met);
    expect(result.counter('icmp.received')).toBe(result.counter('icmp.sent') - met);
  });

  it.each([
    ['10.99.0.2', 'icmp type echo-request counter reject with icmp type admin-prohibited', '13'],
    ['10.99.0.2', 'icmp type echo-request counter reject with icmp type net-unreachable', '0'],
    ['fd99::2', 'icmpv6 type echo-request counter reject with icmpv6 type no-route', '0'],
  ])('that %s refuses are counted by code', async (host, rule, code) => {
    const { result } = await under(rule, () => fromLeft([host], { load: { rate: 20 }, limit: 5 }, { seconds: 3 }));
    expect(result.counter(`icmp.unreachable.${code}`)).toBe(5);
    expect(result.counter('icmp.lost')).toBe(5);
    expect(result.counter('icmp.received')).toBe(0);
  });

  it('with wrong checksums are never answered', async () => {
    const result = await fromLeft(['10.99.0.2'], { load: { rate: 50 }, hasWrongChecksums: true, limit: 20 });
    expect([result.counter('icmp.sent'), result.counter('icmp.received'), result.counter('icmp.lost')]).toEqual([
      20, 0, 20,
    ]);
  });

  it('use the ping socket on request, and without a rate follow the answers', async () => {
    const group = cable.left.run('id', '-g').trim();
    cable.left.run('sysctl', '-qw', `net.ipv4.ping_group_range=${group} ${group}`);
    const ping = await fromLeft(['10.99.0.2'], { socket: 'ping', load: { rate: 500 } });
    expect(ping.counter('icmp.received')).toBe(ping.counter('icmp.sent'));
    expect(ping.counter('icmp.sent')).toBeGreaterThan(450);
    const flood = await fromLeft(['10.99.0.2'], { identifiers: 'message' }, { mode: 'count', count: 20_000 });
    expect([flood.counter('icmp.sent'), flood.counter('icmp.received')]).toEqual([20_000, 20_000]);
  });
});
