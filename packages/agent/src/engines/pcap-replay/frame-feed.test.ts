import { type ReplayFrame, udpPacket } from '@rushhour/pcap';
import { expect, it } from 'vitest';
import { AddressPool } from './address-pool.ts';
import { FrameFeed } from './frame-feed.ts';
import { FrameStock } from './frame-stock.ts';

const slotBytes = 128;

/** Takes at most so many frames a call and keeps copies of them. */
const senderOf = (count: number, maxTaken: number) => {
  const bytes = Buffer.alloc(count * slotBytes);
  const lengths: number[] = [];
  const sent: Buffer[] = [];
  const slots = {
    ...{ count, bytes, offsetOf: (slot: number) => slot * slotBytes },
    setLength(slot: number, length: number) {
      lengths[slot] = length;
    },
  };
  const send = (first: number, end: number) => {
    const taken = Math.min(maxTaken, end - first);
    for (let slot = first; slot < first + taken; slot++)
      sent.push(Buffer.from(bytes.subarray(slot * slotBytes, slot * slotBytes + (lengths[slot] ?? 0))));
    return { taken, lost: 0 };
  };
  return { sender: { slots, timedSlots: undefined, send, close() {} }, sent };
};

const frameOf = (index: number): ReplayFrame => {
  const ends = { src: `10.0.0.${index + 1}`, dst: '10.9.9.9', srcPort: 1000, dstPort: 9 };
  const bytes = Buffer.concat([Buffer.alloc(14), udpPacket(Buffer.alloc(1 + index), ends)]);
  const clientAddresses = [{ at: 26, size: 4 as const, index, checksums: [24, 40] }];
  const known = { start: 0, length: bytes.length, timeMs: index, isFromClient: true, flow: index, key: index };
  return { bytes, ...known, server: undefined, segment: undefined, clientAddresses };
};

const sourceOf = (frame: Buffer) => [...frame.subarray(26, 30)].join('.');

it.each([
  ['each has its place', 5],
  ['they share two places', 2],
])('frames are sent in order with the addresses of their generation when %s', (_, count) => {
  const stock = new FrameStock();
  for (let index = 0; index < 5; index++) stock.add(frameOf(index), index);
  stock.finish();
  const { sender, sent } = senderOf(count, 2);
  const pool = new AddressPool({ addresses: [], networks: ['10.0.0.0/24'], ranges: [] });
  const feed = new FrameFeed(stock, sender, { pool, clients: 5 });
  feed.load();
  for (let loop = 0; loop < 3; loop++) {
    feed.setGeneration(loop);
    feed.rewind();
    for (let next = 0; next < 5; ) next += feed.send(next, Math.min(5, next + feed.batch)).taken;
  }
  expect(sent.map(sourceOf)).toEqual(Array.from({ length: 15 }, (_, index) => `10.0.0.${index + 1}`));
  expect(sent.map(({ length }) => length)).toEqual([43, 44, 45, 46, 47, 43, 44, 45, 46, 47, 43, 44, 45, 46, 47]);
});
