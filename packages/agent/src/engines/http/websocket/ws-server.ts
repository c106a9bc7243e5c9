import type { HttpServerConfig, WebSocketSettings } from '@rushhour/protocol';
import { WebSocketConnection } from '@rushhour/wire';
import type { Samples } from '../../../engine.ts';
import { cyclerOf } from '../../../net/load/rotation.ts';
import { IndexedSet } from '../../../net/loop/indexed-set.ts';
import type { Connection, ConnectionEvents, Message, Transport } from '../../../net/transport/transport.ts';
import type { ServerMeters } from '../meters.ts';
import { messageCompression } from './compression.ts';
import { webSocketMessages } from './messages.ts';
import { MessageMeters } from './meters.ts';
import { WsServerConnection } from './ws-server-connection.ts';

interface WebSocketServer {
  readonly connections: Iterable<{ sweep(now: number): void }>;
  readonly accept: (connection: Connection) => ConnectionEvents;
  /** Ends what the server does by itself. */
  stop(): void;
}

interface Deps {
  readonly config: HttpServerConfig;
  readonly settings: WebSocketSettings;
  readonly transport: Transport;
  readonly meters: ServerMeters;
  readonly samples: Samples;
}

/** A message in both forms: bytes of a server are the same for all connections. */
interface PushedMessage {
  readonly plain: Message;
  readonly compressed: Message;
}

const pushedMessages = (settings: WebSocketSettings, transport: Transport): PushedMessage[] => {
  const formOf = (message: Uint8Array, isCompressed: boolean): Message => {
    const nothing = { onMessage: () => {}, onPong: () => {}, onClosing: () => {} };
    const { maxMessageBytes, fragmentBytes, isText } = settings;
    const compression = isCompressed ? messageCompression : undefined;
    const options = {
      isServer: true,
      write: () => {},
      createMask: () => 0,
      maxMessageBytes,
      fragmentBytes,
      compression,
    };
    return transport.prepareMessage(new WebSocketConnection(options, nothing).messageBytes(message, isText));
  };
  return webSocketMessages(settings).map((message) => ({
    plain: formOf(message, false),
    compressed: formOf(message, settings.isCompressed),
  }));
};

/** Sends a message to all connections, again and again. */
const startPushing = (deps: Deps, connections: Iterable<WsServerConnection>): NodeJS.Timeout => {
  const next = cyclerOf(pushedMessages(deps.settings, deps.transport));
  const intervalMs = 1000 / deps.settings.pushPerSecond;
  let due = performance.now() + intervalMs;
  return setInterval(
    () => {
      const now = performance.now();
      for (; due <= now; due += intervalMs) {
        const { plain, compressed } = next();
        for (const connection of connections) {
          const { isCompressed } = connection;
          if (isCompressed !== undefined) connection.push(isCompressed ? compressed : plain);
        }
      }
    },
    Math.max(1, intervalMs),
  );
};

/** WebSockets of a server: echoes, takes or sends messages. */
export const createWebSocketServer = (deps: Deps): WebSocketServer => {
  const { config, settings, meters, samples } = deps;
  const connections = new IndexedSet<WsServerConnection>();
  const messages = new MessageMeters(samples);
  const shared = { settings, meters, messages, idleMs: config.keepAlive.idleMs, connections };
  const timer = settings.mode === 'receive' ? startPushing(deps, connections) : undefined;
  return {
    connections,
    accept: (connection) => new WsServerConnection(connection, shared),
    stop: () => clearInterval(timer),
  };
};
