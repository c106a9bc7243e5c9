import { readFileSync } from 'node:fs';
import type { HarAnswers, HarReplayServerConfig, TlsServerSettings } from '@rushhour/protocol';
import type { EngineContext, Run } from '../../engine.ts';
import { aborted } from '../../net/aborted.ts';
import { codeOf, countError } from '../../net/error-kind.ts';
import { closeServers, listenAll } from '../../net/listen.ts';
import { serverTlsOptions, withCertificate } from '../../net/tls-options.ts';
import { ByteMeter } from './lane.ts';
import { createReplayPorts } from './replay-port.ts';
import { Responder } from './responder.ts';

type Context = EngineContext<HarReplayServerConfig>;

const lookMs = 200;

/** A certificate of our own bears the names of all recorded hosts, so that it fits whichever is asked for. */
export const withNames = ({ tls, names, listen }: HarReplayServerConfig): TlsServerSettings =>
  withCertificate(tls, [...names.map((host) => ({ host, port: 443 })), ...listen]);

/** Listens once prepared, so that clients find it at the common start. */
export const prepareReplayServer = async (context: Context): Promise<Run> => {
  const { config, samples, signal } = context;
  const { answers } = JSON.parse(readFileSync(config.answers, 'utf8')) as HarAnswers;
  const responder = new Responder(answers, config.mode, samples);
  const counters = { txBytes: samples.counter('har-replay.txBytes'), rxBytes: samples.counter('har-replay.rxBytes') };
  const meters = new Set<ByteMeter>();
  const onError = (code: string) => countError(samples, 'har-replay', code);
  const alpn = config.tls.alpn.length > 0 ? config.tls.alpn : ['h2', 'http/1.1'];
  const createServer = createReplayPorts({
    tls: serverTlsOptions(withNames(config), config.listen, alpn),
    onRequest: (request, reply) => {
      reply.on('error', (error: Error) => onError(codeOf(error)));
      responder.answer(request, reply).catch((error: Error) => {
        onError(codeOf(error));
        reply.destroy();
      });
    },
    onSocket: (socket) => {
      const meter = new ByteMeter(socket, counters);
      meters.add(meter);
      socket.on('close', () => {
        meter.look();
        meters.delete(meter);
      });
    },
    onError,
  });
  const servers = await listenAll(config.listen, createServer, context);
  const lookAll = () => {
    for (const meter of meters) meter.look();
  };
  const looking = setInterval(lookAll, lookMs);
  return {
    start: () => aborted(signal).then(lookAll),
    close: async () => {
      clearInterval(looking);
      await closeServers(servers);
    },
  };
};
