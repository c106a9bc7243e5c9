import { Memory, ReassemblyStore } from '@rushhour/wire';
import type { ArrivedFrame } from '../../net/packet/packet-ring.ts';

const tagBytes = 4;
const vlanTypes = new Set([0x8100, 0x88a8, 0x9100]);
const etherType = { ipv4: 0x0800, ipv6: 0x86dd } as const;
const headerBytes = { ipv4: 20, ipv6: 40 } as const;
const fragmentHeader = 44;
const fragmentHeaderBytes = 8;
const moreFragments = 0x2000;
/** Fragments of a packet follow each other closely; its number comes again soon. */
const timeoutMs = 1000;
const maxPackets = 256;

/** Where the packet of a frame begins, and its type. */
const packetOf = ({ bytes, start, end }: ArrivedFrame): { readonly at: number; readonly type: number } => {
  let at = start + 14;
  while (at + tagBytes <= end && vlanTypes.has(bytes.readUInt16BE(at - 2))) at += tagBytes;
  return { at, type: bytes.readUInt16BE(at - 2) };
};

/** Puts the fragments of frames together, so that only what arrives whole counts. */
export class FragmentJoiner {
  readonly #store = new ReassemblyStore({ maxPackets, timeoutMs });
  readonly #key = new Int32Array(10);
  readonly #onFrame: (frame: ArrivedFrame) => void;
  #memory: Memory | undefined;

  /** `onFrame` gets every frame that is no fragment, and every frame once all its fragments have arrived. */
  constructor(onFrame: (frame: ArrivedFrame) => void) {
    this.#onFrame = onFrame;
  }

  arrive(frame: ArrivedFrame): void {
    const { at, type } = packetOf(frame);
    if (type === etherType.ipv4 && at + headerBytes.ipv4 <= frame.end) this.#arriveV4(frame, at);
    else if (type === etherType.ipv6 && at + headerBytes.ipv6 + fragmentHeaderBytes <= frame.end)
      this.#arriveV6(frame, at);
    else this.#onFrame(frame);
  }

  /** Forgets packets of which something was lost. */
  expire(): void {
    this.#store.expire(performance.now());
  }

  #arriveV4(frame: ArrivedFrame, at: number): void {
    const { bytes } = frame;
    const flags = bytes.readUInt16BE(at + 6);
    const isMore = (flags & moreFragments) !== 0;
    const offset = (flags & 0x1fff) * 8;
    if (!isMore && offset === 0) {
      this.#onFrame(frame);
      return;
    }
    const key = this.#key.fill(0);
    key[3] = bytes.readInt32BE(at + 16);
    key[7] = bytes.readInt32BE(at + 12);
    key[8] = bytes.readUInt16BE(at + 4);
    key[9] = bytes[at + 9] as number;
    const payload = at + ((bytes[at] as number) & 15) * 4;
    this.#join(frame, { at, payload, offset, isMore });
  }

  #arriveV6(frame: ArrivedFrame, at: number): void {
    const { bytes } = frame;
    if (bytes[at + 6] !== fragmentHeader) {
      this.#onFrame(frame);
      return;
    }
    const header = at + headerBytes.ipv6;
    const field = bytes.readUInt16BE(header + 2);
    const key = this.#key;
    for (let i = 0; i < 4; i++) {
      key[i] = bytes.readInt32BE(at + 24 + i * 4);
      key[4 + i] = bytes.readInt32BE(at + 8 + i * 4);
    }
    key[8] = bytes.readInt32BE(header + 4);
    key[9] = 0;
    const payload = header + fragmentHeaderBytes;
    this.#join(frame, { at, payload, offset: field & ~7, isMore: (field & 1) !== 0 });
  }

  #join(
    frame: ArrivedFrame,
    { at, payload, offset, isMore }: { at: number; payload: number; offset: number; isMore: boolean },
  ): void {
    const { bytes, start, end } = frame;
    if (this.#memory?.bytes !== bytes) this.#memory = new Memory(bytes);
    if (payload >= end) return;
    const fragment = { key: this.#key, offset, isMore };
    const whole = this.#store.add(fragment, this.#memory, payload, end, performance.now());
    if (whole === undefined) return;
    // Headers of this fragment and the whole payload, as if the frame had never been cut.
    const head = at - start + ((bytes[at] as number) >>> 4 === 6 ? headerBytes.ipv6 : headerBytes.ipv4);
    const joined = Buffer.alloc(head + whole.length);
    bytes.copy(joined, 0, start, start + head);
    joined.set(whole.memory.bytes.subarray(0, whole.length), head);
    this.#onFrame({ ...frame, bytes: joined, start: 0, end: joined.length, wireLength: joined.length });
  }
}
