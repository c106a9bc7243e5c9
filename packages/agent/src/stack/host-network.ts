import type { HostStack } from '@rushhour/protocol';
import { formatAddress } from '@rushhour/wire';
import type { Samples } from '../engine.ts';
import type { HostLayers, HostNetwork } from '../net/host-network.ts';
import type { Transport } from '../net/transport/transport.ts';
import { NodeDatagramSocket } from './node-datagram-socket.ts';
import { dialNodeSocket, NodeSocket } from './node-socket.ts';
import { openStack, type StackDeps } from './ports/open-stack.ts';
import type { Stack } from './stack.ts';
import { createStackDatagrams } from './stack-datagrams.ts';
import { createStackIcmp, createStackPackets } from './stack-icmp.ts';
import { StackMeters } from './stack-meters.ts';
import { watchStackSyns } from './stack-syns.ts';
import { createStackTransport } from './stack-transport.ts';

const streamOptions = {
  noDelay: true,
  keepAliveSec: 0,
  readSize: 'small',
  closesImmediately: false,
  usesPromises: true,
} as const;

const addressesOf = ({ hosts }: Stack): string[] => {
  const words = new Int32Array(4);
  return Array.from({ length: hosts.count }, (_, host) => {
    hosts.writeAddress(host, words, 0);
    return formatAddress(words, 0);
  });
};

const layersOf = (stack: Stack): HostLayers => ({
  group: stack.group,
  interface: stack.config.interface,
  hostCount: stack.hosts.count,
  sink: stack.port,
  hostOf: (address) => stack.hosts.indexOf(address, 0),
  writeAddress: (host, to, at) => stack.hosts.writeAddress(host, to, at),
  writeMac: (host, to, at) => stack.hosts.writeMac(host, to, at),
  tagsOf: (host) => stack.hosts.tagsOf(host),
  scheduleFlush: () => stack.scheduleFlush(),
});

/** The emulated hosts of a job, ready for its engine. */
export const openHostNetwork = (config: HostStack, deps: StackDeps): HostNetwork =>
  createHostNetwork(openStack(config, deps), deps.samples);

export const createHostNetwork = (stack: Stack, samples: Samples): HostNetwork => {
  const meters = new StackMeters(stack, samples);
  let streams: Transport | undefined;
  const streamTransport = (): Transport => {
    streams ??= createStackTransport(stack, streamOptions);
    return streams;
  };
  return {
    addresses: addressesOf(stack),
    layers: layersOf(stack),
    createTransport: (options) => createStackTransport(stack, options),
    createDatagrams: () => createStackDatagrams(stack),
    createIcmp: (events) => createStackIcmp(stack, events),
    watchSyns: (onSyn) => watchStackSyns(stack, onSyn),
    createPackets: (onPacket) => createStackPackets(stack, onPacket),
    createDatagramSocket: () =>
      new NodeDatagramSocket(createStackDatagrams(stack)) as unknown as ReturnType<HostNetwork['createDatagramSocket']>,
    dial: (route) => dialNodeSocket(streamTransport(), route),
    async serve(where, onSocket) {
      const listener = await streamTransport().listen({ ...where, isShared: false }, (connection) => {
        const socket = new NodeSocket().attach(connection);
        onSocket(socket);
        return socket;
      });
      return () => listener.close();
    },
    poll: () => stack.port.poll(),
    async close() {
      await streams?.close();
      meters.close();
      stack.close();
    },
  };
};
