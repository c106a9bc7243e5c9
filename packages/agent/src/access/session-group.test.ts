import { AccessClient, type FrameSink, Memory, untagged } from '@rushhour/wire';
import { expect, it } from 'vitest';
import { AccessGroups } from './access-groups.ts';
import { SessionGroup, type SessionLink } from './session-group.ts';

const memory = new Memory(new Uint8Array(4096));
const sink: FrameSink = { memory, mtu: 1500, begin: () => 0, commit: () => {} };

/** Sessions with fixed addresses and without a gateway: up as soon as they are started. */
const createLink = (first: number, count: number): SessionLink => {
  const client = new AccessClient({
    ...{ sink, random: Math.random, count, macStep: 1, vlan: untagged, proofPerSec: 0 },
    firstMac: Uint8Array.of(2, 0, 0, 0, 0, first),
    load: { startPerSec: 1000, stopPerSec: 1000, maxOutstanding: 100, startDelayMs: 0 },
    life: { holdMs: 0, reconnect: false, reconnectDelayMs: 1000, maxAttempts: 1 },
    access: {
      ipoe: {
        ipv4: { first: 0x0a000001 + first, gateway: 0, step: 1 },
        releases: false,
        neighbours: { timeoutMs: 1000, retries: 1, intervalMs: 0, trusted: [] },
        dscp: 0,
      },
    },
  });
  return { first, client, isChecked: true, poll() {}, flush() {} };
};

const load = { startPerSec: 1000, startDelaySec: 0 };
const packetTo = (address: number): Memory => {
  const packet = new Memory(new Uint8Array(34));
  packet.view.setUint16(12, 0x0800);
  packet.view.setUint8(14, 0x45);
  packet.view.setUint16(16, 20);
  packet.view.setUint8(22, 64);
  packet.view.setUint8(23, 253);
  packet.view.setInt32(30, address);
  let sum = 0;
  for (let at = 14; at < 34; at += 2) sum += packet.view.getUint16(at);
  packet.view.setUint16(24, ~((sum & 0xffff) + (sum >>> 16)) & 0xffff);
  return packet;
};

it('sessions of all interfaces are one group whose packets reach their user', async () => {
  const links = [createLink(0, 3), createLink(3, 2)];
  const group = new SessionGroup(7, links, load);
  expect(group.causes).toBe('not started (5)');
  for (const { client } of links) {
    client.subscribers.begin();
    client.advance(100);
  }
  expect(await group.settle(new AbortController().signal)).toBe(5);
  const words = new Int32Array(4);
  expect(group.writeAddress(4, 4, words)).toBe(true);
  expect([...words]).toEqual([0, 0, 0xffff, 0x0a000005]);
  expect(group.writeAddress(4, 6, words)).toBe(false);
  const seen: unknown[] = [];
  const detach = group.attach(Int32Array.of(1, 4), {
    onPacket: (host, _memory, start, end, isChecked) => seen.push([host, start, end, isChecked]),
    onDown: (host) => seen.push(`${host} down`),
    onIdle: () => seen.push('idle'),
    onRoom: () => {},
  });
  const deliver = (link: SessionLink, address: number) => link.client.receive(packetTo(address), 0, 34);
  deliver(links[1] as SessionLink, 0x0a000005);
  deliver(links[0] as SessionLink, 0x0a000001);
  group.onDown(1);
  group.onDown(2);
  group.onIdle();
  expect(seen).toEqual([[1, 14, 34, true], '0 down', 'idle']);
  expect(group.isUsed).toBe(true);
  detach();
  expect(group.isUsed).toBe(false);
});

it('traffic waits for no session that has ended for good', async () => {
  const link = createLink(0, 2);
  const group = new SessionGroup(7, [link], load);
  link.client.subscribers.begin();
  link.client.advance(100);
  link.client.subscribers.stop(0, 1);
  link.client.advance(200);
  expect(await group.settle(new AbortController().signal)).toBe(1);
  expect(group.causes).toBe('stopped (1)');
});

it('traffic finds the group that is prepared before or after it, or the reason why not', async () => {
  const { subscribers: groups } = new AccessGroups();
  const group = new SessionGroup(1, [createLink(0, 1)], load);
  const found = groups.find(1);
  groups.register(1, group);
  expect(await found).toBe(group);
  groups.fail(2, new Error('eth7 does not exist'));
  await expect(groups.find(2)).rejects.toThrow('access group 2 has no sessions: eth7 does not exist');
});
