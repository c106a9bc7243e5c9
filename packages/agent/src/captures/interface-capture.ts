import { setTimeout as sleep } from 'node:timers/promises';
import type { Capture, DumpState } from '@rushhour/protocol';
import { EpollPoller } from '../net/epoll/epoll-poller.ts';
import { captureProgram, type Endpoint } from '../net/packet/capture-filter.ts';
import { requireDevice } from '../net/packet/device.ts';
import { type ArrivedFrame, PacketRing } from '../net/packet/packet-ring.ts';
import { DumpFile } from './capture-file.ts';
import { type DumpRecord, partPath, saveRecord } from './capture-record.ts';
import { finishDump } from './finish-capture.ts';

export interface InterfaceCaptureOptions {
  readonly folder: string;
  readonly runId: number;
  readonly epoch: number;
  readonly name: string;
  readonly interface: string;
  readonly capture: Capture;
  readonly without: readonly Endpoint[];
  readonly ringBytes: number;
}

const blockBytes = 512 * 1024;
const retireMs = 20;
const lastFramesMs = 1000;
const linkType = { ethernet: 1, raw: 101 } as const;

/** Captures on one interface into one dump. Somebody must call `turn` every few milliseconds. */
export class InterfaceCapture {
  readonly #options: InterfaceCaptureOptions;
  readonly #file: DumpFile;
  readonly #ring: PacketRing;
  readonly #beganAt = Date.now();
  readonly #counts = { frames: 0, drops: 0, handed: 0 };
  #isFull = false;
  #problem = '';

  constructor(options: InterfaceCaptureOptions) {
    this.#options = options;
    const { capture, without } = options;
    const device = requireDevice(options.interface);
    const filter = captureProgram({ ...capture, without });
    const sizes = { blockBytes, retireMs, blocks: Math.max(4, Math.floor(options.ringBytes / blockBytes)) };
    // What leaves by loopback comes in again: it would be there twice.
    const isBothWays = options.interface !== 'lo';
    this.#ring = new PacketRing({ device, poller: new EpollPoller(), filter, isBothWays }, sizes, (frame) =>
      this.#take(frame),
    );
    try {
      this.#file = new DumpFile({
        interface: options.interface,
        linkType: device.isEthernet ? linkType.ethernet : linkType.raw,
        ...capture,
        pathOf: (part) => partPath(options.folder, options, part),
      });
    } catch (error) {
      this.#ring.close();
      throw error;
    }
  }

  get state(): DumpState {
    const { runId, epoch, name, interface: device } = this.#options;
    const { drops } = this.#counts;
    const rest = { drops, state: 'open', sha256: '', problem: this.#problem } as const;
    return { runId, epoch, name, interface: device, ...this.#file.facts, ...rest };
  }

  save(): Promise<void> {
    return saveRecord(this.#options.folder, this.#record);
  }

  /** Takes what has arrived. */
  turn(): void {
    if (!this.#isFull) this.#ring.ready();
  }

  /** Counts, and hands to the system what was captured. */
  settle(): void {
    this.#count();
    try {
      this.#file.flush();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Takes the last frames and closes the dump. */
  async end(): Promise<DumpState> {
    if (!this.#isFull) {
      this.#ring.cease();
      const giveUpAt = performance.now() + lastFramesMs;
      do {
        await sleep(retireMs);
        this.turn();
        this.#count();
      } while (!this.#isFull && !this.#hasAll && performance.now() < giveUpAt);
    }
    this.#count();
    this.#ring.close();
    const { frames, drops } = this.#counts;
    this.#file.end({ received: frames, dropped: drops, from: this.#beganAt, to: Date.now() });
    const { pid: _, ...state } = await finishDump(this.#options.folder, this.#record);
    return state;
  }

  get #record(): DumpRecord {
    return { ...this.state, pid: process.pid };
  }

  get #hasAll(): boolean {
    const { frames, drops, handed } = this.#counts;
    return handed >= frames - drops;
  }

  #take(frame: ArrivedFrame): void {
    if (this.#isFull) return;
    this.#counts.handed += 1;
    try {
      if (!this.#file.add(frame)) this.#stop();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #count(): void {
    const { frames, drops } = this.#ring.takeStatistics();
    this.#counts.frames += frames;
    this.#counts.drops += drops;
  }

  #stop(): void {
    this.#isFull = true;
    this.#ring.cease();
  }

  #fail(error: Error): void {
    this.#problem ||= `the dump of ${this.#options.interface} is not complete: ${error.message}`.slice(0, 500);
    this.#stop();
  }
}
