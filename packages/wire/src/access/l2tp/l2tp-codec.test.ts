import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { avpError, avpType, challengeResponse, halfValue, hideValue, readAvps, revealValue, writeAvps } from './avp.ts';
import { messageType, readControl, writeControl } from './control-message.ts';
import { DataSequence } from './data-sequence.ts';
import { dataBytes, frameProtocolAt, L2tpHeader, wrapData, writeControlHeader } from './header.ts';

const text = (value: string) => new TextEncoder().encode(value);
const none = new Uint8Array(0);
const secret = text('rushhour');
const vector = Uint8Array.from({ length: 16 }, (_, i) => i);
const key = { secret, vector };
const ids = { tunnelId: 7, sessionId: 0 };
const read = (bytes: Uint8Array, known = none) =>
  readControl(new Memory(bytes), { payload: 12, end: bytes.length, sessionId: 0 }, known);

// RFC 2661 has no values for these: they were computed by its formulas with another implementation of MD5.
describe('hiding (RFC 2661, 4.3)', () => {
  it('masks a value shorter than a block', () => {
    expect(hexOfBytes(hideValue(avpType.proxyAuthName, text('user1@test'), key))).toBe('9f90aab6c9b2d6bf4b804d78');
  });

  it('chains the blocks of a long value with its padding', () => {
    const value = text('a password of more than thirty-two octets');
    expect(hexOfBytes(hideValue(avpType.proxyAuthResponse, value, key, 12))).toBe(
      '135411dd0217eed30c81892efcd22e21015d6c00d6fe970f4ba2b14d991d3bf1' +
        '7520ef48eb10b1c8ac719723ac5365cef33fbd027c439f',
    );
  });

  it('makes 24 bytes of an attribute of 4 with a padding of 12, as the example says', () => {
    expect(6 + hideValue(avpType.callSerialNumber, new Uint8Array(4), key, 12).length).toBe(24);
  });

  it('is undone with the same secret and vector, and with no other', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(60), fc.nat(39), (value, padding, type) => {
        const hidden = hideValue(type, value, key, padding);
        expect(revealValue(type, hidden, key)).toEqual(value);
        const other = revealValue(type, hidden, { secret: text('other'), vector });
        expect(other === undefined || hexOfBytes(other) !== hexOfBytes(value) || value.length === 0).toBe(true);
      }),
    );
  });

  it('needs a random vector before it, and a secret', () => {
    const avps = [
      { type: avpType.messageType, value: halfValue(messageType.iccn) },
      { type: avpType.assignedSessionId, value: halfValue(9) },
    ];
    const hidden = writeAvps(avps, { key, types: new Set([avpType.assignedSessionId]) });
    expect(hexOfBytes(hidden, 0, 14)).toBe('8008' + '00000000' + '000c' + '8016' + '00000024');
    const reading = readAvps(new Memory(hidden), 0, hidden.length, secret);
    expect(reading?.error).toBeUndefined();
    expect(reading?.avps.get(avpType.assignedSessionId)).toEqual(halfValue(9));
    expect(readAvps(new Memory(hidden), 0, hidden.length, none)?.error?.code).toBe(avpError.value);
    const without = new Uint8Array([...hidden.subarray(0, 8), ...hidden.subarray(30)]);
    expect(readAvps(new Memory(without), 0, without.length, secret)?.error?.code).toBe(avpError.value);
  });
});

it('answers the challenge of a tunnel with the type of the message as identifier (RFC 2661, 4.4.3)', () => {
  const challenge = Uint8Array.from({ length: 16 }, (_, i) => 16 + i);
  expect(hexOfBytes(challengeResponse(messageType.sccrp, secret, challenge))).toBe('073fc5c480f3c4b1eaf7e72b5b063fee');
  expect(hexOfBytes(challengeResponse(messageType.scccn, secret, challenge))).toBe('52b662dd730a37b5a8197750289b90e1');
});

describe('control messages', () => {
  const start = [
    { type: avpType.protocolVersion, value: halfValue(0x0100) },
    { type: avpType.framingCapabilities, value: Uint8Array.of(0, 0, 0, 3) },
    { type: avpType.hostName, value: text('lac') },
    { type: avpType.assignedTunnelId, value: halfValue(5) },
  ];

  it('are written byte for byte as RFC 2661 draws them', () => {
    expect(hexOfBytes(writeControl(messageType.sccrq, { tunnelId: 0, sessionId: 0 }, start))).toBe(
      'c802' +
        '0037' +
        '0000' +
        '0000' +
        '0000' +
        '0000' +
        ('8008' + '0000' + '0000' + '0001') +
        ('8008' + '0000' + '0002' + '0100') +
        ('800a' + '0000' + '0003' + '00000003') +
        ('8009' + '0000' + '0007' + '6c6163') +
        ('8008' + '0000' + '0009' + '0005'),
    );
    const memory = createMemory(12);
    writeControlHeader(memory, 0, 12, { tunnelId: 1, sessionId: 0, ns: 1, nr: 2 });
    expect(hexOfBytes(memory.bytes)).toBe('c802000c' + '00010000' + '00010002');
  });

  it('are complete or have an error', () => {
    expect(read(writeControl(messageType.sccrq, ids, start))?.error).toBeUndefined();
    for (const missing of start) {
      const rest = start.filter((avp) => avp !== missing);
      const message = read(writeControl(messageType.sccrq, ids, rest));
      expect(message?.error).toEqual({ code: avpError.value, attribute: missing.type });
    }
    const zero = [...start.slice(0, 3), { type: avpType.assignedTunnelId, value: halfValue(0) }];
    expect(read(writeControl(messageType.sccrq, ids, zero))?.error?.attribute).toBe(avpType.assignedTunnelId);
  });

  it.each([
    ['unknown and not mandatory', '0008' + '0000' + '03e7' + '0001', undefined],
    ['unknown and mandatory', '8008' + '0000' + '03e7' + '0001', avpError.unknownMandatory],
    ['of a vendor and mandatory', '8008' + '0009' + '0001' + '0001', avpError.unknownMandatory],
    ['of a vendor and not mandatory', '0008' + '0009' + '0001' + '0001', undefined],
    ['with a reserved bit, which makes it unknown', '8408' + '0000' + '000a' + '0001', avpError.unknownMandatory],
    ['of a wrong length and mandatory', '8009' + '0000' + '000a' + '000100', avpError.length],
    ['of a wrong length and not mandatory', '0008' + '0000' + '0026' + '0001', undefined],
    ['that must not be hidden', 'c008' + '0000' + '000a' + '0001', avpError.value],
  ])('judge an attribute that is %s', (_name, avp, code) => {
    const bytes = new Uint8Array([...writeControl(messageType.sccrq, ids, start), ...bytesOfHex(avp)]);
    expect(read(bytes)?.error?.code).toBe(code);
  });

  it('begin with their type, and are not read when an attribute does not fit', () => {
    const bytes = writeControl(messageType.hello, ids, []);
    expect(read(bytes)).toMatchObject({ type: messageType.hello, isUnknown: false, isMandatory: true });
    for (const avp of ['0005 0000 0000', '8000 0000 0000', '8010 0000 0000 0001', '80'])
      expect(read(new Uint8Array([...bytes, ...bytesOfHex(avp)]))).toBeUndefined();
    const typeSecond = new Uint8Array([
      ...bytes.subarray(0, 12),
      ...bytesOfHex('8008 0000 000a 0001'),
      ...bytes.subarray(12),
    ]);
    expect(read(typeSecond)).toBeUndefined();
  });
});

describe('headers', () => {
  it('of data have a length, numbers and an offset, each if it is wanted', () => {
    const header = new L2tpHeader();
    const choice = fc.record({
      tunnelId: fc.nat(65_535),
      sessionId: fc.nat(65_535),
      hasLength: fc.boolean(),
      ns: fc.integer({ min: -1, max: 65_535 }),
      offset: fc.integer({ min: -1, max: 40 }),
      isPriority: fc.boolean(),
    });
    fc.assert(
      fc.property(choice, fc.uint8Array({ maxLength: 60 }), (fields, packet) => {
        const memory = createMemory(200);
        const at = 100;
        memory.bytes.set(packet, at);
        const end = at + packet.length;
        const start = wrapData(memory, at, end, 0x0021, fields);
        expect(at - start).toBe(dataBytes(fields.hasLength, fields.ns >= 0, fields.offset));
        // Bytes behind the message count only where it has no length.
        expect(header.parse(memory, start, fields.hasLength ? end + 9 : end)).toBe(true);
        const { tunnelId, sessionId, isControl, isSequenced, ns, end: seen } = header;
        expect({ tunnelId, sessionId, isControl, isSequenced, seen }).toEqual({
          ...{ tunnelId: fields.tunnelId, sessionId: fields.sessionId, isControl: false },
          ...{ isSequenced: fields.ns >= 0, seen: end },
        });
        if (fields.ns >= 0) expect(ns).toBe(fields.ns);
        const protocolAt = frameProtocolAt(memory, header.payload, header.end);
        expect([memory.view.getUint16(protocolAt), protocolAt + 2]).toEqual([0x0021, at]);
      }),
    );
  });

  it.each([
    ['of another version', 'c803000c 00010000 00010002', false],
    ['of control without numbers', 'c002 0008 0001 0000', false],
    ['of control without a length', '8802 0001 0000 0000 0000', false],
    ['of control with an offset', 'ca02000e 00010000 00010002 0000', false],
    ['with a length beyond the datagram', 'c802000d 00010000 00010002', false],
    ['with an offset beyond the datagram', '0202 0001 0002 0005 00', false],
    ['cut off', '4802 0010 0001', false],
    ['with reserved bits', '34f2 0001 0002 ff03', true],
  ])('%s', (_name, hex, isValid) => {
    const bytes = bytesOfHex(hex);
    expect(new L2tpHeader().parse(new Memory(bytes), 0, bytes.length)).toBe(isValid);
  });
});

describe('numbers of data', () => {
  it('drop what is late, count gaps, and follow a peer that begins anew', () => {
    const sequence = new DataSequence();
    expect([sequence.take(), sequence.take()]).toEqual([0, 1]);
    expect([0, 1, 4, 2, 3, 5, 5].map((number) => sequence.accept(number))).toEqual([
      ...[true, true, true, false, false, true, false],
    ]);
    expect(sequence.counters).toEqual({ lost: 2, late: 3 });
    sequence.accept(30_000);
    const accepted = Array.from({ length: 10 }, (_, i) => sequence.accept(10 + i));
    expect(accepted).toEqual([...new Array(7).fill(false), true, true, true]);
  });

  it('wrap around', () => {
    const sequence = new DataSequence();
    for (let i = 0; i < 70_000; i++) sequence.accept(sequence.take());
    expect(sequence.counters).toEqual({ lost: 0, late: 0 });
  });
});
