import type { DatagramTransport } from '../../net/datagram/datagram-transport.ts';
import type { Chunk, Route } from '../../net/transport/transport.ts';

interface UdpTransportOptions {
  /** Size of queries and how many are sent in one system call. */
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

/** Events of a transport. A token identifies a query in flight on that transport. */
export interface MessageTransportEvents {
  onAnswer(token: number, answer: Chunk): void;
  /** The query will not be answered. */
  onFail(token: number, code: string): void;
  /** An error that belongs to no single query. */
  onError(code: string): void;
  /** A connection took so long to open; `isResumed`: by resuming a TLS session. */
  onConnect(opening: { readonly ms: number; readonly isResumed: boolean }): void;
}

/** Carries queries to one server. Tokens are also the message ids. */
export interface MessageTransport {
  /** The bytes may be reused after the call. */
  send(message: Buffer, token: number): void;
  /** The client no longer waits for this answer. */
  forget(token: number): void;
  close(): void;
}
