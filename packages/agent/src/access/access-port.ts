import type { FrameSink, Memory } from '@rushhour/wire';
import { epollPoller } from '../net/epoll/epoll-poller.ts';
import type { Alarm } from '../net/loop/alarm.ts';
import { kernelEventLoop } from '../net/loop/kernel-event-loop.ts';
import { type Device, requireDevice } from '../net/packet/device.ts';
import { openPacketPort } from '../stack/ports/packet-port.ts';
import type { FrameReceiver, Port } from '../stack/ports/port.ts';

/** Timers of sessions are looked at this often. */
const tickMs = 2;

/** One end of access protocols: takes frames and the time in milliseconds since its start. */
export interface AccessEnd {
  receive(memory: Memory, start: number, end: number): void;
  advance(nowMs: number): void;
  /** The frames that had arrived are handled. */
  onIdle?(): void;
  /** Frames can be sent again. */
  onRoom?(): void;
  /** A port that is a group of links has come up or gone down. */
  onLink?(isUp: boolean): void;
}

/** What carries the frames of an entry: an interface or a group of them. */
export interface EntryPort {
  readonly name: string;
  readonly mac: Uint8Array;
  readonly sink: FrameSink;
  /** The checksums of the frame at hand need no verification. */
  readonly isChecked: boolean;
  open(end: AccessEnd): void;
  poll(): void;
  flush(): void;
  close(): void;
}

/** The frames of an interface for one end of access protocols, and the clock that drives it. */
export class AccessPort implements FrameReceiver, EntryPort {
  readonly device: Device;
  readonly #port: Port;
  readonly #alarm: Alarm;
  readonly #startMs = performance.now();
  #end: AccessEnd | undefined;
  #isClosed = false;
  /** The checksums of the frame at hand need no verification. */
  isChecked = false;

  constructor(name: string, isCaptured: boolean) {
    this.device = requireDevice(name);
    if (!this.device.isEthernet) throw new Error(`subscribers need Ethernet; ${name} has none`);
    this.#port = openPacketPort({ device: this.device, isCaptured });
    this.#alarm = kernelEventLoop.createAlarm(() => this.#tick());
  }

  get name(): string {
    return this.device.name;
  }

  get mac(): Uint8Array {
    return this.device.mac;
  }

  get sink(): FrameSink {
    return this.#port;
  }

  /** Milliseconds since the start. */
  get nowMs(): number {
    return performance.now() - this.#startMs;
  }

  open(end: AccessEnd): void {
    this.#end = end;
    kernelEventLoop.acquire();
    this.#port.receive(this);
    this.#tick();
  }

  onFrame(memory: Memory, start: number, end: number, isChecked: boolean): void {
    this.isChecked = isChecked;
    this.#end?.receive(memory, start, end);
  }

  onIdle(): void {
    this.#end?.advance(epollPoller().now - this.#startMs);
    this.#end?.onIdle?.();
    this.#port.flush();
  }

  onRoom(): void {
    this.#end?.onRoom?.();
    this.#port.flush();
  }

  takeDrops(): number {
    return this.#port.takeDrops();
  }

  /** Handles the frames that have arrived, without waiting for the event loop. */
  poll(): void {
    if (!this.#isClosed) this.#port.poll();
  }

  flush(): void {
    if (!this.#isClosed) this.#port.flush();
  }

  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    this.#alarm.cancel();
    if (this.#end !== undefined) kernelEventLoop.release();
    this.#port.close();
  }

  readonly #tick = (): void => {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#end?.advance(now - this.#startMs);
    this.#port.flush();
    this.#alarm.set(now + tickMs);
  };
}
