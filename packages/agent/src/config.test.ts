import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

describe('configuration of the agent', () => {
  it('comes from arguments, with the environment as fallback', () => {
    const env = {
      RUSHHOUR_CONTROLLER: 'https://controller.example:8443/base/',
      RUSHHOUR_JOIN_TOKEN: 'from-env',
      RUSHHOUR_AGENT_DATA_DIR: '/var/lib/agent',
      RUSHHOUR_CONTROLLER_FINGERPRINT: 'AB:'.repeat(31).concat('AB'),
    };
    expect(readConfig(['--name', 'edge', '--token=from-args'], env)).toMatchObject({
      name: 'edge',
      token: 'from-args',
      dataDir: '/var/lib/agent',
      fingerprint: 'ab'.repeat(32),
      endsWithParent: false,
      restartsBy: 'spawn',
    });
    expect(readConfig([], env).endpoint.href).toBe('wss://controller.example:8443/base/agent');
    expect(readConfig(['--controller', 'http://[::1]:80'], {}).endpoint.href).toBe('ws://[::1]/agent');
    expect(readConfig(['--exit-with-parent'], env)).toMatchObject({ endsWithParent: true, restartsBy: 'exit' });
    expect(readConfig([], { ...env, INVOCATION_ID: 'x' })).toMatchObject({ endsWithParent: false, restartsBy: 'exit' });
  });

  it('needs a flag to reach another machine without TLS', () => {
    const plain = ['--controller', 'http://192.0.2.1:8080'];
    expect(() => readConfig(plain, {})).toThrow('--allow-http');
    expect(readConfig([...plain, '--allow-http'], {}).isPlain).toBe(true);
    expect(readConfig(plain, { RUSHHOUR_AGENT_ALLOW_HTTP: '1' }).isPlain).toBe(true);
    for (const url of ['https://192.0.2.1', 'http://localhost:1', 'http://127.9.9.9', 'http://[::1]:8080'])
      expect(readConfig(['--controller', url], {}).isPlain).toBe(false);
    expect(() => readConfig(['--controller', 'http://127.0.0.1.example'], {})).toThrow('--allow-http');
  });

  it('is refused with every problem at once', () => {
    const args = ['--name', 'n'.repeat(129), '--log-level', 'loud', '--ca', '/nonexistent', '--token', 'extra', 'word'];
    const read = () => readConfig([...args, '--what'], {});
    expect(read).toThrow(ConfigError);
    for (const problem of [
      '--controller or',
      '--name must',
      '--log-level must',
      '--ca /nonexistent',
      'word is not',
      '--what is not',
    ]) {
      expect(read).toThrow(problem);
    }
    expect(() => readConfig(['--controller'], {})).toThrow('--controller needs a value');
    const plain = ['--controller', 'http://x', '--fingerprint', 'ab'.repeat(32)];
    expect(() => readConfig(plain, {})).toThrow('need a controller at https://');
  });
});
