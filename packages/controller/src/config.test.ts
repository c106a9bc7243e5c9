import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

describe('the configuration', () => {
  it('has sane defaults', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
      localAgents: 2,
      library: true,
      dataDir: expect.stringMatching(/\/data$/),
      agentArchives: expect.stringMatching(/\/data\/agent-archives$/),
    });
  });

  it('is refused with every problem at once', () => {
    const env = {
      RUSHHOUR_PORT: '99999',
      RUSHHOUR_LOG_LEVEL: 'loud',
      RUSHHOUR_LOCAL_AGENTS: 'many',
      DATABASE_URL: 'mysql://x',
      NATS_URL: 'http://127.0.0.1:4222',
      S3_URL: 's3://nobody',
      RUSHHOUR_TRUSTED_PROXIES: '10.0.0.0/99',
      RUSHHOUR_ALLOWED_HOSTS: 'https://lab.example.test',
      RUSHHOUR_PUBLIC_URL: 'lab.example.test/path',
      RUSHHOUR_SECRET_KEY: 'short',
      RUSHHOUR_ADMIN_EMAIL: 'nobody',
      RUSHHOUR_TLS_CERT: '/no/such/file',
    };
    const read = () => readConfig(env);
    for (const name of Object.keys(env)) expect(read).toThrow(name);
  });

  it('takes servers for messages between controllers only where there can be several', () => {
    const env = { NATS_URL: 'nats://one:4222, tls://two:4222' };
    expect(() => readConfig(env)).toThrow('set DATABASE_URL');
    const { natsUrl } = readConfig({ ...env, DATABASE_URL: 'postgres://127.0.0.1/x' });
    expect(natsUrl).toBe(env.NATS_URL);
  });

  it('needs a flag to listen for other machines without TLS', () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1'])
      expect(() => readConfig({ RUSHHOUR_HOST: host })).toThrow('RUSHHOUR_ALLOW_HTTP=true');
    for (const host of ['127.0.0.1', '::1', 'localhost']) expect(readConfig({ RUSHHOUR_HOST: host }).host).toBe(host);
    expect(readConfig({ RUSHHOUR_HOST: '0.0.0.0', RUSHHOUR_ALLOW_HTTP: 'true' }).host).toBe('0.0.0.0');
  });

  it('names a key for packages that is none', () => {
    expect(() => readConfig({ RUSHHOUR_PACKAGE_KEYS: 'rh_key_short' })).toThrow('RUSHHOUR_PACKAGE_KEYS');
  });

  it('takes a key in base64 or hexadecimal', () => {
    const key = Buffer.alloc(32, 7);
    expect(readConfig({ RUSHHOUR_SECRET_KEY: key.toString('base64') }).secretKey).toEqual(key);
    expect(readConfig({ RUSHHOUR_SECRET_KEY: key.toString('hex') }).secretKey).toEqual(key);
  });
});
