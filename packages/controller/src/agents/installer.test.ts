import { networkInterfaces } from 'node:os';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createInstaller } from './installer.ts';

const log = pino({ level: 'silent' });
const installer = (more: Partial<Parameters<typeof createInstaller>[0]> = {}) =>
  createInstaller({ host: '127.0.0.1', port: 8080, log, ...more });

describe('the address of the enrolment command', () => {
  it('is the one the caller uses', () => {
    const { addressFor } = installer({ host: '0.0.0.0' });
    expect(addressFor('lab.example.test:8443')).toEqual({ url: 'http://lab.example.test:8443', warning: '' });
    expect(addressFor('lab.example.test', 'https')).toEqual({ url: 'https://lab.example.test', warning: '' });
  });

  it('is that of the machine when the caller is on it', () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const others = own.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
    const { url, warning } = installer({ host: '0.0.0.0' }).addressFor('127.0.0.1:8080');
    if (others.length === 0) expect(warning).toContain('RUSHHOUR_HOST');
    else expect([others.includes(new URL(url).hostname), new URL(url).port, warning]).toEqual([true, '8080', '']);
  });

  it('comes with a warning when the controller listens at a loopback address', () => {
    const { url, warning } = installer().addressFor('localhost:8080');
    expect(url).toBe('http://localhost:8080');
    expect(warning).toContain('RUSHHOUR_HOST=0.0.0.0');
    expect(warning).toContain('RUSHHOUR_PUBLIC_URL');
  });

  it('is the public one of the configuration, and no Host header can add a command to it', () => {
    const { addressFor, commandFor } = installer({ publicUrl: 'https://lab.example.test' });
    expect(addressFor('127.0.0.1:8080')).toEqual({ url: 'https://lab.example.test', warning: '' });
    expect(commandFor('https://lab.example.test', 'rh_join_x')).toBe(
      'curl -fsSL https://lab.example.test/agent/install.sh | sh -s -- --token rh_join_x',
    );
    for (const host of ['x;reboot', "x'$(reboot)", 'x y', '`reboot`']) {
      expect(installer({ host: '0.0.0.0' }).addressFor(host).url, host).toMatch(/^http:\/\/[\w.:-]+$/);
    }
  });
});
