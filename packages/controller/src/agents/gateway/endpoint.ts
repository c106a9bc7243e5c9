import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxMessageBytes, sealBytes } from '@rushhour/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

export const agentPath = '/agent';

/** Connections at once that have not proven who they are, in all and from one address. */
const maxStrangers = 2000;
const maxStrangersPerAddress = 256;
/** Bytes that such a connection may send, WebSocket frames included. */
const maxStrangerBytes = 4096;

/** Whether a request wants to become the channel of an agent; every other upgrade is an ordinary request. */
export const isAgentUpgrade = ({ url = '' }: IncomingMessage) => url.split('?')[0] === agentPath;

const rejectUpgrade = (socket: Duplex, status: string, message: string) => {
  const body = JSON.stringify({ data: { code: 'AGENT_CHANNEL' }, error: message });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
};

/** Calls `exceed` once when more than `max` bytes have arrived. Returns the function that lifts the limit. */
const limitBytes = (socket: Duplex, max: number, exceed: () => void) => {
  let left = max;
  const count = (chunk: Buffer) => {
    left -= chunk.length;
    if (left >= 0) return;
    socket.off('data', count);
    exceed();
  };
  // Before the WebSocket reads the same bytes.
  socket.prependListener('data', count);
  return () => void socket.off('data', count);
};

/** Counts connections without a proven identity. */
const createStrangers = () => {
  const byAddress = new Map<string, number>();
  let total = 0;
  const add = (address: string, by: number) => {
    total += by;
    const count = (byAddress.get(address) ?? 0) + by;
    if (count === 0) byAddress.delete(address);
    else byAddress.set(address, count);
  };
  return {
    isFull: (address: string) => total >= maxStrangers || (byAddress.get(address) ?? 0) >= maxStrangersPerAddress,
    enter: (address: string) => add(address, 1),
    leave: (address: string) => add(address, -1),
  };
};

/** A connection as the endpoint hands it over. */
export interface Arriving {
  readonly socket: WebSocket;
  readonly address: string;
  /** To be called when the agent has proven who it is, or the connection has ended. */
  known(): void;
  /** Called when too much arrives before. */
  onExcess: () => void;
}

/** The WebSocket side of `/agent`. */
export const createEndpoint = (open: (arriving: Arriving) => void, addressOf: (request: IncomingMessage) => string) => {
  const maxPayload = maxMessageBytes + sealBytes;
  const server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
  const strangers = createStrangers();
  let isClosed = false;

  const handOver = (client: WebSocket, socket: Duplex, address: string) => {
    strangers.enter(address);
    const lift = limitBytes(socket, maxStrangerBytes, () => arriving.onExcess());
    let isKnown = false;
    const known = () => {
      if (isKnown) return;
      isKnown = true;
      lift();
      strangers.leave(address);
    };
    const arriving: Arriving = { socket: client, address, known, onExcess: () => client.terminate() };
    client.once('close', known);
    open(arriving);
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    if (isClosed) return rejectUpgrade(socket, '503 Service Unavailable', 'the controller is stopping');
    // Only browsers say where they come from, and no browser is an agent.
    if (request.headers.origin !== undefined)
      return rejectUpgrade(socket, '403 Forbidden', 'this channel is for agents');
    const address = addressOf(request);
    if (strangers.isFull(address)) return rejectUpgrade(socket, '503 Service Unavailable', 'too many at once');
    server.handleUpgrade(request, socket, head, (client) => handOver(client, socket, address));
  };

  return {
    attach: (http: Server) => void http.on('upgrade', upgrade),
    /** Agents that come from now on go elsewhere. */
    refuse: () => {
      isClosed = true;
    },
    close: () => {
      isClosed = true;
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
};
