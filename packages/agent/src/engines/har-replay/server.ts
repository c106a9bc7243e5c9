import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { HarAnswers, HarReplayServerConfig, TlsServerSettings } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine, Samples } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError, errorCodeOf } from '../../net/metrics/count-error.ts';
import { serverTlsOptions, withCertificate } from '../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import { ByteMeter } from './http-connection.ts';
import { createReplayPorts } from './replay-ports.ts';
import { Responder } from './responder.ts';

type Context = EngineContext<HarReplayServerConfig>;

const lookMs = 200;

/** The self-signed certificate contains the names of all recorded hosts. */
export const withNames = ({ tls, names, listen }: HarReplayServerConfig): TlsServerSettings =>
  withCertificate(tls, [...names.map((host) => ({ host, port: 443 })), ...listen]);

/** Counts the bytes of all connections, periodically and at close. */
const createByteWatch = (samples: Samples) => {
  const counters = { txBytes: samples.counter('har-replay.txBytes'), rxBytes: samples.counter('har-replay.rxBytes') };
  const meters = new Set<ByteMeter>();
  const look = () => {
    for (const meter of meters) meter.look();
  };
  const looking = setInterval(look, lookMs);
  const watch = (socket: Socket) => {
    const meter = new ByteMeter(socket, counters);
    meters.add(meter);
    socket.on('close', () => {
      meter.look();
      meters.delete(meter);
    });
  };
  return { watch, look, close: () => clearInterval(looking) };
};

/** Listens from preparation on, so that clients can connect at the common start. */
export const prepareReplayServer = async (context: Context): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const { answers } = JSON.parse(readFileSync(config.answers, 'utf8')) as HarAnswers;
  const responder = new Responder(answers, config.mode, samples);
  const onError = (code: string) => countError(samples, 'har-replay', code);
  const alpn = config.tls.alpn.length > 0 ? config.tls.alpn : ['h2', 'http/1.1'];
  const bytes = createByteWatch(samples);
  const createServer = createReplayPorts({
    tls: serverTlsOptions(withNames(config), config.listen, alpn),
    onRequest: (request, reply) => {
      reply.on('error', (error: Error) => onError(errorCodeOf(error)));
      responder.answer(request, reply).catch((error: Error) => {
        onError(errorCodeOf(error));
        reply.destroy();
      });
    },
    onSocket: bytes.watch,
    onError,
  });
  const servers = await listenAll(config.listen, createServer, context).catch((error: unknown) => {
    bytes.close();
    throw error;
  });
  return {
    start: () => aborted(signal).then(bytes.look),
    close: async () => {
      bytes.close();
      await closeServers(servers);
    },
  };
};
