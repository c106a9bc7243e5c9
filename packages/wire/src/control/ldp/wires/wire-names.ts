import { hexOfBytes } from '../../../bytes/memory.ts';
import { distinguisherOf } from '../../bgp/route-distinguisher.ts';
import type { Attachment, WireName } from './wire-fec.ts';

/** How the pseudowires of a service are named. */
export interface WireNames {
  /** The name of wire `index` to a neighbour. */
  nameOf(index: number, peerLsrId: number): WireName;
  /** The wire that a neighbour calls by a name, or -1. */
  indexOf(name: WireName, peerLsrId: number): number;
}

/** Consecutive numbers. */
export const numberedNames = (first: number): WireNames => ({
  nameOf: (index) => ({ kind: 'numbered', id: first + index }),
  indexOf: (name) => (name.kind === 'numbered' ? name.id - first : -1),
});

export interface GeneralizedOptions {
  /** Attachment group such as `65000:1`. */
  readonly group: string;
  readonly type: 1 | 2;
  readonly sourceStart: number;
  readonly targetStart: number;
  readonly globalId: number;
  /** Own prefix of type 2. */
  readonly prefix: number;
}

const wordsOf = (...words: readonly number[]): Uint8Array => {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  for (const [i, word] of words.entries()) view.setUint32(i * 4, word >>> 0);
  return new Uint8Array(view.buffer);
};

const isSame = (a: Attachment, b: Attachment): boolean =>
  a.type === b.type && hexOfBytes(a.value) === hexOfBytes(b.value);

/** Attachment identifiers of both ends (RFC 5003); those of the neighbour have its LSR id as prefix. */
export const generalizedNames = (options: GeneralizedOptions): WireNames => {
  const { type, sourceStart, targetStart, globalId, prefix } = options;
  const group = { type: 1, value: distinguisherOf(options.group) };
  const attachment = (number: number, of: number): Attachment => ({
    type,
    value: type === 1 ? wordsOf(number) : wordsOf(globalId, of, number),
  });
  const nameOf = (index: number, peer: number) =>
    ({
      kind: 'generalized',
      group,
      source: attachment(sourceStart + index, prefix),
      target: attachment(targetStart + index, peer),
    }) as const;
  return {
    nameOf,
    indexOf: (name, peer) => {
      if (name.kind !== 'generalized' || name.target.value.length < 4) return -1;
      const { value } = name.target;
      const number = new DataView(value.buffer, value.byteOffset + value.length - 4, 4).getUint32(0);
      const own = nameOf(number - sourceStart, peer);
      const isOwn = isSame(name.group, group) && isSame(name.target, own.source) && isSame(name.source, own.target);
      return isOwn ? number - sourceStart : -1;
    },
  };
};
