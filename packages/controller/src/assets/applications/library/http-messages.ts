import { type Part, sizeOf } from './bytes.ts';
import { field } from './field.ts';

const crlf = '\r\n';
const agent = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0';

export const host = (name: string) => field('host', name, 'Name of the server');
export const path = (value: string) => field('path', value, 'Path of the request');

interface Message {
  readonly type?: string;
  readonly headers?: readonly Part[];
  readonly body?: readonly Part[];
}

const rest = ({ type, headers = [], body = [] }: Message): Part[] => [
  ...headers.flatMap((header) => [header, crlf]),
  ...(type === undefined ? [] : [`Content-Type: ${type}`, crlf]),
  ...(body.length === 0 ? [] : [`Content-Length: ${sizeOf(...body)}`, crlf]),
  crlf,
  ...body,
];

/** A request of HTTP/1.1; the target may hold parameters. */
export const request = (method: string, target: Part, name: Part, message: Message = {}): Part => [
  `${method} `,
  target,
  ` HTTP/1.1${crlf}Host: `,
  name,
  `${crlf}User-Agent: ${agent}${crlf}Accept: */*${crlf}`,
  ...rest(message),
];

export const response = (status: string, message: Message = {}): Part => [
  `HTTP/1.1 ${status}${crlf}Server: web${crlf}`,
  ...rest(message.body ? message : { ...message, headers: [...(message.headers ?? []), 'Content-Length: 0'] }),
];

export const json = (value: unknown): Message => ({ type: 'application/json', body: [JSON.stringify(value)] });
