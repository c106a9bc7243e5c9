import type { DatagramTransport } from '../../net/datagram/datagram-transport.ts';
import type { Chunk, Route } from '../../net/transport/transport.ts';

interface UdpTransportOptions {
  /** Of queries, and how many of them may leave together. */
  readonly sendBatch: { readonly count: number; readonly bytes: number };
}

const receiveBufferBytes = 4_194_304;

/** Queries over one UDP socket. */
export const openUdpTransport = async (
  datagrams: DatagramTransport,
  route: Route,
  options: UdpTransportOptions & { readonly events: MessageTransportEvents },
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

/** What a channel tells the client. A token stands for one query under way on that channel. */
export interface MessageTransportEvents {
  onAnswer(token: number, answer: Chunk): void;
  /** The query will not be answered. */
  onFail(token: number, code: string): void;
  /** Something went wrong that concerns no single query. */
  onError(code: string): void;
  onConnect(ms: number): void;
}

/** A way to one server that carries queries and answers. Tokens are also the ids of the messages. */
export interface MessageTransport {
  /** The bytes are needed no longer than this call. */
  send(message: Buffer, token: number): void;
  /** The client no longer waits for this answer. */
  forget(token: number): void;
  close(): void;
}
