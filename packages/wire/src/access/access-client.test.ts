import { describe, expect, it } from 'vitest';
import { formatAddress, writeMapped } from '../ip/address.ts';
import { createEnds, ip4, ipoeOptions, pppoeClientOptions, pppoeServerOptions } from '../testing/access-ends.ts';
import { AccessLab } from '../testing/access-lab.ts';
import { DelayedSink } from './delayed-sink.ts';
import { PacedSink } from './paced-sink.ts';
import { sessionState } from './session-table.ts';

/** An IPv4 address as stacks have it. */
const wordsOf = (address = 0) => Int32Array.of(0, 0, 0xffff, address);

const { up } = sessionState;

it('sessions end with their link and come back with it', () => {
  const life = { holdMs: 0, reconnect: false, reconnectDelayMs: 0, maxAttempts: 0 };
  const { lab, client } = createEnds({ count: 20, life });
  const { table } = client.subscribers;
  client.subscribers.begin();
  expect(lab.run(2000, () => table.counts[up] === 20)).toBe(true);
  client.setLink(false);
  lab.run(3000);
  expect(table.counts[up]).toBe(0);
  expect(table.viewOf(4)).toMatchObject({ cause: 'link down', flaps: 1, attempts: 1 });
  client.setLink(true);
  expect(lab.run(2000, () => table.counts[up] === 20)).toBe(true);
  expect(table.viewOf(4)).toMatchObject({ state: 'up', attempts: 2 });
});

it('a paced sink sends bursts with an interval between them, in order', () => {
  const lab = new AccessLab();
  lab.keepsFrames = true;
  const sink = new PacedSink(lab.sink(0), { burst: 4, intervalMs: 5, mtu: 1000 });
  expect(sink.mtu).toBe(1000);
  for (let i = 0; i < 20; i++) {
    const at = sink.begin(60, 0);
    sink.memory.bytes[at] = i;
    sink.commit(at, 60);
  }
  expect(lab.frames).toHaveLength(4);
  for (let nowMs = 5; nowMs <= 15; nowMs++) sink.advance(nowMs);
  expect(lab.frames.length).toBeLessThanOrEqual(20);
  for (let nowMs = 16; nowMs <= 40; nowMs++) sink.advance(nowMs);
  expect(lab.frames.map(([first]) => first)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  sink.isUp = false;
  sink.commit(sink.begin(60, 0), 60);
  expect(lab.frames).toHaveLength(20);
});

it('a delayed sink sends frames at their time', () => {
  const lab = new AccessLab();
  lab.keepsFrames = true;
  const sink = new DelayedSink(lab.sink(0), 100);
  sink.advance(50);
  sink.commit(sink.begin(60), 60);
  sink.advance(149);
  expect(lab.frames).toHaveLength(0);
  sink.advance(150);
  expect(lab.frames).toHaveLength(1);
});

describe('packets of hosts', () => {
  const kinds = { IPoE: { ipoe: ipoeOptions }, PPPoE: { pppoe: pppoeClientOptions } };
  it.each(Object.entries(kinds))('go through sessions of %s and come back to the right one', (_, access) => {
    const { lab, client } = createEnds({ count: 5, access }, { pppoe: pppoeServerOptions });
    const { table } = client.subscribers;
    const received: [number, number][] = [];
    client.onPacket = (session, memory, start, end) => {
      const words = new Int32Array(4);
      writeMapped(words, 0, memory.view.getInt32(start + 16));
      expect(formatAddress(words, 0)).toMatch(/^100\.64\.0\./);
      expect(memory.view.getInt32(start + 16)).toBe(client.protocol?.addressOf(session));
      received.push([session, end - start]);
    };
    expect(client.protocol?.addressOf(2)).toBe(0);
    expect(client.isUp(2)).toBe(false);
    client.subscribers.begin();
    expect(lab.run(5000, () => table.counts[up] === 5)).toBe(true);
    expect(client.protocol?.mtu).toBe('ipoe' in access ? 1500 : 1492);
    for (const session of [1, 3]) client.protocol?.prove(session);
    lab.run(10);
    expect(received).toEqual([
      [1, 60],
      [3, 60],
    ]);
    const at = client.beginPacket(4, 100);
    client.sendPacket(4, at, at + 100);
    expect([table.txPackets[4], table.txBytes[4]]).toEqual([1, 100]);
  });

  it.each(Object.entries(kinds))('reach hosts behind the gateway of %s, and only what it serves', (_, access) => {
    const { lab, client, gateway } = createEnds({ count: 3, access }, { pppoe: pppoeServerOptions });
    client.subscribers.begin();
    expect(lab.run(5000, () => client.subscribers.table.counts[up] === 3)).toBe(true);
    const atGateway: number[] = [];
    gateway.onPacket = (memory, start, end) => atGateway.push(memory.view.getInt32(start + 16), end - start);
    const at = client.beginPacket(2, 28);
    const source = client.protocol?.addressOf(2) ?? 0;
    const destination = ip4('10.50.0.1');
    client.frames.writeIpv4(at, at + 28, { source, destination, protocol: 17, tos: 0 });
    client.sendPacket(2, at, at + 28);
    lab.run(10);
    expect(atGateway).toEqual([destination, 28]);
    const back: number[] = [];
    client.onPacket = (session) => back.push(session);
    const answer = gateway.beginPacket(wordsOf(source), 0, 28);
    gateway.frames.writeIpv4(answer, answer + 28, {
      source: destination,
      destination: source,
      protocol: 17,
      tos: 0,
    });
    gateway.sendPacket(answer, answer + 28);
    lab.run(10);
    expect(back).toEqual([2]);
    client.subscribers.stop(2, 3);
    lab.run(1000);
    expect([gateway.reaches(wordsOf(source), 0), gateway.beginPacket(wordsOf(source), 0, 28)]).toEqual([false, -1]);
  });

  it('cannot be sent after the session is down, which is reported whatever the reason', () => {
    const down: number[] = [];
    const listener = { onDown: (session: number) => down.push(session) };
    const { lab, client } = createEnds({ count: 3, listener });
    client.subscribers.begin();
    expect(lab.run(5000, () => client.subscribers.table.counts[up] === 3)).toBe(true);
    client.subscribers.stop(1, 2);
    lab.run(100);
    expect(down).toEqual([1]);
    expect([client.isUp(1), client.protocol?.addressOf(1)]).toEqual([false, 0]);
    client.setLink(false);
    expect(down).toEqual([1, 0, 2]);
  });
});
