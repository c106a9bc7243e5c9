import type { DataPath, TcpTuning } from '@rushhour/protocol';
import type { DatagramTransport } from './datagram/datagram-transport.ts';
import { createMmsgTransport } from './datagram/mmsg-transport.ts';
import { createNodeDatagramTransport } from './datagram/node-datagram-transport.ts';
import { epollBackend } from './epoll/epoll-backend.ts';
import type { HostNetwork } from './host-network.ts';
import { probeEpoll, probeUring } from './path-probe.ts';
import { createNodeTransport } from './transport/node-transport.ts';
import { createSocketTransport } from './transport/socket-transport.ts';
import type { ConnectionOptions, Transport } from './transport/transport.ts';
import { uringBackend } from './uring/uring-backend.ts';

/** A data path that was requested by name and is not available on this machine. */
export class PathUnavailable extends Error {
  readonly code = 'ENGINE_UNAVAILABLE';
}

interface StreamPath {
  readonly path: Exclude<DataPath, 'auto'>;
  /** Returns why the path is not available; undefined if it is. */
  probe(): string | undefined;
  create(options: ConnectionOptions): Transport;
}

/** From the fastest to the one that works everywhere. */
const streamPaths: readonly StreamPath[] = [
  { path: 'io_uring', probe: probeUring, create: (options) => createSocketTransport(uringBackend(), options) },
  { path: 'epoll', probe: probeEpoll, create: (options) => createSocketTransport(epollBackend(), options) },
  { path: 'node', probe: () => undefined, create: createNodeTransport },
];

const pathNames = { io_uring: 'io_uring', epoll: 'epoll', node: 'node:net' } as const;

/** The path that plain TCP uses on this machine, for the list of capabilities. */
export const streamPathName = (): string =>
  pathNames[streamPaths.find(({ probe }) => probe() === undefined)?.path ?? 'node'];

export interface PathOptions {
  readonly path: DataPath | undefined;
  /** Emulated hosts: used instead of any path of the kernel. */
  readonly hostNetwork?: HostNetwork | undefined;
  readonly note: (remark: string) => void;
}

/** The requested path, or the first available one. Skipped paths are noted with the reason. */
export const choosePath = <S extends { readonly path: string; probe(): string | undefined }>(
  paths: readonly S[],
  { path = 'auto', note }: PathOptions,
): S => {
  const reasons: string[] = [];
  for (const step of paths) {
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

/** Notes that Node's sockets ignore TCP options. */
export const noteIgnoredTuning = (note: PathOptions['note'], tuning: TcpTuning | undefined): void => {
  const ignored = Object.keys(tuning ?? {});
  if (ignored.length > 0) note(`Node's sockets cannot be tuned: ${ignored.join(', ')} had no effect`);
};

/** Plain TCP on the fastest path this machine supports. */
export const createStreamTransport = (path: PathOptions, options: ConnectionOptions): Transport => {
  if (path.hostNetwork !== undefined) return path.hostNetwork.createTransport(options);
  const chosen = choosePath(streamPaths, path);
  if (chosen.path === 'node') noteIgnoredTuning(path.note, options.tuning);
  return chosen.create(options);
};

interface DatagramPath {
  readonly path: 'epoll' | 'node';
  probe(): string | undefined;
  readonly name: string;
  create(): DatagramTransport;
}

const datagramPaths: readonly DatagramPath[] = [
  { path: 'epoll', name: 'sendmmsg', probe: probeEpoll, create: createMmsgTransport },
  { path: 'node', name: 'node:dgram', probe: () => undefined, create: createNodeDatagramTransport },
];

/** The path that UDP uses on this machine, for the list of capabilities. */
export const datagramPathName = (): string =>
  datagramPaths.find(({ probe }) => probe() === undefined)?.name ?? 'node:dgram';

/** UDP on the fastest path this machine supports. */
export const createDatagramTransport = ({ path, note, hostNetwork }: PathOptions): DatagramTransport =>
  hostNetwork?.createDatagrams() ??
  // io_uring has nothing faster for datagrams than `sendmmsg`.
  choosePath(datagramPaths, { path: path === 'io_uring' ? 'epoll' : path, note }).create();
