import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { wireGuardCrypto as crypto } from '../../../agent/src/stack/tunnels/wireguard-crypto.ts';
import { bytesOfHex, hexOfBytes } from '../bytes/memory.ts';
import { blake2s, hmacBlake2s } from './blake2s.ts';
import { xOpen, xSeal } from './crypto.ts';
import { WireGuardDevice } from './device.ts';
import { messageType } from './handshake.ts';
import type { WireGuardPeer } from './peer.ts';

const hex = (bytes: Uint8Array): string => hexOfBytes(bytes, 0, bytes.length);
const count = (length: number) => Uint8Array.from({ length }, (_, i) => i);

describe('BLAKE2s', () => {
  it('equals OpenSSL for all lengths around its blocks', () => {
    for (const length of [0, 1, 3, 63, 64, 65, 127, 128, 129, 1000]) {
      expect(hex(blake2s([count(length)]))).toBe(createHash('blake2s256').update(count(length)).digest('hex'));
    }
  });

  it('has keys and shorter results (vectors of the reference implementation)', () => {
    const key = count(32);
    expect(hex(blake2s([], { key }))).toBe('48a8997da407876b3d79c0d92325ad3b89cbb754d86ab71aee047ad345fd2c49');
    expect(hex(blake2s([count(1)], { key }))).toBe('40d15fee7c328830166ac3f918650f807e7e01e177258cdc0a39b11f598066f1');
    expect(hex(blake2s([count(64)], { key, length: 32 }))).toBe(
      '8975b0577fd35566d750b362b0897a26c399136df07bababbde6203ff2954ed4',
    );
  });

  it('makes an HMAC of blocks of 64 bytes', () => {
    const key = new Uint8Array(32).fill(7);
    const pad = (byte: number) => Uint8Array.from({ length: 64 }, (_, i) => (key[i] ?? 0) ^ byte);
    const inner = createHash('blake2s256').update(pad(0x36)).update('text').digest();
    const outer = createHash('blake2s256').update(pad(0x5c)).update(inner).digest('hex');
    expect(hex(hmacBlake2s(key, new TextEncoder().encode('text')))).toBe(outer);
  });
});

it('XChaCha20-Poly1305 has the result of the vector of draft-irtf-cfrg-xchacha', () => {
  const plain = new TextEncoder().encode(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  );
  const options = {
    key: bytesOfHex('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f'),
    nonce: bytesOfHex('404142434445464748494a4b4c4d4e4f5051525354555657'),
    additional: bytesOfHex('50515253c0c1c2c3c4c5c6c7'),
  };
  const sealed = xSeal(crypto, plain, options);
  expect(hex(sealed)).toContain('bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb');
  expect(hex(sealed).slice(-32)).toBe('c0875924c1c7987947deafd8780acf49');
  expect(xOpen(crypto, sealed, options)).toEqual(plain);
});

/** Two devices whose messages cross at once, unless they are held back. */
const createPair = ({ max, held = false }: { max?: number; held?: boolean } = {}) => {
  const keys = [crypto.random(32), crypto.random(32)] as const;
  const presharedKey = crypto.random(32);
  const sent: { from: number; message: Uint8Array; endpoint: Int32Array }[] = [];
  const sessions: number[] = [];
  const endpointOf = (from: number) =>
    Int32Array.of(0, 0, 0xffff, 10 + from, 0, 0, 0xffff, 11 - from, (51820 << 16) | 51820);
  let wall = Date.parse('2026-01-01');
  const deliver = (from: number, message: Uint8Array, endpoint = endpointOf(1 - from)) => {
    const found = devices[1 - from]?.receive(endpoint, 0, message.slice());
    return found;
  };
  const devices: WireGuardDevice[] = keys.map(
    (privateKey, from) =>
      new WireGuardDevice({
        crypto,
        privateKey,
        nowMs: 0,
        wallMs: () => wall,
        ...(max !== undefined && { maxHandshakesPerSecond: max }),
        transmit(endpoint, _path, message) {
          sent.push({ from, message, endpoint: endpoint.slice() });
          if (!held) deliver(from, message);
        },
        sendKeepalive: (peer) => send(from, peer, new Uint8Array(0)),
        onSession: () => sessions.push(from),
      }),
  );
  const peers = devices.map((device, from) =>
    device.addPeer({
      keys: { publicKey: crypto.publicKeyOf(keys[1 - from] as Uint8Array), presharedKey },
      endpoint: endpointOf(from),
      path: 0,
      keepaliveSec: 0,
    }),
  ) as [WireGuardPeer, WireGuardPeer];
  const send = (from: number, peer: WireGuardPeer, plain: Uint8Array): Uint8Array | undefined => {
    const session = peer.outgoing();
    if (session === undefined) return undefined;
    const message = new Uint8Array(16 + plain.length + 16);
    const view = new DataView(message.buffer);
    message.set(plain, 16);
    view.setUint32(0, messageType.data, true);
    view.setUint32(4, session.remoteIndex, true);
    view.setUint32(8, session.seal(message, 16, 16 + plain.length), true);
    peer.noteSent(plain.length > 0);
    sent.push({ from, message, endpoint: peer.endpoint.slice() });
    if (!held) deliver(from, message);
    return message;
  };
  const advance = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      wall += 100;
      for (const device of devices) device.advance(device.nowMs + 100);
    }
  };
  return { devices, peers, sent, sessions, deliver, send, advance };
};

describe('two ends', () => {
  const hello = new TextEncoder().encode('hello, world 16b');

  it('agree on keys by one exchange of messages, and the initiator confirms them', () => {
    const { peers, sent, sessions, send } = createPair();
    expect(send(0, peers[0], hello)).toBeUndefined();
    expect(sent.map(({ message }) => [message[0], message.length])).toEqual([
      [1, 148],
      [2, 92],
      [4, 32],
    ]);
    expect(sessions).toEqual([0, 1]);
    const message = send(0, peers[0], hello);
    expect(message?.subarray(16, 32)).not.toEqual(hello);
    expect(peers[1].current?.remoteIndex).toBe(peers[0].current?.localIndex);
  });

  it('decrypt what the other has sent, once, in any order, and nothing that was changed', () => {
    const { peers, devices, sent, deliver, send } = createPair();
    send(0, peers[0], hello);
    const messages = Array.from({ length: 20 }, () => send(1, peers[1], hello) as Uint8Array);
    const pair = createPair({ held: false });
    pair.send(0, pair.peers[0], hello);
    const session = pair.peers[0].current;
    const sealed = Array.from({ length: 3000 }, (_, i) => {
      const bytes = new Uint8Array(48);
      bytes.set(hello, 16);
      const view = new DataView(bytes.buffer);
      view.setUint32(0, 4, true);
      view.setUint32(4, session?.remoteIndex ?? 0, true);
      view.setUint32(8, session?.seal(bytes, 16, 32) ?? 0, true);
      return { i, bytes };
    });
    const shuffled = sealed.slice(0, 1000).sort((a, b) => ((a.i * 7919) % 1000) - ((b.i * 7919) % 1000));
    const accepted = shuffled.filter(({ bytes }) => pair.deliver(0, bytes) !== undefined);
    expect(accepted).toHaveLength(1000);
    expect(shuffled.filter(({ bytes }) => pair.deliver(0, bytes) !== undefined)).toEqual([]);
    expect(pair.deliver(0, (sealed[2999] as { bytes: Uint8Array }).bytes)).toBeDefined();
    // Too old to know whether it was received before.
    expect(pair.deliver(0, (sealed[500] as { bytes: Uint8Array }).bytes)).toBeUndefined();
    const changed = (sealed[2000] as { bytes: Uint8Array }).bytes.slice();
    changed[20] = (changed[20] as number) ^ 1;
    expect(pair.deliver(0, changed)).toBeUndefined();
    expect(deliver(1, messages[0] as Uint8Array)).toBeUndefined();
    expect(devices[0]?.counters.replayed).toBe(1);
    expect(sent.length).toBeGreaterThan(20);
  });

  it('renew their keys after two minutes and go on with the old ones meanwhile', () => {
    const { peers, sessions, send, advance } = createPair();
    send(0, peers[0], hello);
    send(0, peers[0], hello);
    const first = peers[0].current;
    advance(119_000);
    expect(send(0, peers[0], hello)).toBeDefined();
    expect(peers[0].current).toBe(first);
    advance(2000);
    expect(send(0, peers[0], hello)).toBeDefined();
    expect(peers[0].current).not.toBe(first);
    expect(sessions).toEqual([0, 1, 0, 1]);
    advance(181_000);
    expect(send(1, peers[1], hello)).toBeUndefined();
    expect(peers[1].current?.isInitiator).toBe(true);
  });

  it('repeat a lost initiation and give up after 90 seconds', () => {
    const { peers, sent, advance, send } = createPair({ held: true });
    send(0, peers[0], hello);
    advance(12_000);
    expect(sent.length).toBe(3);
    advance(100_000);
    const tries = sent.length;
    expect(tries).toBeGreaterThan(15);
    expect(tries).toBeLessThan(20);
    expect(peers[0].isHandshaking).toBe(false);
  });

  it('follow a peer to another address, and refuse a replayed initiation', () => {
    const { peers, devices, sent, deliver, send } = createPair();
    send(0, peers[0], hello);
    const moved = Int32Array.of(0, 0, 0xffff, 11, 0, 0, 0xffff, 99, (51820 << 16) | 4444);
    const session = peers[0].current;
    const bytes = new Uint8Array(48);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, 4, true);
    view.setUint32(4, session?.remoteIndex ?? 0, true);
    view.setUint32(8, session?.seal(bytes, 16, 32) ?? 0, true);
    expect(deliver(0, bytes, moved)).toBeDefined();
    expect([peers[1].endpoint[7], (peers[1].endpoint[8] as number) & 0xffff]).toEqual([99, 4444]);
    expect(deliver(0, (sent[0] as { message: Uint8Array }).message)).toBeUndefined();
    expect(devices[1]?.counters.replayed).toBe(1);
  });

  it('ask for a cookie when they are busy, and take an initiation that has it', () => {
    const { peers, devices, sent, advance, send } = createPair({ max: 0 });
    send(0, peers[0], hello);
    expect(sent.map(({ message }) => message[0])).toEqual([1, 3]);
    expect(peers[0].current).toBeUndefined();
    advance(6000);
    expect(sent.map(({ message }) => message[0])).toEqual([1, 3, 1, 2, 4]);
    expect(devices[1]?.counters.cookiesSent).toBe(1);
  });

  it('send a keepalive to answer data within ten seconds', () => {
    const { peers, sent, advance, send } = createPair();
    send(0, peers[0], hello);
    send(0, peers[0], hello);
    const before = sent.length;
    advance(11_000);
    expect(sent.slice(before).map(({ from, message }) => [from, message.length])).toEqual([[1, 32]]);
  });
});
