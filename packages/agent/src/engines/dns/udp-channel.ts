import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { codeOf } from '../../net/error-kind.ts';
import type { Route } from '../../net/transport.ts';
import type { Channel, ChannelEvents } from './channel.ts';

export const openUdpChannel = async (route: Route, events: ChannelEvents): Promise<Channel> => {
  const socket: Socket = createSocket(isIPv6(route.address) ? 'udp6' : 'udp4');
  const { localAddress, localPort } = route;
  socket.bind({ ...(localAddress && { address: localAddress }), ...(localPort && { port: localPort }) });
  await once(socket, 'listening');
  socket.connect(route.port, route.address);
  await once(socket, 'connect');
  socket.on('message', (message) => {
    if (message.length >= 2) events.onAnswer(message.readUInt16BE(0), message);
  });
  socket.on('error', (error) => events.onError(codeOf(error)));
  return {
    send(message, token) {
      socket.send(message, (error) => {
        if (error) events.onFail(token, codeOf(error));
      });
    },
    forget: () => {},
    close: () => socket.close(),
  };
};
