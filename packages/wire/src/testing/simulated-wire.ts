import { copyOf, createMemory, Memory } from '../bytes/memory.ts';
import type { SegmentBurst, SegmentSink, TcpLimits } from '../tcp/context.ts';
import { flowWords, portsWord } from '../tcp/segment/flow-key.ts';
import { Tcp } from '../tcp/tcp.ts';
import { cutSegment } from './segment-cutter.ts';

export interface WireOptions {
  readonly random: () => number;
  readonly lossRate?: number;
  readonly duplicateRate?: number;
  readonly delayUs?: number;
  /** Largest extra delay: packets overtake each other. */
  readonly jitterUs?: number;
  readonly mtu?: number;
  /** ECN marks instead of nothing, where the packet allows it. */
  readonly markRate?: number;
  readonly limits?: Partial<TcpLimits>;
  /** Segments larger than the wire allows are cut. */
  readonly cuts?: boolean;
}

interface Flight {
  readonly at: number;
  readonly order: number;
  readonly to: number;
  readonly bytes: Uint8Array;
  readonly addresses: Int32Array;
  readonly ecn: number;
}

const clientAddress = 0x0a000001;
const serverAddress = 0x0a000002;

/** Flow key of a connection from the client's to the server's side. */
export const keyFor = (localPort: number, remotePort: number, host = 0): Int32Array => {
  const key = new Int32Array(flowWords);
  key[2] = 0xffff;
  key[3] = clientAddress + host * 4;
  key[6] = 0xffff;
  key[7] = serverAddress;
  key[portsWord] = (localPort << 16) | remotePort;
  return key;
};

/** Two TCP stacks joined by a wire that loses, repeats, delays and reorders segments. Time is simulated. */
export class SimulatedWire {
  readonly stacks: readonly [Tcp, Tcp];
  nowUs = 1_000_000;
  options: WireOptions;
  /** Looks at, or drops (by returning false), every segment that enters the wire. */
  filter: (from: number, bytes: Uint8Array) => boolean = () => true;
  /** A side that is cut off sends and receives nothing. */
  readonly isCut = [false, false];
  segments = 0;
  /** Large segments that were cut. */
  bursts = 0;
  readonly #flights: Flight[] = [];
  #order = 0;

  constructor(options: WireOptions) {
    this.options = options;
    const { random, limits } = options;
    const stack = (side: number) =>
      new Tcp({ sink: this.#sink(side), nowUs: this.nowUs, random, ...(limits === undefined ? {} : { limits }) });
    this.stacks = [stack(0), stack(1)];
  }

  /** Runs until nothing is to be done, `isDone` says so, or the simulated time is over. Returns true unless it is over. */
  run(maxUs: number, isDone: () => boolean = () => false): boolean {
    const end = this.nowUs + maxUs;
    for (;;) {
      for (const stack of this.stacks) stack.flush();
      if (isDone()) return true;
      const idle = Math.min(...this.stacks.map((stack) => stack.idleUs(1_000_000)));
      const next = Math.min(this.#flights[0]?.at ?? Number.POSITIVE_INFINITY, this.nowUs + Math.max(idle, 1));
      if (this.nowUs >= end) return false;
      this.nowUs = Math.max(this.nowUs, Math.min(next, end));
      for (const stack of this.stacks) stack.advance(this.nowUs);
      this.#deliver();
    }
  }

  /** Gives a raw segment to a side. */
  inject(side: number, bytes: Uint8Array, addresses: Int32Array, ecn = 0): void {
    this.stacks[side as 0 | 1].receive(new Memory(bytes), 0, bytes.length, { addresses, path: 0, ecn, checks: true });
  }

  #deliver(): void {
    for (let flight = this.#flights[0]; flight !== undefined && flight.at <= this.nowUs; flight = this.#flights[0]) {
      this.#flights.shift();
      if (this.isCut[flight.to]) continue;
      this.inject(flight.to, flight.bytes, flight.addresses, flight.ecn);
    }
  }

  #sink(side: number): SegmentSink {
    const memory = createMemory(70_000);
    let addresses = new Int32Array(8);
    const begin = (keys: Int32Array, at: number) => {
      // The receiver's local end is our remote end.
      addresses = Int32Array.from([...keys.subarray(at + 4, at + 8), ...keys.subarray(at, at + 4)]);
      return 8;
    };
    const burst: SegmentBurst = {
      maxBytes: 65_000,
      begin,
      commit: (offset, length, ecn, segmentBytes) => {
        this.bursts++;
        for (const segment of cutSegment(copyOf(memory.bytes, offset, offset + length), segmentBytes)) {
          this.segments++;
          this.#transmit(side, segment, addresses, ecn);
        }
      },
    };
    return {
      memory,
      begin,
      ...(this.options.cuts && { burst }),
      commit: (offset, length, ecn) => {
        this.segments++;
        this.#transmit(side, copyOf(memory.bytes, offset, offset + length), addresses, ecn);
      },
      mtuOf: () => this.options.mtu ?? 1500,
    };
  }

  #transmit(side: number, bytes: Uint8Array, addresses: Int32Array, ecn: number): void {
    const { random, lossRate = 0, duplicateRate = 0, delayUs = 100, jitterUs = 0, markRate = 0 } = this.options;
    if (this.isCut[side] || !this.filter(side, bytes)) return;
    const copies = random() < duplicateRate ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (random() < lossRate) continue;
      const at = this.nowUs + delayUs + Math.floor(random() * jitterUs);
      const marked = ecn !== 0 && random() < markRate ? 3 : ecn;
      this.#insert({ at, order: this.#order++, to: 1 - side, bytes, addresses, ecn: marked });
    }
  }

  #insert(flight: Flight): void {
    const flights = this.#flights;
    let index = flights.length;
    while (index > 0 && (flights[index - 1] as Flight).at > flight.at) index--;
    flights.splice(index, 0, flight);
  }
}
