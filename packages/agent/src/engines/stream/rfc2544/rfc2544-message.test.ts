import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ethernetLayer, vlanLayer } from '../../../net/packet/frame/link-layers.ts';
import { ipLayer, plainIp } from '../../../net/packet/frame/network-layers.ts';
import { udpLayer } from '../../../net/packet/frame/transport-layers.ts';
import { readTrialAnswer, readTrialQuestion, trialAnswer, trialQuestion } from './rfc2544-message.ts';

const [asker, answerer] = [Buffer.from('020000000001', 'hex'), Buffer.from('020000000002', 'hex')];
const nonce = Buffer.from('0011223344556677', 'hex');
const count = {
  received: 5,
  duplicates: 1,
  reordered: 2,
  drops: 3,
  minUs: 4.5,
  avgUs: 6,
  p50Us: 7,
  p99Us: 8,
  maxUs: 9,
};
const arrived = (bytes: Buffer, tag = -1) => ({ bytes, start: 0, end: bytes.length, tag });

const questionOver = (source: string, destination: string, tags: number[] = []) =>
  trialQuestion(
    [
      ethernetLayer(answerer, asker),
      ...tags.map((id) => vlanLayer({ id, priority: 0, type: 0x8100 })),
      ipLayer({ ...plainIp, ttl: 3, source, destination }),
      udpLayer({ source: 1024, destination: 15_009 }),
    ],
    { asks: 'count', tag: 77, nonce },
  );

describe('a trial query', () => {
  it('is decoded as encoded', () => {
    const question = questionOver('10.0.0.1', '10.0.0.2');
    expect(readTrialQuestion(arrived(question))).toEqual({ asks: 'count', tag: 77, nonce });
    expect(readTrialAnswer(arrived(question), nonce)).toBeUndefined();
  });

  it.each([
    ['10.0.0.1', '10.0.0.2', 34],
    ['fd00::1', 'fd00::2', 54],
  ])('is answered with swapped addresses, from %s to %s', (source, destination, transport) => {
    const question = questionOver(source, destination);
    const answer = trialAnswer(arrived(question), answerer, count) as Buffer;
    const expected = questionOver(destination, source);
    const half = source.includes(':') ? 16 : 4;
    expect(answer.subarray(0, 12)).toEqual(Buffer.concat([asker, answerer]));
    expect(answer.subarray(transport - 2 * half, transport)).toEqual(
      expected.subarray(transport - 2 * half, transport),
    );
    expect([answer.readUInt16BE(transport), answer.readUInt16BE(transport + 2)]).toEqual([15_009, 1024]);
    expect(readTrialAnswer(arrived(answer), nonce)).toEqual(count);
    expect(readTrialAnswer(arrived(answer), Buffer.alloc(8))).toBeUndefined();
    // A valid checksum makes the sum over all covered bytes zero.
    const addresses = sumOf(answer, transport - 2 * half, transport);
    const sum = addresses + 17 + (answer.length - transport) + sumOf(answer, transport, answer.length);
    expect(checksumOf(sum)).toBe(0);
  });

  it('is answered in its VLANs, including the tag removed by the kernel', () => {
    const question = questionOver('10.0.0.1', '10.0.0.2', [7, 8]);
    const seen = Buffer.concat([question.subarray(0, 12), question.subarray(16)]);
    const answer = trialAnswer(arrived(seen, 0x8100_0007), answerer, count) as Buffer;
    expect(answer).toHaveLength(question.length);
    expect(answer.subarray(12, 20)).toEqual(question.subarray(12, 20));
  });

  it('may contain arbitrary bytes without breaking the receiver', () => {
    const question = questionOver('10.0.0.1', '10.0.0.2');
    const cut = fc.integer({ min: 32, max: question.length });
    const spoilt = fc.array(
      fc.tuple(fc.integer({ min: 12, max: question.length - 1 }), fc.integer({ min: 0, max: 255 })),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(cut, spoilt, (bytes, changes) => {
        const frame = Buffer.from(question.subarray(question.length - bytes));
        for (const [at, value] of changes) if (at < frame.length) frame[at] = value;
        trialAnswer(arrived(frame), answerer, count);
        readTrialQuestion(arrived(frame));
      }),
      { numRuns: 1000 },
    );
  });
});
