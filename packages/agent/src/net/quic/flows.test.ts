import { expect, it } from 'vitest';
import type { Datagram, DatagramSocket } from '../datagram/datagram-transport.ts';
import { Flows } from './flows.ts';

/** Where answers went. */
const sent: number[] = [];
const socket: DatagramSocket = {
  send() {},
  reply() {},
  createReply:
    ({ from }) =>
    () =>
      void sent.push(from),
  close() {},
};

const datagramOf = (from: number, now: number, bytes: Buffer): Datagram => ({
  ...{ bytes, start: 0, end: bytes.length, now, from, index: 0 },
});
const first = (from: number, now = 0) => datagramOf(from, now, Buffer.alloc(1200, 0xc3));
const packet = (from: number, now: number, connection: number) =>
  datagramOf(from, now, Buffer.concat([Buffer.of(0x41), Buffer.alloc(8, connection), Buffer.alloc(30)]));

const answerTo = (flows: Flows, number: number | undefined): number | undefined => {
  flows.send(number ?? -1, Buffer.alloc(1));
  return sent.splice(0)[0];
};

it('a client is followed by the number of its connection, and late packets do not lead back', () => {
  let moves = 0;
  const flows = new Flows(() => void moves++);
  const number = flows.numberOf(first(1), socket);
  expect(flows.numberOf(packet(1, 10, 7), socket)).toBe(number);
  expect(flows.numberOf(packet(2, 20, 7), socket)).toBe(number);
  expect([answerTo(flows, number), moves]).toEqual([2, 1]);
  expect(flows.numberOf(packet(1, 25, 7), socket)).toBe(number);
  expect([answerTo(flows, number), moves]).toEqual([2, 1]);
  expect(flows.numberOf(packet(1, 2000, 7), socket)).toBe(number);
  expect([answerTo(flows, number), moves]).toEqual([1, 2]);
});

it('another client at the address before has a number of its own', () => {
  const flows = new Flows();
  const number = flows.numberOf(first(1), socket);
  flows.numberOf(packet(1, 10, 7), socket);
  flows.numberOf(packet(2, 20, 7), socket);
  const other = flows.numberOf(first(1, 30), socket);
  expect(other).not.toBe(number);
  expect([answerTo(flows, number), answerTo(flows, other)]).toEqual([2, 1]);
});

it('nothing is kept of packets that belong to no connection and can begin none', () => {
  const flows = new Flows();
  for (let from = 0; from < 1000; from++) {
    expect(flows.numberOf(packet(from, from, from), socket)).toBeUndefined();
    expect(flows.numberOf(datagramOf(from, from, Buffer.alloc(1199, 0xc3)), socket)).toBeUndefined();
  }
  expect(flows.size).toBe(0);
  for (let from = 0; from < 1000; from++) flows.numberOf(first(from, 2000), socket);
  flows.numberOf(packet(3, 2000, 5), socket);
  expect(flows.size).toBe(1000);
  // Only one of them has had a connection.
  flows.numberOf(packet(3, 100_000, 5), socket);
  expect(flows.size).toBe(1);
});
