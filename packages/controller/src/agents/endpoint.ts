import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxMessageBytes } from '@rushhour/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

export const agentPath = '/agent';

/** Connections at once: agents and those who want to become one. */
const maxConnections = 20_000;

/** Whether a request wants to become the channel of an agent; every other upgrade is an ordinary request. */
export const isAgentUpgrade = ({ url = '' }: IncomingMessage) => url.split('?')[0] === agentPath;

const turnAway = (socket: Duplex, status: string, message: string) => {
  const body = JSON.stringify({ data: { code: 'AGENT_CHANNEL' }, error: message });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
};

/** The WebSocket side of `/agent`. */
export const createEndpoint = (open: (socket: WebSocket, address: string) => void) => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    clientTracking: true,
  });
  let isClosed = false;

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    if (isClosed) return turnAway(socket, '503 Service Unavailable', 'the controller is stopping');
    // Only browsers say where they come from, and no browser is an agent.
    if (request.headers.origin !== undefined) return turnAway(socket, '403 Forbidden', 'this channel is for agents');
    if (server.clients.size >= maxConnections) return turnAway(socket, '503 Service Unavailable', 'too many agents');
    server.handleUpgrade(request, socket, head, (client) => open(client, request.socket.remoteAddress ?? ''));
  };

  return {
    attach: (http: Server) => void http.on('upgrade', upgrade),
    close: () => {
      isClosed = true;
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
};
