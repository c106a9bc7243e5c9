import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemory, hexOfBytes, Memory } from '../bytes/memory.ts';
import { tunnelKinds } from '../testing/tunnel-kinds.ts';
import { createGeneve } from './geneve.ts';
import { createGre } from './gre.ts';
import { createGtpu, writeGtpuEchoRequest } from './gtpu.ts';
import { createL2tpv3 } from './l2tpv3.ts';
import type { LinkCodec } from './link.ts';
import { createMpls } from './mpls.ts';
import { createVxlan } from './vxlan.ts';

const headerOf = (codec: LinkCodec, firstByte = 0x45): string => {
  const memory = createMemory(300);
  memory.bytes[200] = firstByte;
  return hexOfBytes(memory.bytes, codec.wrap(memory, 200, 240), 200);
};

describe('headers', () => {
  it.each([
    ['gre for IPv4', createGre(), 0x45, '00000800'],
    ['gre for IPv6', createGre(), 0x60, '000086dd'],
    ['gre with key and sequence', createGre({ key: 5, hasSequence: true }), 0x45, '300008000000000500000000'],
    ['gre with Ethernet', createGre({ payload: 'ethernet' }), 0, '00006558'],
    ['vxlan', createVxlan({ network: 0x123456 }), 0, '0800000012345600'],
    ['geneve', createGeneve({ network: 0x123456 }), 0, '0000655812345600'],
    [
      'geneve with a critical option',
      createGeneve({ network: 1, options: [{ optionClass: 0x102, type: 0x80, data: new Uint8Array(4).fill(9) }] }),
      0,
      '02406558000001000102800109090909',
    ],
    ['l2tpv3 over UDP', createL2tpv3({ remoteSession: 9, localSession: 8 }), 0, '000300000000000900000000'],
    [
      'l2tpv3 over IP',
      createL2tpv3({ remoteSession: 9, localSession: 8, encapsulation: 'ip', hasSublayer: false }),
      0,
      '00000009',
    ],
    ['gtpu', createGtpu({ remoteTeid: 0xf0000001, localTeid: 1 }), 0x45, '30ff0028f0000001'],
    [
      'gtpu with a PDU session',
      createGtpu({ remoteTeid: 1, localTeid: 1, pduSession: { isUplink: true, qosFlow: 5 } }),
      0x45,
      '34ff003000000001000000850110' + '0500',
    ],
    [
      'mpls',
      createMpls({
        labels: [
          { label: 16, ttl: 9 },
          { label: 1048575, trafficClass: 7, ttl: 255 },
        ],
      }),
      0x45,
      '00010009ffffffff',
    ],
  ] as const)('of %s', (_name, codec, firstByte, header) => {
    expect(headerOf(codec, firstByte)).toBe(header);
  });
});

describe.each(Object.entries(tunnelKinds))('%s', (_name, create) => {
  const client = create(true);
  const server = create(false);

  it('is unwrapped by the other end, whatever is inside', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 200 }), (payload) => {
        if (client.payload === 'ip') payload[0] = client.name === 'ipip' && client.id === 6 ? 0x60 : 0x45;
        const memory = createMemory(512);
        memory.bytes.set(payload, 100);
        const start = client.wrap(memory, 100, 100 + payload.length);
        expect(100 - start).toBe(client.headerLength);
        expect(server.idAt(memory, start, 100 + payload.length)).toBe(server.id);
        expect(server.unwrap(memory, start, 100 + payload.length)).toBe(100);
      }),
    );
  });

  it('survives random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const memory = new Memory(bytes);
        const start = server.unwrap(memory, 0, bytes.length);
        server.idAt(memory, 0, bytes.length);
        expect(start).toBeLessThanOrEqual(bytes.length);
      }),
    );
  });
});

it('GTP-U answers an echo with its sequence number', () => {
  const memory = createMemory(64);
  const end = writeGtpuEchoRequest(memory, 0, 0x1234);
  const answerEnd = createGtpu({ localTeid: 1, remoteTeid: 1 }).answer?.(memory, 0, end) ?? -1;
  expect(hexOfBytes(memory.bytes, 0, answerEnd)).toBe('3202000600000000123400000e00');
});
