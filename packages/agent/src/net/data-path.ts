import type { DataPath, TcpTuning } from '@rushhour/protocol';
import type { Datagrams } from './datagram/datagrams.ts';
import { createMmsgDatagrams } from './datagram/mmsg-datagrams.ts';
import { createNodeDatagrams } from './datagram/node-datagrams.ts';
import { epollSystem } from './epoll/epoll-system.ts';
import { probeEpoll, probeUring } from './path-probe.ts';
import { createNodeTransport } from './transport/node-transport.ts';
import { createSocketTransport } from './transport/socket-transport.ts';
import type { ConnectionOptions, Transport } from './transport/transport.ts';
import { uringSystem } from './uring/uring-system.ts';

/** A data path that was asked for by name and does not exist here. */
export class PathUnavailable extends Error {
  readonly code = 'ENGINE_UNAVAILABLE';
}

interface Step {
  readonly path: Exclude<DataPath, 'auto'>;
  /** Undefined: it works here. */
  probe(): string | undefined;
  create(options: ConnectionOptions): Transport;
}

/** From the fastest way to the one that works everywhere. */
const streamLadder: readonly Step[] = [
  { path: 'io_uring', probe: probeUring, create: (options) => createSocketTransport(uringSystem(), options) },
  { path: 'epoll', probe: probeEpoll, create: (options) => createSocketTransport(epollSystem(), options) },
  { path: 'node', probe: () => undefined, create: createNodeTransport },
];

const wayNames = { io_uring: 'io_uring', epoll: 'epoll', node: 'node:net' } as const;

/** The way plain TCP takes on this machine, for the list of what it can. */
export const streamWay = (): string =>
  wayNames[streamLadder.find(({ probe }) => probe() === undefined)?.path ?? 'node'];

export interface PathWish {
  readonly path: DataPath | undefined;
  readonly note: (remark: string) => void;
}

/** The step that is ordered, or the first that works; steps that had to be passed over are told. */
export const chooseStep = <S extends { readonly path: string; probe(): string | undefined }>(
  ladder: readonly S[],
  { path = 'auto', note }: PathWish,
): S => {
  const reasons: string[] = [];
  for (const step of ladder) {
    if (path !== 'auto' && step.path !== path) continue;
    const reason = step.probe();
    if (reason === undefined) {
      if (reasons.length > 0) note(`sockets by ${step.path}: ${reasons.join('; ')}`);
      return step;
    }
    if (path !== 'auto') throw new PathUnavailable(`the data path ${path} cannot be used here: ${reason}`);
    reasons.push(reason);
  }
  throw new PathUnavailable(`there is no data path ${path}`);
};

/** Tells that sockets of Node cannot be as they were ordered. */
export const noteUntuned = (note: PathWish['note'], tuning: TcpTuning | undefined): void => {
  const wishes = Object.keys(tuning ?? {});
  if (wishes.length > 0) note(`sockets of Node are as the machine has them: ${wishes.join(', ')} had no effect`);
};

/** Plain TCP on the fastest way this machine allows. */
export const createStreamTransport = (wish: PathWish, options: ConnectionOptions): Transport => {
  const step = chooseStep(streamLadder, wish);
  if (step.path === 'node') noteUntuned(wish.note, options.tuning);
  return step.create(options);
};

interface DatagramStep {
  readonly path: 'epoll' | 'node';
  probe(): string | undefined;
  readonly way: string;
  create(): Datagrams;
}

const datagramLadder: readonly DatagramStep[] = [
  { path: 'epoll', way: 'sendmmsg', probe: probeEpoll, create: createMmsgDatagrams },
  { path: 'node', way: 'node:dgram', probe: () => undefined, create: createNodeDatagrams },
];

/** The way UDP takes on this machine, for the list of what it can. */
export const datagramWay = (): string => datagramLadder.find(({ probe }) => probe() === undefined)?.way ?? 'node:dgram';

/** UDP on the fastest way this machine allows. */
export const createDatagrams = ({ path, note }: PathWish): Datagrams =>
  // There is no faster way for packets on io_uring than many in one call.
  chooseStep(datagramLadder, { path: path === 'io_uring' ? 'epoll' : path, note }).create();
