import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Sources } from '@rushhour/protocol';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { describeHost } from '../../machine/host.ts';
import { sweepLocalRoutes } from './local-routes.ts';
import { prepareSources } from './source-addresses.ts';

const sourcesOf = (options: Partial<Sources>) => Value.Default(Sources, { ...options }) as Sources;
const depsOf = (isNetAdmin: boolean) => {
  const notes: string[] = [];
  const host = { ...describeHost(), isNetAdmin };
  return { notes, host, note: (remark: string) => void notes.push(remark), core: { index: 0, count: 1 } };
};
const localRoutes = () => execFileSync('ip', ['route', 'show', 'table', 'local', 'proto', '213'], { encoding: 'utf8' });

const peerSeenFrom = async (localAddress: string) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress });
  const [socket] = await once(server, 'connection');
  const peer = socket.remoteAddress;
  client.destroy();
  server.close();
  return peer;
};

describe('source addresses', () => {
  it('uses loopback addresses without any permission', async () => {
    const deps = depsOf(false);
    const pool = await prepareSources(sourcesOf({ networks: ['127.77.0.0/24'] }), deps);
    expect(pool.count).toBe(254);
    expect([pool.next(0), pool.next(0)]).toEqual([{ localAddress: '127.77.0.1' }, { localAddress: '127.77.0.2' }]);
    expect(await peerSeenFrom('127.77.0.2')).toBe('127.77.0.2');
    expect(deps.notes).toEqual([]);
  });

  it('notes that it is not permitted to use the addresses', async () => {
    const deps = depsOf(false);
    const pool = await prepareSources(sourcesOf({ networks: ['10.213.0.0/16'] }), deps);
    expect(pool.next(0)).toEqual({});
    expect(deps.notes).toEqual([
      "not permitted to use 10.213.0.0/16 as source addresses; the machine's own are used instead",
    ]);
  });

  it('claims a whole network by one route and releases it', async () => {
    const pool = await prepareSources(sourcesOf({ networks: ['10.213.7.0/24'] }), depsOf(true));
    expect(localRoutes()).toContain('10.213.7.0/24');
    expect(await peerSeenFrom('10.213.7.99')).toBe('10.213.7.99');
    await pool.close();
    expect(localRoutes()).not.toContain('10.213.7.0/24');
  });

  it('claims exactly the addresses of a range', async () => {
    const pool = await prepareSources(sourcesOf({ ranges: ['10.213.11.3-10.213.11.9'] }), depsOf(true));
    expect(pool.count).toBe(7);
    expect(pool.next(0)).toEqual({ localAddress: '10.213.11.3' });
    const claimed = localRoutes();
    expect(claimed).toContain('local 10.213.11.3 ');
    expect(claimed).toContain('10.213.11.4/30');
    expect(claimed).not.toContain('local 10.213.11.2 ');
    expect(await peerSeenFrom('10.213.11.9')).toBe('10.213.11.9');
    await pool.close();
    expect(localRoutes()).not.toContain('10.213.11');
  });

  it('keeps a network while another run still uses it', async () => {
    const options = sourcesOf({ networks: ['10.213.10.0/24'] });
    const [first, second] = [await prepareSources(options, depsOf(true)), await prepareSources(options, depsOf(true))];
    await first.close();
    expect(await peerSeenFrom('10.213.10.7')).toBe('10.213.10.7');
    await second.close();
    expect(localRoutes()).not.toContain('10.213.10.0/24');
  });

  it('removes routes of a dead agent and nothing else', async () => {
    const dead = spawnSync('true').pid;
    execFileSync('ip', [
      'route',
      'add',
      'local',
      '10.213.8.0/24',
      'dev',
      'lo',
      'proto',
      '213',
      'metric',
      String(dead * 1024 + 5),
    ]);
    const pool = await prepareSources(sourcesOf({ networks: ['10.213.9.0/24'] }), depsOf(true));
    expect(await sweepLocalRoutes()).toBeGreaterThanOrEqual(1);
    expect(localRoutes()).not.toContain('10.213.8.0/24');
    expect(localRoutes()).toContain('10.213.9.0/24');
    await pool.close();
  });

  it('notes how many addresses were used when not all were', async () => {
    const noted: string[] = [];
    const deps = { ...depsOf(false), note: (remark: string) => void noted.push(remark) };
    const options = sourcesOf({ networks: ['127.1.0.0/29'] });
    const [part, all] = [await prepareSources(options, deps), await prepareSources(options, deps)];
    for (const _ of [1, 2]) part.next(0);
    for (let slot = 0; slot < all.count * 2; slot++) all.next(slot);
    await part.close();
    await all.close();
    expect(noted).toEqual([`2 of ${part.count} source addresses were used`]);
  });

  it('shares addresses and ports between cores', async () => {
    const options = sourcesOf({ networks: ['127.1.0.0/30'], portRange: '2000-2003' });
    const second = await prepareSources(options, { ...depsOf(false), core: { index: 1, count: 2 } });
    expect([second.next(0), second.next(0), second.next(0)]).toEqual([
      { localAddress: '127.1.0.2', localPort: 2001 },
      { localAddress: '127.1.0.2', localPort: 2003 },
      { localAddress: '127.1.0.2', localPort: 2001 },
    ]);
  });
});
