import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WebSocketConnection } from './websocket-connection.ts';
import { closeCode, frameBytes, opcode } from './websocket-frame.ts';
import { agreedOf, answerUpgrade, parseUpgradeHead, upgradeHeaders } from './websocket-handshake.ts';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const utf8 = (text: string) => new TextEncoder().encode(text);

const sideOf = (isServer: boolean, more: object = {}) => {
  const written: Uint8Array[] = [];
  const messages: string[] = [];
  const closings: number[] = [];
  const pongs: string[] = [];
  const connection = new WebSocketConnection(
    {
      isServer,
      write: (bytes) => written.push(new Uint8Array(bytes)),
      createMask: () => 0x37fa213d,
      maxMessageBytes: 100_000,
      compression: undefined,
      fragmentBytes: 0,
      ...more,
    },
    {
      onMessage: (bytes, isText) => messages.push(`${isText ? 't' : 'b'}:${hexOf(bytes)}`),
      onPong: (payload) => pongs.push(hexOf(payload)),
      onClosing: (code) => closings.push(code),
    },
  );
  const feed = (bytes: Uint8Array) => connection.feed(bytes, 0, bytes.length)?.code;
  return { connection, written, messages, closings, pongs, feed };
};

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

describe('WebSocket frames', () => {
  it('are those of RFC 6455, section 5.7', () => {
    expect(hexOf(frameBytes(opcode.text, utf8('Hello')))).toBe('810548656c6c6f');
    expect(hexOf(frameBytes(opcode.text, utf8('Hello'), { mask: 0x37fa213d }))).toBe('818537fa213d7f9f4d5158');
    expect(hexOf(frameBytes(opcode.binary, new Uint8Array(256)).subarray(0, 4))).toBe('827e0100');
    expect(hexOf(frameBytes(opcode.binary, new Uint8Array(65_536)).subarray(0, 10))).toBe('827f0000000000010000');
    const { feed, messages, written } = sideOf(false);
    feed(hex('01 03 48656c 89 05 48656c6c6f 80 02 6c6f'));
    expect(messages).toEqual([`t:${hexOf(utf8('Hello'))}`]);
    expect(hexOf(written[0] as Uint8Array)).toBe('8a8537fa213d7f9f4d5158');
  });

  it.each([
    ['a reserved bit', 'a180 00000000', closeCode.protocolError],
    ['an unknown kind', '8380 00000000', closeCode.protocolError],
    ['a frame without mask', '8100', closeCode.protocolError],
    ['a ping in pieces', '0980 00000000', closeCode.protocolError],
    ['a long ping', '89fe 007e 00000000', closeCode.protocolError],
    ['a compressed frame without agreement', 'c180 00000000', closeCode.protocolError],
    ['a continuation of nothing', '8080 00000000', closeCode.protocolError],
    ['a message inside another', '0180 00000000 8180 00000000', closeCode.protocolError],
    ['a length that is not the shortest', '81fe 0005 00000000', closeCode.protocolError],
    ['a message over the limit', '82ff 0000000000020000 00000000', closeCode.tooBig],
    ['a text that is not UTF-8', '8182 00000000 c328', closeCode.invalidPayload],
    ['half of a close code', '8881 00000000 03', closeCode.protocolError],
    ['a close code that may not be sent', '8882 00000000 03ed', closeCode.protocolError],
  ])('close the connection: %s', (_, bytes, code) => {
    const { feed, closings, messages, written } = sideOf(true);
    expect(feed(hex(bytes))).toBe(code);
    expect(closings).toEqual([code]);
    expect(messages).toEqual([]);
    expect(hexOf(written.at(-1) as Uint8Array)).toBe(`8802${code.toString(16).padStart(4, '0')}`);
  });

  it('carry any messages in any pieces', () => {
    const message = fc.record({ bytes: fc.uint8Array({ maxLength: 70_000, size: 'max' }), isText: fc.constant(false) });
    const run = (messages: { bytes: Uint8Array }[], fragmentBytes: number, step: number) => {
      const sender = sideOf(false, { fragmentBytes });
      const receiver = sideOf(true);
      for (const { bytes } of messages) sender.connection.send(bytes, false);
      const stream = Buffer.concat(sender.written);
      for (let at = 0; at < stream.length; at += step) {
        expect(receiver.connection.feed(stream, at, Math.min(stream.length, at + step))).toBe(undefined);
      }
      expect(receiver.messages).toEqual(messages.map(({ bytes }) => `b:${hexOf(bytes)}`));
    };
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 4 }),
        fc.constantFrom(0, 1000, 65_535),
        fc.integer({ min: 500, max: 9000 }),
        run,
      ),
      { numRuns: 30 },
    );
  });

  it('never throw, whatever comes', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }), (isServer, chunks) => {
        const { feed, closings } = sideOf(isServer);
        for (const chunk of chunks) feed(chunk);
        expect(closings.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('answer a close frame with its code, once', () => {
    const { feed, written, closings } = sideOf(true);
    feed(frameBytes(opcode.close, hex('0bb8'), { mask: 1 }));
    feed(frameBytes(opcode.close, hex('03e8'), { mask: 1 }));
    expect(closings).toEqual([3000]);
    expect(written.map(hexOf)).toEqual(['88020bb8']);
  });
});

describe('WebSocket handshake', () => {
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  const requestOf = (lines: readonly string[], start = 'GET /chat HTTP/1.1') =>
    parseUpgradeHead([start, 'Host: a.test', ...lines].join('\r\n'));
  const good = upgradeHeaders(key, { subprotocol: 'chat', isCompressed: true });

  it('is that of RFC 6455, section 1.3', () => {
    const answer = answerUpgrade(requestOf(good), { subprotocol: 'chat', mayCompress: true });
    expect(answer.text).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n');
    expect(answer.text).toContain('Sec-WebSocket-Protocol: chat\r\n');
    const head = parseUpgradeHead(answer.text);
    expect(agreedOf(head, key, true)).toEqual({ isCompressed: true });
    expect(agreedOf(head, key, false)).toBe(undefined);
    expect(agreedOf(head, 'AAAAAAAAAAAAAAAAAAAAAA==', true)).toBe(undefined);
  });

  it.each([
    ['a plain request', [], 'GET / HTTP/1.1', 426],
    ['another version', good.map((line) => line.replace(': 13', ': 8')), 'GET / HTTP/1.1', 426],
    ['no key', good.filter((line) => !line.includes('Key')), 'GET / HTTP/1.1', 400],
    ['another method', good, 'POST / HTTP/1.1', 400],
    ['no HTTP', good, 'hello', 400],
  ])('is refused: %s', (_, lines, start, status) => {
    expect(answerUpgrade(requestOf(lines, start), { subprotocol: '', mayCompress: true }).status).toBe(status);
  });

  it('agrees to compression only if the offer leaves no state and sets no window', () => {
    const offer = (value: string) =>
      answerUpgrade(
        requestOf([
          ...upgradeHeaders(key, { subprotocol: '', isCompressed: false }),
          `Sec-WebSocket-Extensions: ${value}`,
        ]),
        { subprotocol: '', mayCompress: true },
      ).isCompressed;
    expect(offer('permessage-deflate; client_max_window_bits')).toBe(true);
    expect(offer('permessage-deflate; server_max_window_bits=10')).toBe(false);
    expect(offer('permessage-deflate; server_max_window_bits=10, permessage-deflate')).toBe(true);
    expect(offer('x-webkit-deflate-frame')).toBe(false);
  });
});
