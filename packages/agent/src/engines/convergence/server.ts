import { setTimeout as sleep } from 'node:timers/promises';
import type { ConvergenceServerConfig, PlaneCommand } from '@rushhour/protocol';
import type { Commandable, Counter, EngineContext, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { closeSocket } from '../../net/kernel/socket.ts';
import { untilQuiet } from '../../net/load/until-quiet.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { DeviceGone, linkStateOf, requireDevice } from '../../net/packet/device.ts';
import { signatureBytes, signatureFilter } from '../../net/packet/frame/signature.ts';
import { NeighbourResolver } from '../../net/packet/neighbour-resolver.ts';
import { trailerProgram } from '../../net/packet/packet-filter.ts';
import { PacketRing } from '../../net/packet/packet-ring.ts';
import { WallClock } from '../../net/packet/wall-clock.ts';
import { openQuietPort } from '../stream/quiet-port.ts';
import { devicesFor } from '../stream/server.ts';
import { FlowMonitor, maxRows } from './flow-monitor.ts';

const blockBytes = 131_072;
const ringBytes = 67_108_864;
const retireMs = 8;
const reportMs = 200;

type Context = EngineContext<ConvergenceServerConfig>;

/** Receives the flows and watches them. */
class ConvergenceServer implements PreparedEngine, Commandable {
  readonly #context: Context;
  readonly #devices: readonly string[];
  readonly #monitor: FlowMonitor;
  readonly #opened: { close(): void }[] = [];
  readonly #rings: PacketRing[] = [];
  readonly #drops: Counter;
  readonly #clock = new WallClock();
  readonly #broken = Promise.withResolvers<never>();
  #reports: NodeJS.Timeout | undefined;
  #endUs = Number.POSITIVE_INFINITY;

  constructor(context: Context) {
    this.#context = context;
    this.#drops = context.samples.counter('convergence.bufferDrops');
    this.#monitor = new FlowMonitor(context.samples, (row) => context.putRow('flows', row));
    this.#devices = devicesFor(context.config.listen.map(({ host }) => host));
    if (this.#devices.length === 0) throw new RangeError('there is no interface on which packets can arrive');
    this.#broken.promise.catch(() => {});
  }

  open(): void {
    const { config, host } = this.#context;
    const [emulated, own] = [new Set(config.listen.map((listen) => listen.host)), new Set(host.addresses)];
    const filter = trailerProgram(signatureBytes, signatureFilter);
    const sizes = { blockBytes, retireMs, blocks: Math.ceil(ringBytes / blockBytes / this.#devices.length) };
    for (const name of this.#devices) {
      const source = { device: requireDevice(name), poller: epollPoller() };
      const ring = new PacketRing({ ...source, filter }, sizes, (frame) => this.#monitor.arrive(frame));
      this.#rings.push(ring);
      this.#opened.push(ring);
      this.#opened.push(
        new NeighbourResolver(source, (address, isTagged) => emulated.has(address) && (isTagged || !own.has(address))),
      );
    }
    if (config.isEncapsulated) return;
    for (const listen of config.listen.filter((endpoint) => own.has(endpoint.host))) {
      const fd = openQuietPort(listen);
      this.#opened.push({ close: () => closeSocket(fd) });
    }
  }

  async start(): Promise<void> {
    const { signal, samples, note, config } = this.#context;
    if (config.sendingSec !== undefined) this.#endUs = this.#nowUs() + config.sendingSec * 1e6;
    this.#reports = setInterval(() => this.#report(), reportMs);
    await Promise.race([aborted(signal), this.#broken.promise]);
    this.#endUs = Math.min(this.#endUs, this.#nowUs());
    clearInterval(this.#reports);
    await untilQuiet(samples.counter('convergence.received'));
    // The kernel hands over the last block only after its timeout.
    await sleep(3 * retireMs);
    for (const ring of this.#rings) ring.ready();
    this.#takeDrops();
    this.#monitor.finish(config.isCounted ? this.#monitor.lastArrivalUs : this.#endUs);
    if (this.#monitor.flowCount > maxRows) note(`the table of flows lists the first ${maxRows}`);
  }

  /** Commands for other jobs are events: the flows are expected to be interrupted or to recover. */
  command(command: PlaneCommand): { readonly rejected?: string } {
    if (command.isObserved !== true) return { rejected: 'convergence only watches: command the control plane' };
    this.#monitor.addEvent(command, this.#nowUs());
    return {};
  }

  async close(): Promise<void> {
    clearInterval(this.#reports);
    for (const one of this.#opened) one.close();
    kernelEventLoop.release();
  }

  #report(): void {
    this.#takeDrops();
    this.#monitor.report(Math.min(this.#nowUs(), this.#endUs));
    for (const device of this.#devices) {
      const state = linkStateOf(device);
      if (state === 'down') this.#context.note(`the link of ${device} was down`);
      if (state === 'gone') this.#broken.reject(new DeviceGone(device));
    }
  }

  #takeDrops(): void {
    for (const ring of this.#rings) this.#drops.add(ring.takeDrops());
  }

  /** Microseconds since 1970 on the clock of received frames. */
  #nowUs(): number {
    this.#clock.read(performance.now());
    return this.#clock.seconds * 1e6 + this.#clock.nanoseconds / 1000;
  }
}

export const prepareConvergenceServer = async (context: Context): Promise<PreparedEngine & Commandable> => {
  epollPoller();
  const server = new ConvergenceServer(context);
  kernelEventLoop.acquire();
  try {
    server.open();
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
};
