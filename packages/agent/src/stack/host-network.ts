import type { HostStack } from '@rushhour/protocol';
import { formatAddress } from '@rushhour/wire';
import type { HostNetwork } from '../net/host-network.ts';
import type { Transport } from '../net/transport/transport.ts';
import { NodeDatagramSocket } from './node-datagram-socket.ts';
import { dialNodeSocket, NodeSocket } from './node-socket.ts';
import { openStack, type StackDeps } from './open-stack.ts';
import type { Stack } from './stack.ts';
import { createStackDatagrams } from './stack-datagrams.ts';
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

/** The emulated hosts of a job, ready for its engine. */
export const openHostNetwork = (config: HostStack, deps: StackDeps): HostNetwork => {
  const stack = openStack(config, deps);
  let streams: Transport | undefined;
  const streamTransport = (): Transport => {
    streams ??= createStackTransport(stack, streamOptions);
    return streams;
  };
  return {
    addresses: addressesOf(stack),
    createTransport: (options) => createStackTransport(stack, options),
    createDatagrams: () => createStackDatagrams(stack),
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
    async close() {
      await streams?.close();
      stack.close();
    },
  };
};
