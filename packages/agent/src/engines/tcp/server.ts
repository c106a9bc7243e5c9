import { createServer, type Socket } from 'node:net';
import type { TcpServerConfig } from '@rushhour/protocol';
import type { EngineContext, Run } from '../../engine.ts';
import { aborted } from '../../net/aborted.ts';
import { codeOf, countError } from '../../net/error-kind.ts';
import { closeServers, listenAll } from '../../net/listen.ts';
import { payloadBytes } from '../../net/payload.ts';

const bulkBytes = 131_072;

/** Takes everything, sends it back, or sends without being asked. */
export const prepareTcpServer = async (context: EngineContext<TcpServerConfig>): Promise<Run> => {
  const { config, samples, signal } = context;
  const meters = {
    accepted: samples.counter('tcp.accepted'),
    active: samples.gauge('tcp.active'),
    txBytes: samples.counter('tcp.txBytes'),
    rxBytes: samples.counter('tcp.rxBytes'),
  };
  const wished = payloadBytes(config.payload);
  const payload = wished.length > 0 ? wished : Buffer.alloc(bulkBytes);
  const write = (socket: Socket, bytes: Buffer, then: () => void = () => {}) => {
    socket.write(bytes, (error) => {
      if (error) return;
      meters.txBytes.add(bytes.length);
      then();
    });
  };
  const pour = (socket: Socket): void => {
    if (socket.writable) write(socket, payload, () => setImmediate(pour, socket));
  };
  const serve = (socket: Socket) => {
    meters.accepted.add(1);
    meters.active.add(1);
    socket.on('data', (bytes) => {
      meters.rxBytes.add(bytes.length);
      if (config.mode === 'echo') write(socket, bytes);
    });
    socket.on('end', () => {
      if (config.closeMode === 'rst') socket.resetAndDestroy();
      else socket.end();
    });
    socket.on('error', (error) => countError(samples, 'tcp', codeOf(error)));
    socket.on('close', () => meters.active.add(-1));
    if (config.mode === 'source') pour(socket);
  };
  const create = () => createServer({ noDelay: config.noDelay, allowHalfOpen: true }, serve);
  const servers = await listenAll(config.listen, create, context);
  return { start: () => aborted(signal), close: () => closeServers(servers) };
};
