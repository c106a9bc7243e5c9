import { setTimeout as sleep } from 'node:timers/promises';
import type { Capture, DumpState } from '@rushhour/protocol';
import { EpollPoller } from '../net/epoll/epoll-poller.ts';
import { captureProgram, type Endpoint } from '../net/packet/capture-filter.ts';
import { requireDevice } from '../net/packet/device.ts';
import { type ArrivedFrame, PacketRing } from '../net/packet/packet-ring.ts';
import { CaptureFile } from './capture-file.ts';
import { type CaptureRecord, partPath, saveRecord } from './capture-record.ts';
import { finishCapture } from './finish-capture.ts';

export interface InterfaceCaptureOptions {
  readonly folder: string;
  readonly runId: number;
  readonly epoch: number;
  readonly name: string;
  readonly interface: string;
  readonly capture: Capture;
  readonly excluded: readonly Endpoint[];
  readonly ringBytes: number;
}

const blockBytes = 512 * 1024;
const retireMs = 20;
const lastFramesMs = 1000;
const linkType = { ethernet: 1, raw: 101 } as const;

/** Captures packets of one interface. Call `poll` every few milliseconds. */
export class InterfaceCapture {
  readonly #options: InterfaceCaptureOptions;
  readonly #file: CaptureFile;
  readonly #ring: PacketRing;
  readonly #beganAt = Date.now();
  readonly #counts = { frames: 0, drops: 0, handed: 0 };
  #isFull = false;
  #problem = '';

  constructor(options: InterfaceCaptureOptions) {
    this.#options = options;
    const { capture, excluded } = options;
    const device = requireDevice(options.interface);
    const filter = captureProgram({ ...capture, excluded: excluded });
    const sizes = { blockBytes, retireMs, blocks: Math.max(4, Math.floor(options.ringBytes / blockBytes)) };
    // Loopback shows each packet twice: as outgoing and as incoming.
    const includesOutgoing = options.interface !== 'lo';
    this.#ring = new PacketRing({ device, poller: new EpollPoller(), filter, includesOutgoing }, sizes, (frame) =>
      this.#add(frame),
    );
    try {
      this.#file = new CaptureFile({
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

  /** Reads received frames. */
  poll(): void {
    if (!this.#isFull) this.#ring.ready();
  }

  /** Updates the counters and writes captured packets to the file. */
  settle(): void {
    this.#count();
    try {
      this.#file.flush();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Reads the last frames and closes the capture. */
  async end(): Promise<DumpState> {
    if (!this.#isFull) {
      this.#ring.stopReceiving();
      const giveUpAt = performance.now() + lastFramesMs;
      do {
        await sleep(retireMs);
        this.poll();
        this.#count();
      } while (!this.#isFull && !this.#hasAll && performance.now() < giveUpAt);
    }
    this.#count();
    this.#ring.close();
    const { frames, drops } = this.#counts;
    this.#file.end({ received: frames, dropped: drops, from: this.#beganAt, to: Date.now() });
    const { pid: _, ...state } = await finishCapture(this.#options.folder, this.#record);
    return state;
  }

  get #record(): CaptureRecord {
    return { ...this.state, pid: process.pid };
  }

  get #hasAll(): boolean {
    const { frames, drops, handed } = this.#counts;
    return handed >= frames - drops;
  }

  #add(frame: ArrivedFrame): void {
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
    this.#ring.stopReceiving();
  }

  #fail(error: Error): void {
    this.#problem ||= `the capture of ${this.#options.interface} is incomplete: ${error.message}`.slice(0, 500);
    this.#stop();
  }
}
