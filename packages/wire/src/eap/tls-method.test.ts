import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutationRuns } from '../testing/mutation-runs.ts';
import { eapCode, writeEap } from './eap-packet.ts';
import { PeapMsChap } from './inner-methods.ts';
import { type EapTls, TlsMethod, tlsEapType } from './tls-method.ts';

/** A channel that changes nothing: what is written is sent, what is received is what was said inside. */
const createChannel = (hello: Uint8Array) => {
  let output: Uint8Array[] = [];
  let plain: Uint8Array[] = [];
  let state: EapTls['state'] = 'handshake';
  const taken = (parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
  const channel: EapTls = {
    get state() {
      return state;
    },
    cause: undefined,
    version: '1.2',
    start: () => void output.push(hello),
    receive: (bytes) => {
      if (state === 'open') plain.push(bytes);
      state = 'open';
    },
    write: (bytes) => void output.push(bytes),
    takeOutput: () => {
      const all = taken(output);
      output = [];
      return all;
    },
    takePlain: () => {
      const all = taken(plain);
      plain = [];
      return all;
    },
    exportKey: (_label, length) => new Uint8Array(length),
    close: () => {},
  };
  return channel;
};

const start = Uint8Array.of(0x20);
const flight = (...bytes: number[]) => Uint8Array.of(0, ...bytes);

describe('a method inside TLS', () => {
  it('sends long flights in parts, one for each acknowledgement', () => {
    const method = new TlsMethod(tlsEapType.tls, createChannel(new Uint8Array(2500).fill(7)));
    const parts = [method.answer(start, 1), method.answer(flight(), 2), method.answer(flight(), 3)];
    expect(parts.map((part) => part?.length)).toEqual([1005, 1001, 501]);
    expect(parts.map((part) => part?.[0])).toEqual([0xc0, 0x40, 0]);
    expect([...(parts[0]?.subarray(1, 5) ?? [])]).toEqual([0, 0, 2500 >> 8, 2500 & 255]);
    expect(method.isDone).toBe(false);
  });

  it('puts the parts of the server together, and acknowledges each', () => {
    const method = new TlsMethod(tlsEapType.tls, createChannel(Uint8Array.of(1)));
    method.answer(start, 1);
    expect(method.answer(Uint8Array.of(0xc0, 0, 0, 0, 4, 1, 2), 2)).toEqual(Uint8Array.of(0));
    expect(method.answer(flight(3, 4), 3)).toEqual(Uint8Array.of(0));
    expect(method.isDone).toBe(true);
  });

  it('does not take the word of a PEAP server that has not proven that it knows the password', () => {
    const inner = new PeapMsChap({ identity: 'user', password: 'secret', random: (length) => new Uint8Array(length) });
    const success = writeEap({ code: eapCode.request, id: 9, type: 33, data: Uint8Array.of(0x80, 3, 0, 2, 0, 1) });
    expect(inner.answer(success, 9)?.at(-1)).toBe(2);
    expect(inner.isDone).toBe(false);
    expect([...(inner.answer(Uint8Array.of(1), 4) ?? [])]).toEqual([1, ...new TextEncoder().encode('user')]);
  });

  it('takes any bytes without harm', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 }), (messages) => {
        const user = { identity: 'user', password: 'secret', random: (length: number) => new Uint8Array(length) };
        const method = new TlsMethod(tlsEapType.peap, createChannel(Uint8Array.of(1)), new PeapMsChap(user));
        for (const message of [start, ...messages]) method.answer(message, 1);
        expect(method.isDone).toBe(false);
      }),
      { numRuns: mutationRuns(300) },
    );
  });
});
