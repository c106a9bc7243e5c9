import { sumOf } from '@rushhour/pcap/checksum';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FragmentCutter } from '../../net/packet/frame/fragment-cutter.ts';
import { lengthOf, writeLayers } from '../../net/packet/frame/layer.ts';
import { ethernetLayer, vlanLayer } from '../../net/packet/frame/link-layers.ts';
import { ipLayer, plainIp } from '../../net/packet/frame/network-layers.ts';
import { signatureBytes } from '../../net/packet/frame/signature.ts';
import { udpLayer } from '../../net/packet/frame/transport-layers.ts';
import type { ArrivedFrame } from '../../net/packet/packet-ring.ts';
import { FragmentJoiner } from './fragment-joiner.ts';

const tag = vlanLayer({ id: 7, priority: 0, type: 0x8100 });

interface Form {
  readonly isV6: boolean;
  readonly tags: number;
  readonly payload: number;
  readonly maxPacket: number;
}

const frameOf = ({ isV6, tags, payload }: Form) => {
  const [source, destination] = isV6 ? ['fd00::1', 'fd00::2'] : ['10.0.0.1', '10.0.0.2'];
  const link = [ethernetLayer(Buffer.alloc(6, 2), Buffer.alloc(6, 4)), ...Array.from({ length: tags }, () => tag)];
  const layers = [...link, ipLayer({ ...plainIp, source, destination }), udpLayer({ source: 5, destination: 6 })];
  const frame = Buffer.from(Array.from({ length: lengthOf(layers) + payload }, (_, index) => index % 251));
  writeLayers(frame, layers);
  return { frame, ipAt: lengthOf(link) };
};

const cutFrame = (form: Form): { readonly frame: Buffer; readonly ipAt: number; readonly pieces: Buffer[] } => {
  const { frame, ipAt } = frameOf(form);
  const cutter = new FragmentCutter({ ipAt, isV6: form.isV6, maxPacket: form.maxPacket }, 65_530);
  const parts = cutter.partsOf(frame.length);
  cutter.next();
  const pieces = parts.map((part, index) => {
    const bytes = Buffer.alloc(cutter.longestOf(frame.length));
    const length = cutter.write(frame, 0, part, { bytes, at: 0 }, index === parts.length - 1);
    return bytes.subarray(0, length);
  });
  return { frame, ipAt, pieces: parts.length === 0 ? [frame] : pieces };
};

const arrivalOf = (bytes: Buffer): ArrivedFrame => ({
  ...{ bytes, start: 0, end: bytes.length, wireLength: bytes.length },
  ...{ isOutgoing: false, tag: -1, seconds: 0, nanoseconds: 0 },
});

const joined = (pieces: readonly Buffer[]): Buffer[] => {
  const frames: Buffer[] = [];
  const joiner = new FragmentJoiner(({ bytes, start, end }) => frames.push(Buffer.from(bytes.subarray(start, end))));
  for (const piece of pieces) joiner.arrive(arrivalOf(piece));
  return frames;
};

const forms: fc.Arbitrary<Form> = fc
  .record({ isV6: fc.boolean(), tags: fc.nat(2), payload: fc.integer({ min: 18, max: 3000 }), more: fc.nat(1500) })
  .map(({ more, ...form }) => ({ ...form, maxPacket: (form.isV6 ? 80 : 52) + more }));

describe('a frame that is cut into fragments', () => {
  it('has none larger than ordered, valid headers, and its signature in the last one', () => {
    fc.assert(
      fc.property(forms, (form) => {
        const { frame, ipAt, pieces } = cutFrame(form);
        for (const piece of pieces) {
          expect(piece.length - ipAt).toBeLessThanOrEqual(form.maxPacket);
          if (!form.isV6) expect(sumOf(piece, ipAt, ipAt + 20) % 0xffff).toBe(0);
        }
        const last = pieces.at(-1) as Buffer;
        expect(last.subarray(-signatureBytes)).toEqual(frame.subarray(-signatureBytes));
      }),
    );
  });

  it('is the same again once all have arrived, in any order, and never without one of them', () => {
    fc.assert(
      fc.property(forms, fc.infiniteStream(fc.nat()), (form, numbers) => {
        const { frame, ipAt, pieces } = cutFrame(form);
        const shuffled = pieces.map((piece) => [numbers.next().value as number, piece] as const);
        const order = shuffled.toSorted(([a], [b]) => a - b).map(([, piece]) => piece);
        const [whole] = joined(order);
        const payloadAt = ipAt + (form.isV6 ? 40 : 20);
        expect(whole?.length).toBe(frame.length);
        expect(whole?.subarray(payloadAt)).toEqual(frame.subarray(payloadAt));
        if (order.length > 1) expect(joined(order.slice(1))).toEqual([]);
      }),
    );
  });
});
