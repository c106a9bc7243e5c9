import { describe, expect, it } from 'vitest';
import type { Engine } from './engine.ts';
import { engines } from './engines/index.ts';
import { describeHost } from './host.ts';
import { parseConfig } from './prepare.ts';

const engineOf = (id: string) => engines.get(id) as Engine;
const targets = [{ host: '127.0.0.1', port: 80 }];
const listen = [{ port: 80 }];
const client = { role: 'client', targets };
const server = { role: 'server', listen };

describe('configuration of engines', () => {
  it.each([
    ['http', client],
    ['http', server],
    ['tcp', client],
    ['tcp', server],
    ['tls', client],
    ['tls', server],
    ['udp', client],
    ['udp', server],
    ['dns', { ...client, names: ['example.test'] }],
    ['dns', server],
    ['stateless-server', { listen }],
  ])('fills in everything that is left out: %s %j', (id, config) => {
    const filled = parseConfig(engineOf(id), config) as object;
    expect(Object.keys(filled).length).toBeGreaterThan(Object.keys(config).length);
    expect(() => parseConfig(engineOf(id), { ...config, unheardOf: 1 })).toThrow('unheardOf');
  });

  it('names every problem, not only the first', () => {
    const bad = { role: 'client', targets: [{ host: '', port: 0 }], connections: 0, method: 'get it' };
    const parse = () => parseConfig(engineOf('http'), bad);
    for (const path of ['/targets/0/host', '/targets/0/port', '/connections', '/method']) expect(parse).toThrow(path);
  });

  it('knows every target of a client and none of a server', () => {
    for (const [id, engine] of engines) {
      if (id === 'stateless-server') continue;
      const config = parseConfig(engine, { ...client, ...(id === 'dns' && { names: ['a.test'] }) });
      expect(engine.targetsOf(config)).toEqual(['127.0.0.1']);
      expect(engine.targetsOf(parseConfig(engine, server))).toEqual([]);
    }
  });

  it('runs every engine on this machine', async () => {
    for (const engine of engines.values())
      expect(await engine.check(describeHost())).toMatchObject({ isAvailable: true });
  });
});
