import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamServerConfig } from '@rushhour/protocol';
import type { Counter, EngineContext, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { closeSocket } from '../../net/kernel/socket.ts';
import { untilQuiet } from '../../net/load/until-quiet.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { type Device, DeviceGone, linkStateOf, requireDevice } from '../../net/packet/device.ts';
import { signatureBytes, signatureFilter } from '../../net/packet/frame/signature.ts';
import { sendFrame } from '../../net/packet/frame-batch.ts';
import { NeighbourResolver } from '../../net/packet/neighbour-resolver.ts';
import { trailerProgram } from '../../net/packet/packet-filter.ts';
import { PacketRing } from '../../net/packet/packet-ring.ts';
import { openSender } from '../../net/packet/packet-socket.ts';
import { findOwner, outwardDevices } from '../../net/packet/route.ts';
import { FragmentJoiner } from './fragment-joiner.ts';
import { HostMacs } from './host-macs.ts';
import { openQuietPort } from './quiet-port.ts';
import { Receiver } from './receiver.ts';
import { type TrialPort, TrialReceiver } from './rfc2544/rfc2544-receiver.ts';

const blockBytes = 131_072;
const retireMs = 8;
const watchMs = 200;
const wildcards = new Set(['0.0.0.0', '::']);

/** Interfaces on which frames for these addresses can arrive; emulated addresses can use any of them. */
export const devicesFor = (hosts: readonly string[]): string[] => {
  const owners = hosts.map((host) => (wildcards.has(host) ? undefined : findOwner(host)));
  const isAnywhere = owners.includes(undefined);
  const named = owners.filter((owner) => owner !== undefined);
  return [...new Set([...named, ...(isAnywhere ? outwardDevices() : [])])];
};

/** Receives streams on all interfaces they can arrive on. */
class StreamServer implements PreparedEngine {
  /** In RFC 2544 trials the sender reports receiver limits. */
  readonly judgesItself: boolean;
  readonly #context: EngineContext<StreamServerConfig>;
  readonly #devices: readonly string[];
  readonly #opened: { close(): void }[] = [];
  readonly #rings: PacketRing[] = [];
  readonly #joiners: FragmentJoiner[] = [];
  readonly #drops: Counter;
  readonly #broken = Promise.withResolvers<never>();
  #watch: NodeJS.Timeout | undefined;

  constructor(context: EngineContext<StreamServerConfig>) {
    this.#context = context;
    this.judgesItself = context.config.countsTrials;
    this.#drops = context.samples.counter('stream.bufferDrops');
    this.#devices = devicesFor(context.config.listen.map(({ host }) => host));
    if (this.#devices.length === 0) throw new RangeError('there is no interface on which frames can arrive');
    this.#broken.promise.catch(() => {});
  }

  open(): void {
    const { config, samples, host } = this.#context;
    const hosts = config.listen.map((listen) => listen.host);
    const meant = hosts.some((address) => wildcards.has(address)) ? undefined : hosts;
    const receiver = new Receiver(samples, meant);
    const drops = () => this.#takeDrops();
    const trials = new TrialReceiver({ samples, createReceiver: () => new Receiver(samples, meant), drops });
    const [emulated, own] = [new Set(hosts), new Set(host.addresses)];
    const filter = trailerProgram(signatureBytes, signatureFilter, !config.countsTrials);
    const sizes = { blockBytes, retireMs, blocks: Math.ceil(config.ringBytes / blockBytes / this.#devices.length) };
    for (const name of this.#devices) {
      const device = requireDevice(name);
      const macs = new HostMacs(config.hosts, device.mac);
      const macOf = macs.hasOthers ? (address: string) => macs.of(address) : undefined;
      const source = { device, poller: epollPoller(), macOf, isPromiscuous: macs.hasOthers };
      const answers = config.countsTrials ? this.#openAnswers(source.device) : undefined;
      const joiner = new FragmentJoiner((frame) => receiver.arrive(frame));
      this.#joiners.push(joiner);
      const ring = new PacketRing({ ...source, filter }, sizes, (frame) =>
        answers === undefined ? joiner.arrive(frame) : trials.arrive(frame, answers),
      );
      this.#rings.push(ring);
      this.#opened.push(ring);
      this.#opened.push(
        new NeighbourResolver(source, (address, isTagged) => emulated.has(address) && (isTagged || !own.has(address))),
      );
    }
    if (config.protocol === 'other') return;
    for (const listen of config.listen) {
      const fd = openQuietPort(listen);
      this.#opened.push({ close: () => closeSocket(fd) });
    }
  }

  async start(): Promise<void> {
    const { signal, samples } = this.#context;
    this.#watch = setInterval(() => {
      this.#takeDrops();
      for (const joiner of this.#joiners) joiner.expire();
      for (const device of this.#devices) this.#look(device);
    }, watchMs);
    await Promise.race([aborted(signal), this.#broken.promise]);
    await untilQuiet(samples.counter('stream.received'));
    // The kernel hands over the last block only after its timeout.
    await sleep(3 * retireMs);
    for (const ring of this.#rings) ring.ready();
    this.#takeDrops();
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const one of this.#opened) one.close();
    kernelEventLoop.release();
  }

  /** Frames dropped since the start because the ring was full. */
  #takeDrops(): number {
    for (const ring of this.#rings) this.#drops.add(ring.takeDrops());
    return this.#drops.value;
  }

  #openAnswers(device: Device): TrialPort {
    const fd = openSender(device);
    this.#opened.push({ close: () => closeSocket(fd) });
    const send = (frame: Buffer) => {
      try {
        sendFrame(fd, frame);
      } catch {
        // The link is down or the frame does not fit: the sender repeats its query.
      }
    };
    return { mac: device.mac, send };
  }

  #look(device: string): void {
    const state = linkStateOf(device);
    if (state === 'down') this.#context.note(`the link of ${device} was down`);
    if (state === 'gone') this.#broken.reject(new DeviceGone(device));
  }
}

export const prepareStreamServer = async (context: EngineContext<StreamServerConfig>): Promise<PreparedEngine> => {
  epollPoller();
  const server = new StreamServer(context);
  kernelEventLoop.acquire();
  try {
    server.open();
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
};
