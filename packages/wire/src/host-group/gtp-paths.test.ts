import { describe, expect, it } from 'vitest';
import { bytesOfHex, copyOf, hexOfBytes, Memory } from '../bytes/memory.ts';
import { GtpPaths, gtpControlPort } from './gtp-paths.ts';
import type { Packet } from './packet.ts';
import type { UdpHandler } from './udp-layer.ts';

/** Addresses of the two ends: local and remote of the first. */
const addresses = Int32Array.of(0, 0, 0xffff, 0x0a000001, 0, 0, 0xffff, 0x0a000002);
const packet: Packet = { addresses, path: 7, ecn: 0, checks: true, tags: 0, ttl: 64, isV6: false };

const swapped = (key: Int32Array): Int32Array => {
  const ports = key[8] as number;
  return Int32Array.of(...key.subarray(4, 8), ...key.subarray(0, 4), (ports << 16) | (ports >>> 16));
};

/** One end, and what it has sent. */
class End {
  readonly sent: { key: Int32Array; bytes: Uint8Array }[] = [];
  readonly paths: GtpPaths;
  handler: UdpHandler | undefined;

  constructor(intervalMs: number) {
    this.paths = new GtpPaths(
      {
        bind: (port, handler) => {
          expect(port).toBe(gtpControlPort);
          this.handler = handler;
        },
        send: (key, _path, bytes) => {
          this.sent.push({ key: key.slice(), bytes: copyOf(bytes) });
          return true;
        },
      },
      intervalMs,
    );
  }

  receive(key: Int32Array, bytes: Uint8Array): void {
    this.handler?.onDatagram(key, packet, new Memory(bytes), 0, bytes.length);
  }
}

const deliver = (from: End, to: End): void => {
  for (const { key, bytes } of from.sent.splice(0)) to.receive(swapped(key), bytes);
};

describe('paths of GTP-C', () => {
  it.each([
    ['version 1', '3201000400000000abcd0000', '3202000600000000abcd00000e00'],
    ['version 2', '4001000900123400' + '0300010005', '40020009001234000300010000'],
  ])('echo requests of %s are answered with their number', (_, request, response) => {
    const end = new End(0);
    const key = Int32Array.of(...addresses, (gtpControlPort << 16) | 40_000);
    end.receive(key, bytesOfHex(request));
    expect(end.sent.map(({ bytes }) => hexOfBytes(bytes))).toEqual([response]);
    expect(end.sent[0]?.key).toEqual(key);
    expect(end.paths.counters).toMatchObject({ answered: 1, sent: 0, invalid: 0 });
  });

  it('each end is asked once an interval, and answers', () => {
    const [near, far] = [new End(10_000), new End(0)];
    const path = near.paths.add(addresses, 7, 0);
    expect(near.paths.add(addresses, 7, 0)).toBe(path);
    for (let nowMs = 0; nowMs < 100_000; nowMs += 100) {
      near.paths.advance(nowMs);
      deliver(near, far);
      deliver(far, near);
    }
    expect(near.paths.counters).toEqual({ sent: 10, responses: 10, answered: 0, lost: 0, down: 0, invalid: 0 });
    expect(far.paths.counters.answered).toBe(10);
  });

  it('a far end that is silent for three requests is down until it answers', () => {
    const [near, far] = [new End(10_000), new End(0)];
    const path = near.paths.add(addresses, 7, 0);
    for (let nowMs = 0; nowMs < 9000; nowMs += 100) near.paths.advance(nowMs);
    expect([near.sent.length, near.paths.isDown(path)]).toEqual([3, false]);
    expect(new Set(near.sent.map(({ bytes }) => hexOfBytes(bytes))).size).toBe(1);
    near.paths.advance(9000);
    expect(near.paths.isDown(path)).toBe(true);
    expect(near.paths.counters).toMatchObject({ sent: 4, lost: 3, down: 1, responses: 0 });
    // Only the answer to the last request counts.
    deliver(near, far);
    for (const { key, bytes } of far.sent.splice(0)) near.receive(swapped(key), bytes);
    expect(near.paths.isDown(path)).toBe(false);
    expect(near.paths.counters.responses).toBe(1);
  });

  it('takes no other message for an echo', () => {
    const end = new End(1000);
    end.paths.add(addresses, 7, 0);
    const key = Int32Array.of(...addresses, (gtpControlPort << 16) | gtpControlPort);
    for (const bytes of [
      '',
      '40',
      '0001000400000000',
      '4801000900000001000001000300010000',
      '30010000',
      '4020000400000100',
    ])
      end.receive(key, bytesOfHex(bytes));
    expect(end.sent).toEqual([]);
    expect(end.paths.counters.invalid).toBe(6);
  });
});
