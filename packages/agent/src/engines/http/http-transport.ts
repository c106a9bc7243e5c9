import type { HttpClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import { createStreamTransport } from '../../net/data-path.ts';
import type { QuicClient } from '../../net/quic/quic-client.ts';
import { countMoves } from '../../net/quic/quic-meters.ts';
import { createQuicPath } from '../../net/quic/quic-path.ts';
import { createSecureClient, tlsObserver } from '../../net/secure-path.ts';
import type { Transport } from '../../net/transport/transport.ts';

/** The transport of a client: plain or by TLS. */
const createHttpTransport = (context: EngineContext<HttpClientConfig>): Transport => {
  const { config, note, hostNetwork } = context;
  const { tls, tuning, journeys, webSocket } = config;
  const path = { path: config.dataPath, note, hostNetwork };
  const isH2 = config.version === '2';
  // A single request without a body is sent as one segment, so Nagle's algorithm cannot delay it.
  const isSingle = !config.keepAlive.enabled && config.body === undefined && config.followRedirects === 0;
  const noDelay = isH2 || tls !== undefined || journeys !== undefined || webSocket !== undefined || !isSingle;
  const options = { noDelay, keepAliveSec: 0, readSize: 'small', closesImmediately: true, tuning } as const;
  if (tls === undefined) return createStreamTransport(path, options);
  const alpn = isH2 ? ['h2'] : tls.alpn.length > 0 ? tls.alpn : ['http/1.1'];
  // Data of the first flight can be replayed: only for requests that change nothing.
  const isSafe =
    journeys === undefined && webSocket === undefined && (config.method === 'GET' || config.method === 'HEAD');
  const earlyData = tls.earlyData === true && isSafe;
  return createSecureClient({ ...tls, earlyData }, { ...path, alpn, ...tlsObserver(context, 'http') }, options);
};

/** TCP or QUIC, as the version of HTTP needs it. */
export type HttpPath =
  | { readonly kind: 'tcp'; readonly transport: Transport }
  | { readonly kind: 'quic'; readonly transport: QuicClient };

export const createHttpPath = (context: EngineContext<HttpClientConfig>): HttpPath => {
  const { config } = context;
  if (config.version !== '3') return { kind: 'tcp', transport: createHttpTransport(context) };
  const { portChangeMs: moveMs } = config;
  const observer = { ...tlsObserver(context, 'http'), onMove: countMoves(context.samples, 'http') };
  const quic = createQuicPath(context).createClient(config.tls, ['h3'], { ...observer, moveMs });
  return { kind: 'quic', transport: quic };
};
