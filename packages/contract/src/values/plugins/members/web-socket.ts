import { choice, flag, whole } from '../../protocols/field.ts';
import { payload } from './payload.ts';
import { milliseconds, optionalObject, optionalText } from './values.ts';

/** WebSocket instead of requests and answers. */
export const webSocket = optionalObject(
  'Connections become WebSockets and carry messages when this is given, even empty; rates count messages',
  {
    mode: choice(
      'echo: the client sends and the server returns each message; send: the client sends; receive: the server sends to every client',
      ['echo', 'send', 'receive'],
    ),
    kind: choice('Kind of the messages', ['text', 'binary']),
    message: payload('What is sent', 64),
    pushPerSecond: whole('Messages a second that the server sends on each connection', 1, [1, 1000]),
    subprotocol: optionalText('Protocol that the client asks for and the server agrees to', {
      maxLength: 255,
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
    }),
    compression: flag('Compress messages (permessage-deflate) if the other side does, too'),
    fragmentBytes: whole('Send messages in frames of at most so many bytes; 0 for one frame', 0, [0, 67_108_864]),
    pingIntervalMs: milliseconds('Time between pings of a client; 0 for none', 0),
    maxMessageBytes: whole(
      'Longest message that is accepted; a longer one closes the connection',
      1_048_576,
      [1, 67_108_864],
    ),
    closeCode: whole('Code with which the client takes leave', 1000, [1000, 4999]),
  },
);
