import type { DataPath, Listen, TlsClientSettings, TlsServerSettings } from '@rushhour/protocol';
import type { EngineContext, Samples } from '../engine.ts';
import { createStreamTransport, noteIgnoredTuning, type PathOptions, streamPathName } from './data-path.ts';
import { alertName } from './openssl/alerts.ts';
import { findOpenssl } from './openssl/library.ts';
import type { TlsObserver } from './openssl/tls-connection.ts';
import { createTlsClientTransport, createTlsServerTransport } from './openssl/tls-transport.ts';
import { createStartTls } from './tls/start-tls.ts';
import { remarkOnNodeTls, serverTlsOptions, withCertificate } from './tls/tls-options.ts';
import { createNodeTlsTransport } from './transport/node-transport.ts';
import type { ConnectionOptions, Transport } from './transport/transport.ts';

/** Why TLS has to use Node's own sockets; undefined if it does not. */
export const fallbackReason = (path: DataPath | undefined): string | undefined => {
  if (path === 'node') return 'the data path node was asked for';
  const found = findOpenssl();
  return 'reason' in found ? found.reason : undefined;
};

/** What carries out TLS on this machine. */
export const tlsName = (): string => (fallbackReason(undefined) === undefined ? 'OpenSSL' : 'node:tls');

/** The path that TLS uses on this machine, for the list of capabilities. */
export const securePathName = (): string =>
  fallbackReason(undefined) === undefined ? `OpenSSL on ${streamPathName()}` : 'node:tls';

type Observed = Pick<EngineContext<unknown>, 'samples' | 'host' | 'putRow' | 'core'>;

const maxKeyLines = 20_000;
/** Rows before these are those of IPsec. */
const firstKeyRow = 100_000;

/** Key lines of each job: its transports share the rows. */
const keyLines = new WeakMap<Observed['putRow'], number>();

/** Reports secrets as rows of the table `keys`, those of each core in rows of their own. */
const createKeyReport = ({ host, putRow, core }: Observed): TlsObserver['onKeyLine'] => {
  if (!host.writesKeys) return undefined;
  return (line) => {
    const lines = keyLines.get(putRow) ?? 0;
    if (lines >= maxKeyLines || line.startsWith('EXPORTER_SECRET')) return;
    keyLines.set(putRow, lines + 1);
    putRow('keys', { index: firstKeyRow + lines * core.count + core.index, state: 'tls', cells: { line } });
  };
};

/** Counts alerts and early data by the names `<engine>.alerts.<direction>.<alert>`, and reports keys where they are wanted. */
export const tlsObserver = (context: Observed, engine: string): TlsObserver => {
  const { samples } = context;
  const counters = { sent: [], received: [] } as Record<'sent' | 'received', ReturnType<Samples['counter']>[]>;
  return {
    onAlert(direction, alert) {
      const known = counters[direction];
      known[alert] ??= samples.counter(`${engine}.alerts.${direction}.${alertName(alert)}`);
      known[alert].add(1);
    },
    onEarlyData: (isAccepted) => samples.counter(`${engine}.earlyData.${isAccepted ? 'accepted' : 'rejected'}`).add(1),
    onKeyLine: createKeyReport(context),
  };
};

export interface SecurePath extends PathOptions, TlsObserver {
  readonly alpn: readonly string[];
}

const noteFallback = (path: SecurePath, { tuning }: ConnectionOptions, remark: string): void => {
  path.note(remark);
  noteIgnoredTuning(path.note, tuning);
};

/** TLS for the side that connects, on the fastest path this machine supports. */
export const createSecureClient = (
  settings: TlsClientSettings,
  path: SecurePath,
  options: ConnectionOptions,
): Transport => {
  const { alpn, hostNetwork } = path;
  const reason = fallbackReason(path.path);
  if (reason === undefined) {
    return createTlsClientTransport(createStreamTransport(path, options), { ...path, settings });
  }
  noteFallback(path, options, remarkOnNodeTls(reason, settings));
  return createNodeTlsTransport({ startTls: createStartTls(settings, alpn), hostNetwork });
};

/** TLS for the side that listens. Without a certificate it makes one for the addresses it listens on. */
export const createSecureServer = (
  settings: TlsServerSettings,
  path: SecurePath & { readonly listen: readonly Listen[] },
  options: ConnectionOptions,
): Transport => {
  const { alpn, hostNetwork, listen, onHandshakeError } = path;
  const reason = fallbackReason(path.path);
  if (reason === undefined) {
    const certified = withCertificate(settings, listen);
    return createTlsServerTransport(createStreamTransport(path, options), { ...path, settings: certified });
  }
  noteFallback(path, options, remarkOnNodeTls(reason, settings));
  return createNodeTlsTransport({
    server: serverTlsOptions(settings, listen, alpn),
    hostNetwork,
    ...(onHandshakeError && { onHandshakeError }),
  });
};
