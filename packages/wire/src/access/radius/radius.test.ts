import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hmacMd5 } from '../../bytes/hmac-md5.ts';
import { md5 } from '../../bytes/md5.ts';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { createEnds, ip4, pppoeClientOptions, pppoeServerOptions } from '../../testing/access-ends.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { sessionState } from '../session-table.ts';
import { RadiusClient, type RadiusOutcome } from './client.ts';
import {
  findNumber,
  hidePassword,
  isGenuine,
  joinBytes,
  numberAttribute,
  type RadiusAttribute,
  radiusAttribute,
  radiusCode,
  readRadius,
  textAttribute,
} from './message.ts';

const text = (value: string) => new TextEncoder().encode(value);
const secret = text('xyzzy5461');

/** An answer of a server that knows the secret. */
const answerTo = (request: Uint8Array, code: number, attributes: readonly RadiusAttribute[] = []): Uint8Array => {
  const body = attributes.map(({ type, value }) => joinBytes([Uint8Array.of(type, value.length + 2), value]));
  const bytes = joinBytes([request.subarray(0, 20), ...body]);
  bytes[0] = code;
  new DataView(bytes.buffer).setUint16(2, bytes.length);
  bytes.set(md5(joinBytes([bytes, secret])), 4);
  return bytes;
};

describe('messages of RADIUS', () => {
  it('are those of the examples of RFC 2865', () => {
    // Section 7.1: a user nemo with the password arctangent.
    const authenticator = bytesOfHex('0f403f9473978057bd83d5cb98f4227a');
    expect(hexOfBytes(hidePassword(text('arctangent'), secret, authenticator))).toBe(
      '0dbe708d93d413ce3196e43f782a0aee',
    );
    const accept = bytesOfHex('0200002686fe220e7624ba2a1005f6bf9b55e0b20606000000010f06000000000e06c0a80103');
    expect(isGenuine(accept, authenticator, secret)).toBe(true);
    expect(isGenuine(accept, authenticator, text('other'))).toBe(false);
    expect(findNumber(readRadius(accept)?.attributes ?? [], 14)).toBe(0xc0a80103);
    // RFC 2202, first case.
    expect(hexOfBytes(hmacMd5(new Uint8Array(16).fill(0x0b), text('Hi There')))).toBe(
      '9294727a3638bb1c13f48ef8158bfc9d',
    );
  });

  it('that are mutated are never taken for an answer and never fail', () => {
    const asked = new Uint8Array(16).fill(7);
    const request = joinBytes([new Uint8Array(4), asked]);
    const good = answerTo(request, radiusCode.accessAccept, [
      textAttribute(radiusAttribute.replyMessage, 'welcome'),
      numberAttribute(radiusAttribute.framedAddress, ip4('10.1.2.3')),
      textAttribute(radiusAttribute.framedPool, 'gold'),
    ]);
    expect(isGenuine(good, asked, secret)).toBe(true);
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(good.length), (at, change, cut) => {
        const bytes = good.slice(0, cut % 3 === 0 ? cut : good.length);
        if (at < bytes.length) bytes[at] = (bytes[at] as number) ^ change;
        expect(isGenuine(bytes, asked, secret)).toBe(false);
      }),
      { numRuns: mutationRuns(20_000) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        bytes.set([2, 0, 0, bytes.length].slice(0, bytes.length));
        readRadius(bytes);
      }),
      { numRuns: mutationRuns(20_000) },
    );
  });
});

describe('a client of RADIUS', () => {
  const create = (attempts = 3) => {
    const sent: { socket: number; isAccounting: boolean; bytes: Uint8Array }[] = [];
    const client = new RadiusClient(
      { random: () => 0.5, send: (socket, isAccounting, bytes) => sent.push({ socket, isAccounting, bytes }) },
      { secret, timeoutMs: 1000, attempts },
    );
    return { sent, client };
  };

  it('asks again, and gives up when no answer comes', () => {
    const { sent, client } = create();
    const outcomes: RadiusOutcome[] = [];
    client.authenticate([], (outcome) => outcomes.push(outcome));
    for (let ms = 0; ms <= 3000; ms += 100) client.advance(ms);
    expect([sent.length, client.counters.timeouts, client.pending, outcomes]).toEqual([3, 3, 0, ['no answer']]);
  });

  it('has more requests under way than one socket has numbers for, and queues the rest', () => {
    const { sent, client } = create();
    const outcomes: RadiusOutcome[] = [];
    for (let i = 0; i < 5000; i++) client.authenticate([], (outcome) => outcomes.push(outcome));
    expect(sent.length).toBe(4096);
    expect(new Set(sent.map(({ socket, bytes }) => `${socket} ${bytes[1]}`)).size).toBe(4096);
    for (let i = 0; i < sent.length; i++) {
      const { socket, bytes } = sent[i] as (typeof sent)[number];
      client.receive(socket, answerTo(bytes, radiusCode.accessAccept));
    }
    expect(outcomes).toEqual(Array(5000).fill('accept'));
    expect(client.pending).toBe(0);
  });
});

describe('a concentrator with RADIUS', () => {
  const radius = { nasIdentifier: 'bng', portName: 'eth1', accounting: true, interimSec: 2 };

  const createPair = (answer: (attributes: readonly RadiusAttribute[]) => RadiusAttribute[] | 'reject' | 'silence') => {
    const accounts: (readonly RadiusAttribute[])[] = [];
    const ends = createEnds(
      {
        ...{ count: 5, access: { pppoe: pppoeClientOptions } },
        life: { holdMs: 0, reconnect: false, reconnectDelayMs: 0, maxAttempts: 1 },
      },
      {
        pppoe: {
          ...pppoeServerOptions,
          pools: [...pppoeServerOptions.pools, { name: 'gold', start: ip4('10.7.0.1'), size: 3 }],
          radius,
        },
        radius: {
          ...{ secret, timeoutMs: 1000, attempts: 2 },
          send: (socket, isAccounting, bytes) => {
            const attributes = readRadius(bytes)?.attributes ?? [];
            if (isAccounting) accounts.push(attributes);
            const given = isAccounting ? [] : answer(attributes);
            const { accessAccept, accessReject, accountingResponse } = radiusCode;
            const code = given === 'reject' ? accessReject : isAccounting ? accountingResponse : accessAccept;
            const list = typeof given === 'string' ? [] : given;
            if (given !== 'silence')
              queueMicrotask(() => ends.gateway.radius?.receive(socket, answerTo(bytes, code, list)));
          },
        },
      },
    );
    ends.client.subscribers.begin();
    const { table } = ends.client.subscribers;
    return { ...ends, table, accounts };
  };
  const run = async ({ lab }: ReturnType<typeof createPair>, ms: number) => {
    for (let at = 0; at < ms; at += 50) {
      lab.run(50);
      await Promise.resolve();
    }
  };
  const kinds = (accounts: (readonly RadiusAttribute[])[]) =>
    accounts.map((attributes) => findNumber(attributes, radiusAttribute.acctStatusType));

  it('hands out the addresses and pools that the server says, and keeps account until the time is over', async () => {
    const names: string[] = [];
    const pair = createPair((attributes) => {
      const name = new TextDecoder().decode(attributes.find(({ type }) => type === radiusAttribute.userName)?.value);
      names.push(name);
      return name === 'user1@test'
        ? [numberAttribute(radiusAttribute.framedAddress, ip4('172.16.9.9'))]
        : [textAttribute(radiusAttribute.framedPool, 'gold'), numberAttribute(radiusAttribute.sessionTimeout, 7)];
    });
    await run(pair, 5000);
    const addresses = Array.from({ length: 5 }, (_, i) => pair.client.pppoe?.ppp.ipv4.address[i]);
    expect(addresses[0]).toBe(ip4('172.16.9.9'));
    for (const last of [1, 2, 3]) expect(addresses).toContain(ip4(`10.7.0.${last}`));
    // The pool has three addresses for four.
    expect(pair.table.counts[sessionState.up]).toBe(4);
    expect(kinds(pair.accounts).filter((kind) => kind === 1)).toHaveLength(4);
    await run(pair, 7000);
    expect(pair.table.counts[sessionState.up]).toBe(1);
    const stops = pair.accounts.filter((attributes) => findNumber(attributes, radiusAttribute.acctStatusType) === 2);
    expect(stops.map((attributes) => findNumber(attributes, radiusAttribute.acctTerminateCause))).toEqual([5, 5, 5]);
    expect(kinds(pair.accounts)).toContain(3);
  });

  it.each([
    ['reject', 'authentication: refused'],
    ['silence', 'RADIUS: no answer'],
  ] as const)('ends sessions with the cause when the server answers by %s', async (answer, cause) => {
    const pair = createPair(() => answer);
    await run(pair, 6000);
    expect(pair.table.counts[sessionState.up]).toBe(0);
    expect(pair.gateway.pppoe?.table.causeOf(0)).toBe(cause);
    expect([pair.accounts, pair.gateway.pppoe?.count, pair.gateway.radius?.pending]).toEqual([[], 0, 0]);
  });
});
