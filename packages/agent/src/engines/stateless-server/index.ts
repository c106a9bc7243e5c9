import { createServer, type Socket } from 'node:net';
import { StatelessServerConfig } from '@rushhour/protocol';
import { formatAddress, icmp4Type, icmp6Type, ipProtocol } from '@rushhour/wire';
import type { Divisible, Engine, EngineContext, PreparedEngine } from '../../engine.ts';
import { PathUnavailable } from '../../net/data-path.ts';
import { bindAll, closeSockets } from '../../net/datagram/bind-all.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';
import { chargenText, Responder } from './responder.ts';

const prepareStatelessUdp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const responder = new Responder(config, samples);
  let isClosed = false;
  const sockets = await bindAll(config.listen, context, (socket) => {
    socket.on('error', (error) => responder.fail(error));
    socket.on('message', (bytes, from) => {
      responder.addPeer(`${from.address} ${from.port}`);
      responder.respond(bytes, (answer, onSent) => {
        if (!isClosed) socket.send(answer, from.port, from.address, onSent);
      });
    });
  });
  return {
    start: () => aborted(signal),
    async close() {
      isClosed = true;
      await closeSockets(sockets);
    },
  };
};

/** Over TCP chargen sends without a request until the peer closes (RFC 864). */
const pour = (socket: Socket, text: Buffer): void => {
  if (socket.writable) socket.write(text, () => setImmediate(pour, socket, text));
};

const prepareStatelessTcp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const responder = new Responder(config, samples);
  const text = chargenText(95);
  const create = () =>
    createServer({ noDelay: true }, (socket) => {
      responder.addPeer(`${socket.remoteAddress} ${socket.remotePort}`);
      socket.on('error', (error) => responder.fail(error));
      if (config.mode === 'chargen') {
        socket.resume();
        pour(socket, text);
        return;
      }
      socket.on('data', (bytes) =>
        responder.respond(bytes, (answer, onSent) => {
          if (socket.writable) socket.write(answer, onSent);
        }),
      );
    });
  const servers = await listenAll(config.listen, create, context);
  return { start: () => aborted(signal), close: () => closeServers(servers) };
};

const needHosts = ({ hostNetwork, config }: EngineContext<StatelessServerConfig>): HostNetwork => {
  if (hostNetwork === undefined)
    throw new PathUnavailable(`a stateless server of ${config.protocol} needs emulated hosts`);
  return hostNetwork;
};

/** Answers echo requests with what the mode says, instead of the hosts themselves. */
const prepareStatelessIcmp = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
  const responder = new Responder(context.config, context.samples);
  const peer = new Int32Array(4);
  const icmp = needHosts(context).createIcmp({
    onEcho({ addresses, path, isV6 }, { word, body, end }, memory) {
      peer.set(addresses.subarray(4, 8));
      responder.addPeer(formatAddress(peer));
      const to = peer.slice();
      responder.respond(Buffer.from(memory.bytes.subarray(body, end)), (answer, onSent) => {
        const type = isV6 ? icmp6Type.echoReply : icmp4Type.echoReply;
        onSent(icmp.send(path, to, { type, code: 0, word, body: answer }) ? null : new Error('too many answers wait'));
      });
    },
  });
  return { start: () => aborted(context.signal), close: async () => icmp.close() };
};

const hasPorts = (protocol: number): boolean => protocol === ipProtocol.tcp || protocol === ipProtocol.udp;

/** Packets come back with their addresses exchanged, those of TCP and UDP with their ports as well. */
const prepareStatelessRaw = async (context: EngineContext<StatelessServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const responder = new Responder(config, samples);
  const packets = needHosts(context).createPackets(({ addresses, path }, protocol, memory, start, end) => {
    const to = addresses.slice(4, 8);
    responder.addPeer(formatAddress(to));
    const bytes = Buffer.from(memory.bytes.subarray(start, end));
    // The checksums hold: they do not depend on the order of addresses and ports.
    if (config.mode === 'echo' && hasPorts(protocol) && bytes.length >= 4) bytes.writeInt32BE(portsExchanged(bytes), 0);
    responder.respond(bytes, (answer, onSent) => {
      onSent(packets.send(path, to, { protocol, bytes: answer }) ? null : new Error('the answer could not be sent'));
    });
  });
  return { start: () => aborted(signal), close: async () => packets.close() };
};

const portsExchanged = (bytes: Buffer): number => {
  const ports = bytes.readInt32BE(0);
  return (ports << 16) | (ports >>> 16);
};

const preparers = {
  udp: prepareStatelessUdp,
  tcp: prepareStatelessTcp,
  icmp: prepareStatelessIcmp,
  raw: prepareStatelessRaw,
} as const;

/** A server without per-client state. */
export const statelessServer: Engine<StatelessServerConfig> & Divisible<StatelessServerConfig> = {
  id: 'stateless-server',
  config: StatelessServerConfig,
  targetsOf: () => [],
  check: async () => ({ isAvailable: true, path: 'node:dgram, node:net' }),
  prepare: (context) => preparers[context.config.protocol](context),
  divide: (config, _index, count) => ({
    ...config,
    maxRate: config.maxRate === 0 ? 0 : Math.max(1, Math.floor(config.maxRate / count)),
  }),
};
