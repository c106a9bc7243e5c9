import { describe, expect, it } from 'vitest';
import { resolveTargets, TargetNotAllowed } from './resolve-targets.ts';

describe('allowed targets', () => {
  it.each(['127.0.0.1', '127.9.9.9', '10.1.2.3', '172.31.0.1', '192.168.4.4', '::1', 'fd00::5', '::ffff:10.0.0.1'])(
    'lets %s pass by default',
    async (host) => {
      expect((await resolveTargets([host])).get(host)).toBe(host.replace('::ffff:', ''));
    },
  );

  it.each(['8.8.8.8', '172.32.0.1', '169.254.169.254', '2001:db8::1', '::ffff:8.8.8.8', '0.0.0.0', 'fe80::1'])(
    'refuses %s by default',
    async (host) => {
      await expect(resolveTargets([host])).rejects.toBeInstanceOf(TargetNotAllowed);
    },
  );

  it('follows the list of the job only', async () => {
    await expect(resolveTargets(['203.0.113.7'], ['203.0.113.0/24'])).resolves.toHaveProperty('size', 1);
    await expect(resolveTargets(['127.0.0.1'], ['203.0.113.0/24'])).rejects.toThrow('target 127.0.0.1 is not allowed');
    await expect(resolveTargets(['127.0.0.1'], [])).rejects.toThrow('not allowed');
  });

  it('checks a name by its address', async () => {
    expect((await resolveTargets(['localhost'])).get('localhost')).toMatch(/^(127\.0\.0\.1|::1)$/);
    await expect(resolveTargets(['localhost'], ['10.0.0.0/8'])).rejects.toThrow('target localhost (');
  });

  it('rejects an invalid list', async () => {
    await expect(resolveTargets(['127.0.0.1'], ['anything'])).rejects.toThrow('not an address or network');
  });
});
