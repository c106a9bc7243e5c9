import { execFileSync, spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostStack } from '@rushhour/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const createKeys = () => {
  const secret = randomBytes(32);
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), secret]);
  const spki = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'der',
    type: 'spki',
  });
  return { privateKey: secret.toString('base64'), publicKey: spki.subarray(-32).toString('base64') };
};

let count = 0;

/** A file that `wg` reads a key from. */
const keyFile = (key: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-wg-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), `${key}\n`, { mode: 0o600 });
  return join(folder, 'key');
};

/** An interface of wireguard-go with one peer. */
const startWireGuardGo = async (side: Side, privateKey: string, peer: string[]): Promise<void> => {
  for (const program of ['wireguard-go', 'wg']) requireProgram(program);
  const device = `rhwg${process.pid}x${count++}`.slice(0, 15);
  const child = spawn('ip', ['netns', 'exec', side.namespace, 'wireguard-go', '-f', device], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  await expect.poll(() => existsSync(`/var/run/wireguard/${device}.sock`)).toBe(true);
  const ports = ['private-key', keyFile(privateKey), 'listen-port', '51820'];
  execFileSync('wg', ['set', device, ...ports, 'peer', ...peer]);
  side.run('ip', 'address', 'add', '10.50.1.1/16', 'dev', device);
  side.run('ip', 'link', 'set', device, 'up', 'mtu', '1420');
};

const inTunnel = (side: Side, isServer: boolean, params: object): HostStack => ({
  interface: side.device,
  networks: [{ subnet: '10.50.0.0/16', hosts: ['10.50.0.1-10.50.0.8'] }],
  vlan: [],
  header: {},
  tcp: {},
  tunnel: {
    type: 'wireguard',
    params: { ...params },
    isServer,
    ends: [{ local: '10.99.0.11', remote: '10.99.0.2' }],
    outer: { subnet: '10.99.0.0/24', hosts: ['10.99.0.11'] },
  },
});

const cable = useCable('test');
const listen = [{ host: '0.0.0.0', port: 8080 }];
const responses = [{ body: { type: 'zero', size: 20_000 } }];
const presharedKey = randomBytes(32).toString('base64');

it('requests of emulated hosts reach a server behind wireguard-go', async () => {
  const [ours, theirs] = [createKeys(), createKeys()];
  await startWireGuardGo(cable.right, theirs.privateKey, [ours.publicKey, 'allowed-ips', '10.50.0.0/16']);
  const sniffer = await startSniffer(cable.right);
  const server = await startJobIn(cable.right, {
    engine: 'http',
    config: { role: 'server', listen, responses },
    duration: { mode: 'continuous' },
  });
  const client = await runJobIn(cable.left, {
    engine: 'http',
    config: { role: 'client', targets: [{ host: '10.50.1.1', port: 8080 }], connections: 8 },
    duration: { mode: 'count', count: 200 },
    stack: inTunnel(cable.left, false, { privateKey: ours.privateKey, peerPublicKey: theirs.publicKey }),
  });
  const served = await server.stop();
  await sniffer.stop();
  expect(client.counter('http.ok')).toBe(200);
  expect(served.counter('http.served')).toBe(200);
  const messages = await sniffer.fields('wg', ['wg.type']);
  expect(messages.slice(0, 2)).toEqual([['1'], ['2']]);
  expect(await sniffer.fields('wg && _ws.malformed', ['frame.number'])).toEqual([]);
});

it('a client behind wireguard-go opens the tunnel to emulated servers, with a preshared key', async () => {
  requireProgram('curl');
  const [ours, theirs] = [createKeys(), createKeys()];
  const server = await startJobIn(cable.left, {
    engine: 'http',
    config: { role: 'server', listen, responses },
    duration: { mode: 'continuous' },
    stack: inTunnel(cable.left, true, { privateKey: ours.privateKey, peerPublicKey: theirs.publicKey, presharedKey }),
  });
  const secret = ['preshared-key', keyFile(presharedKey)];
  const peer = [ours.publicKey, ...secret, 'endpoint', '10.99.0.11:51820', 'allowed-ips', '10.50.0.0/16'];
  await startWireGuardGo(cable.right, theirs.privateKey, peer);
  for (const host of ['10.50.0.1', '10.50.0.8']) {
    const size = cable.right.run('curl', '-s', '-o', '/dev/null', '-w', '%{size_download}', `http://${host}:8080/`);
    expect(size).toBe('20000');
  }
  expect((await server.stop()).counter('http.served')).toBe(2);
});
