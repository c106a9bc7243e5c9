import { choice, whole } from '../../protocols/field.ts';
import { optionalPayload, payload } from './payload.ts';
import { milliseconds, optionalObject, optionalText } from './values.ts';

const hex = (description: string) => optionalText(description, { maxLength: 131_072, pattern: '^([0-9A-Fa-f]{2})+$' });

const json = (description: string) => optionalText(description, { maxLength: 131_072 });

/** gRPC calls instead of plain requests. */
export const grpc = optionalObject(
  'Requests are gRPC calls to the method that `path` names, such as /shop.Cart/Add, when this is given, even empty',
  {
    call: choice('Kind of the method: one message or many on either side', [
      'unary',
      'serverStreaming',
      'clientStreaming',
      'bidirectional',
    ]),
    message: payload('A message of the client, as it is on the wire'),
    messageHex: hex('The same in hexadecimal digits, instead of `message`'),
    proto: optionalText('Description of the messages: a whole `.proto` file in the syntax proto3, without imports', {
      maxLength: 131_072,
    }),
    messageJson: json(
      'Content of the message as JSON, for the method of `proto` that `path` names, instead of `message`',
    ),
    answer: optionalPayload('A message of the server, as it is on the wire; the last one of the client when left out'),
    answerHex: hex('The same in hexadecimal digits, instead of `answer`'),
    answerJson: json('Content of the answer as JSON, instead of `answer`'),
    messages: whole('Messages of the client in one call', 10, [1, 100_000]),
    answers: whole('Messages of the server in one call', 10, [1, 100_000]),
    compression: choice('Compression of messages; the server compresses for clients that accept it', ['none', 'gzip']),
    deadlineMs: milliseconds('Deadline that the client tells the server; 0 for none', 0),
    status: whole('Status with which the server ends calls', 0, [0, 16]),
  },
);
