import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { createRandom } from '../../testing/random.ts';
import { BfdSigner, bfdAuthentication } from './authentication.ts';
import { bfdState, parseBfd, writeBfd } from './packet.ts';
import { BfdSession } from './session.ts';

const packet = bytesOfHex('20 c8 03 18 00000001 00000002 000493e0 000493e0 0000c350');

/** Two sessions over a wire that loses packets while it is cut. */
const createPair = (times: { readonly txMs: number; readonly multiplier: number }) => {
  const random = createRandom(7);
  const changes: string[] = [];
  const silences: number[] = [];
  const pair = {
    now: 0,
    isCut: false,
    changes,
    silences,
    sessions: [] as BfdSession[],
    run(ms: number) {
      for (const end = pair.now + ms; pair.now < end; pair.now++)
        for (const one of pair.sessions) one.advance(pair.now);
    },
  };
  for (const side of [0, 1]) {
    const options = { discriminator: side + 1, rxMs: times.txMs, isPassive: side === 1, random, ...times };
    const session = new BfdSession(options, {
      send(bytes) {
        const parsed = parseBfd(bytes, 0, bytes.length);
        if (!pair.isCut && parsed !== undefined) pair.sessions[1 - side]?.receive(parsed, pair.now);
      },
      onChange(isUp, _reason, silentMs) {
        changes.push(`${side} ${isUp ? 'up' : 'down'}`);
        if (!isUp) silences.push(silentMs);
      },
    });
    pair.sessions.push(session);
    session.start(0);
  }
  return pair;
};

describe('BFD', () => {
  it('writes and reads control packets byte for byte', () => {
    const parsed = parseBfd(packet, 0, packet.length);
    expect(parsed).toMatchObject({ state: bfdState.up, multiplier: 3, desiredTxUs: 300_000, requiredEchoUs: 50_000 });
    const plain = bytesOfHex('20 c0 03 18 00000001 00000002 000493e0 000493e0 0000c350');
    expect(hexOfBytes(writeBfd(parseBfd(plain, 0, plain.length) as never))).toBe(hexOfBytes(plain));
  });

  it.each([
    ['another version', 0, 0x40],
    ['a length beyond the packet', 3, 25],
    ['a multiplier of 0', 2, 0],
    ['the multipoint bit', 1, 0xc1],
    ['authentication that is not agreed on', 1, 0xc4],
  ])('discards packets with %s', (_name, at, value) => {
    const bytes = packet.slice();
    bytes[at] = value;
    expect(parseBfd(bytes, 0, bytes.length)).toBeUndefined();
  });

  it('comes up and sends at the agreed pace, with jitter', () => {
    const pair = createPair({ txMs: 50, multiplier: 3 });
    pair.run(2000);
    expect(pair.sessions.every(({ isUp }) => isUp)).toBe(true);
    const before = pair.sessions[0]?.counters.tx as number;
    pair.run(10_000);
    const sent = (pair.sessions[0]?.counters.tx as number) - before;
    expect(sent).toBeGreaterThan(10_000 / 50);
    expect(sent).toBeLessThan(10_000 / 37);
  });

  it('knows the other end of a path beforehand, also after it was silent (RFC 5884)', () => {
    const sent: number[] = [];
    const options = { discriminator: 1, txMs: 10, rxMs: 10, multiplier: 3, isPassive: false, random: () => 0 };
    const session = new BfdSession(
      { ...options, remoteDiscriminator: 9 },
      {
        send: (bytes) => sent.push(parseBfd(bytes, 0, bytes.length)?.yourDiscriminator as number),
        onChange() {},
      },
    );
    session.start(0);
    session.advance(0);
    const up = { ...parseBfd(packet, 0, packet.length), state: bfdState.init, isPoll: false, isFinal: false };
    session.receive({ ...up, myDiscriminator: 9, yourDiscriminator: 1, desiredTxUs: 10_000 } as never, 1);
    expect(session.isUp).toBe(true);
    session.advance(1000);
    expect(session.isUp).toBe(false);
    expect(new Set(sent)).toEqual(new Set([9]));
  });

  it('notices silence within the detection time and recovers', () => {
    const pair = createPair({ txMs: 10, multiplier: 3 });
    pair.run(2000);
    pair.isCut = true;
    pair.run(100);
    expect(pair.changes.toSorted()).toEqual(['0 down', '0 up', '1 down', '1 up']);
    for (const silence of pair.silences) expect(silence).toBeLessThanOrEqual(31);
    pair.isCut = false;
    pair.run(5000);
    expect(pair.sessions.every(({ isUp }) => isUp)).toBe(true);
    expect(pair.sessions[0]?.lastError).toBe('control detection time expired');
  });

  it('goes down when the neighbour is taken out of service', () => {
    const pair = createPair({ txMs: 100, multiplier: 3 });
    pair.run(2000);
    pair.sessions[0]?.stop();
    expect(pair.sessions[1]?.lastError).toBe('neighbour is administratively down');
  });

  const kinds = Object.keys(bfdAuthentication) as (keyof typeof bfdAuthentication)[];
  const signerOf = (kind: (typeof kinds)[number], key: string) =>
    new BfdSigner({
      ...{ kind, keyId: 3, key: new TextEncoder().encode(key), multiplier: 3, random: () => 0.5 },
      hash: (bytes) =>
        createHash(kind.endsWith('sha1') ? 'sha1' : 'md5')
          .update(bytes)
          .digest(),
    });
  const plain = bytesOfHex('20 c0 03 18 00000001 00000002 000493e0 000493e0 0000c350');

  it.each(kinds)('signs packets with %s and refuses those of other keys and from the past', (kind) => {
    const [ours, theirs, stranger] = [signerOf(kind, 'secret'), signerOf(kind, 'secret'), signerOf(kind, 'public')];
    const accepts = (bytes: Uint8Array, now = 0) =>
      // Received bytes are Buffers, parts of which share their memory.
      theirs.verify(Buffer.from(bytes), 0, bytes.length, { now, forgetMs: 1000 }) &&
      parseBfd(bytes, 0, bytes.length, true) !== undefined;
    const first = ours.sign(plain);
    expect(accepts(first)).toBe(true);
    expect(accepts(ours.sign(plain))).toBe(true);
    expect(accepts(stranger.sign(plain))).toBe(false);
    expect(parseBfd(first, 0, first.length)).toBeUndefined();
    // A repeated packet counts only where numbers are not changed with each.
    expect(accepts(first)).toBe(!kind.startsWith('meticulous'));
    expect(accepts(first, 2000)).toBe(true);
    const changed = first.slice();
    changed[20] = 1;
    expect(accepts(changed, 4000)).toBe(kind === 'simple');
    expect(parseBfd(plain, 0, plain.length, true)).toBeUndefined();
  });

  it('reads changed packets with authentication without failure', () => {
    const signed = kinds.map((kind) => signerOf(kind, 'secret').sign(plain));
    fc.assert(
      fc.property(
        fc.nat({ max: kinds.length - 1 }),
        fc.array(fc.tuple(fc.nat({ max: 51 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 }),
        fc.nat({ max: 52 }),
        (which, changes, end) => {
          const bytes = (signed[which] as Uint8Array).slice();
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          const length = Math.min(bytes.length, end);
          if (parseBfd(bytes, 0, length, true) !== undefined)
            signerOf(kinds[which] as (typeof kinds)[number], 'secret').verify(bytes, 0, length, {
              now: 0,
              forgetMs: 0,
            });
        },
      ),
      { numRuns: mutationRuns(5000) },
    );
  });

  it('reads changed packets without failure', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 255 })), { maxLength: 8 }), (changes) => {
        const bytes = packet.slice();
        for (const [at, value] of changes) bytes[at] = value;
        parseBfd(bytes, 0, bytes.length);
      }),
      { numRuns: mutationRuns(5000) },
    );
  });
});

/** Two sessions over a wire; echoes of the first go to the neighbour and back while it forwards. */
const createWatched = (own: { readonly echoMs?: number; readonly isDemand?: boolean }) => {
  const random = createRandom(9);
  const wire = { now: 0, isCut: false, forwards: true, sent: [0, 0], reasons: [] as string[] };
  const sessions: BfdSession[] = [];
  for (const side of [0, 1]) {
    const times = { txMs: 50, rxMs: 50, multiplier: 3, isPassive: false, random };
    const options = { discriminator: side + 1, ...times, ...(side === 0 ? own : { echoMs: 20 }) };
    sessions[side] = new BfdSession(options, {
      send(bytes) {
        wire.sent[side] = (wire.sent[side] as number) + 1;
        const parsed = parseBfd(bytes, 0, bytes.length);
        if (!wire.isCut && parsed !== undefined) sessions[1 - side]?.receive(parsed, wire.now);
      },
      sendEcho(bytes) {
        if (wire.forwards || side === 1) sessions[side]?.receiveEcho(bytes, wire.now);
      },
      onChange(isUp, reason) {
        if (!isUp && side === 0) wire.reasons.push(reason);
      },
    });
  }
  for (const session of sessions) session.start(0);
  const run = (ms: number) => {
    for (const end = wire.now + ms; wire.now < end; wire.now++) for (const one of sessions) one.advance(wire.now);
  };
  return { wire, sessions: sessions as [BfdSession, BfdSession], run };
};

describe('echo and demand mode of BFD', () => {
  it('send echoes at the pace of the slower end and notice that none come back', () => {
    const { wire, sessions, run } = createWatched({ echoMs: 10 });
    run(3000);
    const [{ counters }] = sessions;
    expect(sessions[0].isUp).toBe(true);
    const before = counters.echoes;
    run(1000);
    expect(counters.echoes - before).toBe(50);
    expect(counters.echoesBack).toBe(counters.echoes);
    wire.forwards = false;
    run(80);
    expect(wire.reasons).toEqual(['echo packets do not come back']);
  });

  it('a neighbour that wants no echoes gets none', () => {
    const { sessions, run } = createWatched({});
    run(3000);
    expect(sessions[1].isUp).toBe(true);
    expect(sessions.map(({ counters }) => counters.echoes)).toEqual([0, 0]);
  });

  it('silence a neighbour in demand mode, poll it, and notice its loss', () => {
    const { wire, sessions, run } = createWatched({ isDemand: true });
    run(3000);
    const before = [...wire.sent] as [number, number];
    run(10_000);
    expect(sessions.map(({ isUp }) => isUp)).toEqual([true, true]);
    // Answers to about ten polls, instead of two hundred packets.
    expect((wire.sent[1] as number) - before[1]).toBeLessThan(15);
    expect((wire.sent[1] as number) - before[1]).toBeGreaterThan(5);
    wire.isCut = true;
    run(1500);
    expect(wire.reasons).toEqual(['control detection time expired']);
  });
});
