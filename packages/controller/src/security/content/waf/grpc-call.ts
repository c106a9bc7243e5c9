import type { HttpAnswer, HttpRequest } from '@rushhour/protocol';

/** How the place `grpc` is sent. */
export interface GrpcForm {
  /** Method, such as /search.SearchService/Search. */
  readonly method: string;
  /** The message with a text in it. */
  messageOf(text: string): Uint8Array;
}

const fieldOf = (number: number, bytes: Uint8Array): Buffer => {
  const length: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
};

/** A message of one field with a text. */
export const textMessage = (text: string): Buffer => fieldOf(1, Buffer.from(text));

const framed = (message: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

/** A message as it stands in a request, with the prefix of gRPC. */
export const grpcBody = framed;

/** A question with its text, the number of a page, and a filter inside that has the text as well. */
const searchMessage = (text: string): Buffer =>
  Buffer.concat([textMessage(text), Buffer.from([0x10, 1]), fieldOf(3, textMessage(text))]);

export const defaultGrpc: GrpcForm = { method: '/search.SearchService/Search', messageOf: searchMessage };

const contentType = { name: 'Content-Type', value: 'application/grpc' } as const;

/** A call without its message. */
export const grpcCallHeaders: HttpRequest['headers'] = [
  contentType,
  { name: 'TE', value: 'trailers' },
  { name: 'User-Agent', value: 'grpc-go/1.58.3' },
];

/** What a server answers to a call that went well: a message without fields, which every type allows. */
export const grpcAnswer: HttpAnswer = {
  mode: 'canned',
  status: 200,
  headers: [contentType],
  body: { data: framed(Buffer.alloc(0)).toString('base64') },
  trailers: [{ name: 'grpc-status', value: '0' }],
};

export const isGrpcCall = ({ headers, version }: Pick<HttpRequest, 'headers' | 'version'>): boolean =>
  version === '2' &&
  headers.some(({ name, value }) => /^content-type$/i.test(name.trim()) && value.trim().startsWith(contentType.value));

/** What the server answers when nothing else is said. */
export const answerTo = (request: HttpRequest): HttpAnswer =>
  isGrpcCall(request) ? grpcAnswer : { mode: 'canned', status: 200, headers: [] };
