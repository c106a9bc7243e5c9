import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeQuery, encodeAnswer, encodeQuery, recordTypes } from './message.ts';
import { decodeName, encodeName } from './name.ts';
import { Zone } from './zone.ts';

const label = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_'), minLength: 1, maxLength: 20 });
const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'));

describe('dns messages', () => {
  it('reads every name it writes', () => {
    fc.assert(
      fc.property(name, fc.nat(20), (text, before) => {
        const message = Buffer.concat([Buffer.alloc(before), encodeName(text)]);
        expect(decodeName(message, before)).toEqual({ name: text, end: message.length });
      }),
    );
    expect(encodeName('.')).toEqual(Buffer.of(0));
    expect(decodeName(encodeName('a\\.b.c\\010'), 0).name).toBe('a\\.b.c\\010');
  });

  it('follows pointers and rejects loops', () => {
    const message = Buffer.from([1, 97, 0, 1, 98, 0xc0, 0, 0xc0, 7]);
    expect(decodeName(message, 3)).toEqual({ name: 'b.a', end: 7 });
    expect(() => decodeName(message, 7)).toThrow('loop');
  });

  it.each(['a..b', `${'x'.repeat(64)}.com`, Array(130).fill('a').join('.')])('refuses the name %s', (text) => {
    expect(() => encodeName(text)).toThrow();
  });

  it('throws a RangeError on unreadable bytes, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          decodeQuery(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  it('decodes the encoded question', () => {
    const bytes = encodeQuery(
      { name: 'www.example.com', type: 28 },
      { recursion: true, edns: { size: 4096, dnssec: true } },
    );
    expect(decodeQuery(bytes)).toMatchObject({
      opcode: 0,
      question: { name: 'www.example.com', type: 28 },
      edns: { size: 4096, dnssec: true },
    });
  });

  it('truncates an answer that is too large', () => {
    const bytes = encodeQuery({ name: 'a.example', type: 16 }, { recursion: false });
    const records = new Zone([{ name: 'a.example', type: 'TXT', ttl: 1, data: 'x'.repeat(600) }]).find({
      name: 'A.Example',
      type: 16,
    });
    const answer = (maxBytes: number) => {
      const message = encodeAnswer(decodeQuery(bytes), bytes, { rcode: 0, records: records ?? [], maxBytes });
      const flags = message.readUInt16BE(2);
      return { isTruncated: (flags & 0x200) !== 0, rcode: flags & 15, answers: message.readUInt16BE(6) };
    };
    expect(answer(512)).toMatchObject({ isTruncated: true, answers: 0, rcode: 0 });
    expect(answer(4096)).toMatchObject({ isTruncated: false, answers: 1 });
  });
});

describe('zone', () => {
  const zone = new Zone([
    { name: 'example.com', type: 'A', ttl: 5, data: '192.0.2.1' },
    { name: 'www.example.com', type: 'CNAME', ttl: 5, data: 'example.com' },
    { name: '*.wild.example', type: 'AAAA', ttl: 5, data: '2001:db8::1' },
  ]);
  const types = (asked: string, type: string) =>
    zone.find({ name: asked, type: recordTypes[type] as number })?.map((record) => record.type);

  it('finds names, aliases and wildcards, and reports missing names', () => {
    expect(types('EXAMPLE.com.', 'A')).toEqual([1]);
    expect(types('example.com', 'AAAA')).toEqual([]);
    expect(types('www.example.com', 'A')).toEqual([5, 1]);
    expect(types('a.b.wild.example', 'AAAA')).toEqual([28]);
    expect(types('wild.example', 'AAAA')).toBeUndefined();
    expect(types('example.org', 'A')).toBeUndefined();
  });

  it('rejects data that does not fit its type', () => {
    expect(() => new Zone([{ name: 'a', type: 'A', ttl: 1, data: '::1' }])).toThrow('not a valid address');
    expect(() => new Zone([{ name: 'a', type: 'ANY', ttl: 1, data: '' }])).toThrow('ANY');
  });
});
