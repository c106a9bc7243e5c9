import { createMemory } from '../bytes/memory.ts';
import { writeIpv4 } from '../ip/ipv4.ts';
import { writeUdp } from '../udp/udp.ts';
import { OpenFlowSwitch, type SwitchHost, type SwitchOptions } from './switch.ts';
import { linkPortsOf, neighbourOf, type OpenFlowTopology } from './topology.ts';

export interface FabricOptions extends Omit<SwitchOptions, 'datapathId' | 'description'> {
  readonly count: number;
  readonly firstDatapathId: bigint;
  readonly description: (index: number) => string;
  readonly topology: OpenFlowTopology;
  /** Hosts behind each switch. */
  readonly hosts: number;
  /** Packets that each switch sends up in a second. */
  readonly packetInPerSec: number;
}

export interface FabricHost {
  send(index: number, message: Uint8Array): void;
  onBroken(index: number, reason: string): void;
  /** The controller has sent a packet back that a switch had sent up. */
  onAnswer(delayMs: number): void;
  /** Milliseconds of a clock. */
  now(): number;
}

/** Frames between switches that are under way at once: flows may make them go round for ever. */
const maxHops = 64;
const frameBytes = 60;
const markAt = 42;
/** What stands before the number of a packet: it marks those of ours. */
const mark = 0x52686f66;
/** Packets that wait for an answer, at most. */
const maxWaiting = 100_000;
const sourcePort = 40_000;
const destinationPort = 9;

/** Emulated switches with the links between them and the hosts behind them. */
export class OpenFlowFabric {
  readonly switches: readonly OpenFlowSwitch[];
  readonly counters = { framesLooped: 0, hostFrames: 0 };
  readonly #options: FabricOptions;
  readonly #host: FabricHost;
  readonly #waiting = new Map<number, number>();
  #number = 0;
  #budget = 0;
  #nowMs = 0;
  #hops = 0;

  constructor(host: FabricHost, options: FabricOptions) {
    this.#host = host;
    this.#options = options;
    this.switches = Array.from({ length: options.count }, (_, index) => {
      const datapathId = BigInt.asUintN(64, options.firstDatapathId + BigInt(index));
      return new OpenFlowSwitch(this.#hostOf(index), {
        ...options,
        datapathId,
        description: options.description(index),
      });
    });
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    const { packetInPerSec } = this.#options;
    const elapsedMs = nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    for (const one of this.switches) one.advance(nowMs);
    // What could not be sent in a second is not made up for.
    this.#budget = Math.min(this.#budget + (elapsedMs / 1000) * packetInPerSec, Math.max(packetInPerSec, 1));
    for (; this.#budget >= 1; this.#budget--)
      for (const [index, { state }] of this.switches.entries()) if (state === 'up') this.#sendUp(index);
  }

  #hostOf(index: number): SwitchHost {
    return {
      send: (message) => this.#host.send(index, message),
      onBroken: (reason) => this.#host.onBroken(index, reason),
      onOutput: (port, frame) => this.#carry(index, port, frame),
      onPacketOut: (frame) => this.#onPacketOut(frame),
    };
  }

  #carry(index: number, port: number, frame: Uint8Array): void {
    const { topology, count } = this.#options;
    const end = neighbourOf(topology, count, { index, port });
    if (end === undefined) {
      this.counters.hostFrames++;
      return;
    }
    if (this.#hops >= maxHops) {
      this.counters.framesLooped++;
      return;
    }
    this.#hops++;
    this.switches[end.index]?.receiveFrame(end.port, frame);
    this.#hops--;
  }

  #onPacketOut(frame: Uint8Array): void {
    if (frame.length < markAt + 8) return;
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
    if (view.getUint32(markAt) !== mark) return;
    const number = view.getUint32(markAt + 4);
    const sentMs = this.#waiting.get(number);
    if (sentMs === undefined) return;
    this.#waiting.delete(number);
    this.#host.onAnswer(this.#host.now() - sentMs);
  }

  /** A packet from one host of a switch to the next one. */
  #sendUp(index: number): void {
    const { hosts, topology, count, ports } = this.#options;
    const number = this.#number;
    this.#number = (number + 1) >>> 0;
    const from = hosts === 0 ? 0 : number % hosts;
    const to = hosts === 0 ? 0 : (from + 1) % hosts;
    const links = linkPortsOf(topology, count, index);
    const port = links + 1 + (from % Math.max(ports - links, 1));
    if (this.#waiting.size >= maxWaiting) this.#waiting.clear();
    this.#waiting.set(number, this.#host.now());
    this.switches[index]?.sendUp(Math.min(port, ports), this.#frame(index, from, to, number));
  }

  #frame(index: number, from: number, to: number, number: number): Uint8Array {
    const memory = createMemory(frameBytes);
    const { bytes, view } = memory;
    const mac = (host: number) => [2, 0x0f, (index >>> 8) & 255, index & 255, (host >>> 8) & 255, host & 255];
    const address = (host: number) => (10 << 24) | ((index & 255) << 16) | ((host + 1) & 0xffff);
    bytes.set([...mac(to), ...mac(from), 8, 0]);
    view.setUint32(markAt, mark);
    view.setUint32(markAt + 4, number);
    const [source, destination] = [address(from), address(to)];
    const protocol = 17;
    const length = frameBytes - 14;
    const sum = (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff) + protocol;
    writeUdp(memory, 34, frameBytes, (sourcePort << 16) | destinationPort, sum);
    writeIpv4(view, 14, { tos: 0, length, identification: 0, fragment: 0, ttl: 64, protocol, source, destination });
    return bytes.slice(0, frameBytes);
  }
}
