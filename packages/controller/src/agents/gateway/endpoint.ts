import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxMessageBytes } from '@rushhour/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

export const agentPath = '/agent';

/** Connections at once that have not shown who they are: each may send a whole message before. */
const maxStrangers = 2000;

/** Whether a request wants to become the channel of an agent; every other upgrade is an ordinary request. */
export const isAgentUpgrade = ({ url = '' }: IncomingMessage) => url.split('?')[0] === agentPath;

const rejectUpgrade = (socket: Duplex, status: string, message: string) => {
  const body = JSON.stringify({ data: { code: 'AGENT_CHANNEL' }, error: message });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
};

/** The WebSocket side of `/agent`. `open` answers a promise that ends when it is decided who the other side is. */
export const createEndpoint = (open: (socket: WebSocket, address: string) => Promise<void>) => {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  let strangers = 0;
  let isClosed = false;

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    if (isClosed) return rejectUpgrade(socket, '503 Service Unavailable', 'the controller is stopping');
    // Only browsers say where they come from, and no browser is an agent.
    if (request.headers.origin !== undefined)
      return rejectUpgrade(socket, '403 Forbidden', 'this channel is for agents');
    if (strangers >= maxStrangers) return rejectUpgrade(socket, '503 Service Unavailable', 'too many at once');
    server.handleUpgrade(request, socket, head, (client) => {
      strangers += 1;
      void open(client, request.socket.remoteAddress ?? '').finally(() => {
        strangers -= 1;
      });
    });
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
