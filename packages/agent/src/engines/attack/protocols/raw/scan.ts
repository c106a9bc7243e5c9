import type { AttackServerConfig, Attempt, ScanExchange } from '@rushhour/protocol';
import type { HostNetwork, SynSeen } from '../../../../net/host-network.ts';
import { SynSocket } from '../../../../net/packet/syn-socket.ts';
import {
  type AttackListener,
  type AttackRoute,
  type ClientContext,
  type ClientOutcome,
  noOutcome,
  type ServerOutcome,
} from '../../driver.ts';
import { ClientConnection } from '../../transport/client-connection.ts';

/** Opens a connection to a port beside the proven one, and closes it. */
export const attemptScan = async (
  { exchange }: Attempt,
  route: AttackRoute,
  context: ClientContext,
): Promise<ClientOutcome> => {
  const { port, isOpen, timeoutMs } = exchange as ScanExchange;
  const connection = await ClientConnection.open({ ...route, port, isTls: false, timeoutMs }, context);
  const { ip, port: ownPort, connect, ownError } = connection;
  connection.close();
  return {
    ...noOutcome,
    ...{ ip: ip === '' ? (route.localAddress ?? '') : ip, port: ownPort, connect, isComplete: true },
    end: connect === 'ok' ? 'response' : 'none',
    responseIsOurs: connect === (isOpen ? 'ok' : 'refused'),
    ...(ownError !== undefined && { error: ownError }),
  };
};

interface WatchContext {
  readonly hostNetwork?: HostNetwork | undefined;
  elapsedMs(): number;
  record(seen: ServerOutcome): void;
}

const versionsOf = (listen: AttackServerConfig['listen']): (4 | 6)[] => [
  ...new Set(listen.map(({ host }) => (host.includes(':') ? 6 : 4))),
];

/** Reports who asks for the scanned ports, open or not: only this tells a refusal of the machine from one on the way. */
export const watchScans = (
  attempts: readonly Attempt[],
  listen: AttackServerConfig['listen'],
  { hostNetwork, elapsedMs, record }: WatchContext,
): AttackListener => {
  const scans = attempts.flatMap(({ exchange }) => (exchange.protocol === 'scan' ? exchange : []));
  const ports = new Set(scans.map(({ port }) => port));
  const known = new Set<string>();
  const onSyn = ({ ip, port, peerIp, peerPort }: SynSeen) => {
    const key = `${ip} ${port} ${peerIp} ${peerPort}`;
    // Requests are repeated until they are answered.
    if (!ports.has(port) || known.has(key)) return;
    known.add(key);
    record({
      ...{ attempt: null, step: 0, correlation: 'none', ip, port, peerIp, peerPort, seen: 'connected' },
      ...{ rxBytes: 0, rxSha256: '', sentBytes: 0, sentSha256: '', end: 'none', atMs: elapsedMs() },
    });
  };
  if (ports.size === 0) return { close: async () => {} };
  if (hostNetwork !== undefined) {
    const stop = hostNetwork.watchSyns(onSyn);
    return { close: async () => stop() };
  }
  const sockets = versionsOf(listen).map((version) => new SynSocket(version, onSyn));
  return {
    async close() {
      for (const socket of sockets) socket.close();
    },
  };
};
