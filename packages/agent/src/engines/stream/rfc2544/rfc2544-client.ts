import { randomInt } from 'node:crypto';
import type { Rfc2544Plan, Rfc2544Record, StreamClientConfig } from '@rushhour/protocol';
import type { EngineContext, Pausable, PreparedEngine, SelfJudging } from '../../../engine.ts';
import { epollPoller } from '../../../net/epoll/epoll-poller.ts';
import { closeSocket } from '../../../net/kernel/socket.ts';
import { aborted } from '../../../net/loop/aborted.ts';
import { kernelEventLoop } from '../../../net/loop/kernel-event-loop.ts';
import { layersOf } from '../headers.ts';
import { portsOf } from '../origins.ts';
import { openQuietPort } from '../quiet-port.ts';
import { prepareStreamPath, type StreamPath } from '../stream-path.ts';
import { TrialInquiry } from './rfc2544-inquiry.ts';
import { SizeTests } from './rfc2544-tests.ts';
import { runTrial, type TrialOptions, type TrialParts, type TrialResult } from './rfc2544-trial.ts';

type Context = EngineContext<StreamClientConfig>;
type TestName = Rfc2544Plan['tests'][number];

const askFirstMs = 1000;
const askAtStartMs = 3000;
/** Ethernet header and check sequence. */
const frameOverhead = 18;
const tags = 65_536;
const titles: Readonly<Record<TestName, string>> = {
  throughput: 'throughput',
  latency: 'latency',
  frameLoss: 'frame loss',
  backToBack: 'back-to-back frames',
};

/** Frame sizes that fit the MTU; the others are noted in the result. */
const fittingSizes = ({ config, note }: Context, { device }: StreamPath, sizes: readonly number[]): number[] => {
  const room = device.mtu + frameOverhead + (config.headers.vlan.length > 0 ? 4 : 0);
  const fitting = sizes.filter((size) => size <= room);
  const tooLong = sizes.filter((size) => size > room);
  if (fitting.length === 0) throw new RangeError(`no frame size fits the MTU ${device.mtu} of ${device.name}`);
  if (tooLong.length > 0)
    note(`frames of ${tooLong.join(', ')} bytes were skipped: the MTU of ${device.name} is ${device.mtu}`);
  return fitting;
};

/** Runs RFC 2544 trials for one frame size after another. */
class Rfc2544Client implements PreparedEngine, Pausable, SelfJudging {
  readonly judgesItself = true;
  readonly #context: Context;
  readonly #plan: Rfc2544Plan;
  readonly #path: StreamPath;
  readonly #sizes: readonly number[];
  #inquiry: TrialInquiry | undefined;
  #quietPort: number | undefined;
  #tag = randomInt(tags);
  #number = 0;
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(context: Context, plan: Rfc2544Plan, path: StreamPath) {
    this.#context = context;
    this.#plan = plan;
    this.#path = path;
    this.#sizes = fittingSizes(context, path, plan.frameSizes);
  }

  async start(): Promise<void> {
    const { signal } = this.#context;
    await Promise.race([this.#path.resolve(askAtStartMs), aborted(signal)]);
    const mac = this.#path.nextHopMac(0);
    this.#inquiry = new TrialInquiry(this.#path.device, this.#layers(mac));
    this.#quietPort = this.#openQuietPort();
    const nextHopMac = mac.toString('hex').replace(/..(?=.)/g, '$&:');
    const parts = { context: this.#context, plan: this.#plan, inquiry: this.#inquiry, nextHopMac };
    for (const frameSize of this.#sizes) await this.#testSize(parts, frameSize);
    if (signal.aborted) this.#context.note('the run ended before all trials were made');
  }

  /** Takes effect after the current trial: an interrupted trial has no result. */
  pause(): void {
    this.#resumed ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  async close(): Promise<void> {
    this.#inquiry?.close();
    if (this.#quietPort !== undefined) closeSocket(this.#quietPort);
    this.#path.close();
    kernelEventLoop.release();
  }

  async #testSize(parts: TrialParts, frameSize: number): Promise<void> {
    const { config, note } = this.#context;
    const { rate } = config.load;
    const tests = new SizeTests({
      plan: this.#plan,
      frameSize,
      device: this.#path.device.name,
      orderedFps: rate === undefined ? undefined : this.#path.ratePps(rate, { meanBytes: frameSize }),
      report: (record) => this.#context.record({ side: 'rfc2544', frameSize, ...record } as Rfc2544Record),
      note,
      run: (test, options) => this.#trial(parts, test, { ...options, frameSize }),
    });
    await tests.run();
  }

  async #trial(parts: TrialParts, test: TestName, options: TrialOptions): Promise<TrialResult | undefined> {
    const { signal, progress, record } = this.#context;
    await Promise.race([this.#resumed?.promise, aborted(signal)]);
    if (signal.aborted) return undefined;
    const number = ++this.#number;
    const { frameSize, rate, frames } = options;
    const how = rate === undefined ? 'as fast as possible' : `${Math.round(rate)} frames/s`;
    const amount = frames === undefined ? '' : `, ${frames} frames`;
    progress(`${titles[test]} of ${frameSize} bytes, trial ${number}: ${how}${amount}`);
    this.#tag = (this.#tag + 1) % tags;
    const result = await runTrial(parts, options, this.#tag);
    if (result === undefined) return undefined;
    const { sent, received, lossPct, offeredFps, drops, passed } = result;
    const counts = { sent, received, lossPct, offeredFps, drops, passed };
    record({ side: 'rfc2544', kind: 'trial', frameSize, test, number, ...counts });
    return result;
  }

  /** Binds the port of the answers, so that the kernel does not refuse them. */
  #openQuietPort(): number | undefined {
    const { config, host } = this.#context;
    const [address = ''] = this.#path.addresses;
    if (config.headers.protocol !== 'udp' || !host.addresses.includes(address)) return undefined;
    try {
      return openQuietPort({ host: address, port: this.#sourcePort });
    } catch {
      // The port is already bound, so the kernel does not refuse the answers.
      return undefined;
    }
  }

  get #sourcePort(): number {
    return portsOf(this.#context.config.sources.portRange)(0);
  }

  #layers(nextHopMac: Buffer) {
    const { config, addressOf } = this.#context;
    const [{ host, port }] = config.targets as [StreamClientConfig['targets'][number]];
    return layersOf(config.headers, {
      sourceMac: this.#path.device.mac,
      nextHopMac,
      source: this.#path.addresses[0] as string,
      destination: addressOf(host),
      ports: { source: this.#sourcePort, destination: port },
    });
  }
}

export const prepareRfc2544Client = async (
  context: Context,
  plan: Rfc2544Plan,
): Promise<PreparedEngine & Pausable & SelfJudging> => {
  const { targets, headers } = context.config;
  if (targets.length !== 1) throw new RangeError('RFC 2544 trials need exactly one target');
  if (headers.mpls.length > 0 || headers.tunnel !== undefined || headers.protocol === 'icmp')
    throw new RangeError('RFC 2544 trials do not support MPLS, tunnels or ICMP: the receiver could not answer');
  epollPoller();
  kernelEventLoop.acquire();
  let path: StreamPath | undefined;
  try {
    path = await prepareStreamPath(context);
    const client = new Rfc2544Client(context, plan, path);
    await path.resolve(askFirstMs);
    return client;
  } catch (error) {
    path?.close();
    kernelEventLoop.release();
    throw error;
  }
};
