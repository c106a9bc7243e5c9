import type { DatagramTransport } from '../../net/datagram/datagram-transport.ts';
import type { Route } from '../../net/transport/transport.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';

export interface UdpChannelOptions {
  /** Of queries, and how many of them may leave together. */
  readonly sendBatch: { readonly count: number; readonly bytes: number };
}

const receiveBufferBytes = 4_194_304;

/** Queries over one UDP socket. */
export const openUdpTransport = async (
  datagrams: DatagramTransport,
  route: Route,
  options: UdpChannelOptions & { readonly events: MessageTransportEvents },
): Promise<MessageTransport> => {
  const { events, ...sizes } = options;
  const socket = await datagrams.connect(
    route,
    { ...sizes, receiveBufferBytes, usesSegmentation: true },
    {
      onMessage(datagram) {
        const { bytes, start, end } = datagram;
        if (end - start >= 2) events.onAnswer(((bytes[start] as number) << 8) | (bytes[start + 1] as number), datagram);
      },
      onSent() {},
      onFail: (token, code) => events.onFail(token, code),
      onError: (code) => events.onError(code),
    },
  );
  return {
    send: (message, token) => socket.send(message, token),
    forget() {},
    close() {},
  };
};
