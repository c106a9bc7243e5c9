const maxHeadBytes = 65_536;

export interface Field {
  readonly name: string;
  readonly value: string;
}

/** An HTTP/1.x message parsed from a stream. */
export interface HttpMessage {
  readonly startLine: string;
  readonly fields: readonly Field[];
  /** Decoded: without chunk framing. */
  readonly body: Buffer;
  /** How the end of the body is determined. */
  readonly framing: 'none' | 'length' | 'chunked' | 'close';
  /** Length on the wire, in bytes. */
  readonly length: number;
}

interface ParseOptions {
  readonly kind: 'request' | 'response';
  /** Method of the request this responds to. */
  readonly method?: string | undefined;
  /** The peer has closed its side of the stream. */
  readonly isEnded: boolean;
}

/** The bytes are not HTTP/1.x. */
export class NotHttp extends Error {}

const startLines = {
  request: /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} \S+ HTTP\/1\.[01]$/,
  response: /^HTTP\/1\.[01] \d{3}(?: .*)?$/,
};

/** The first message of a stream; undefined while it is incomplete. */
export const parseMessage = (bytes: Buffer, options: ParseOptions): HttpMessage | undefined => {
  const end = bytes.subarray(0, maxHeadBytes).indexOf('\r\n\r\n');
  if (end < 0) {
    if (bytes.length >= maxHeadBytes) throw new NotHttp('has no end of its head');
    return undefined;
  }
  const [startLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  if (!startLines[options.kind].test(startLine))
    throw new NotHttp(`begins with ${JSON.stringify(startLine.slice(0, 80))}`);
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    if (colon < 1) throw new NotHttp(`has the field ${JSON.stringify(line.slice(0, 80))}`);
    return { name: line.slice(0, colon).toLowerCase(), value: line.slice(colon + 1).trim() };
  });
  const body = parseBody(bytes, end + 4, { ...options, startLine, fields });
  return body && { startLine, fields, ...body };
};

type Body = Pick<HttpMessage, 'body' | 'framing' | 'length'>;
type Head = ParseOptions & Pick<HttpMessage, 'startLine' | 'fields'>;

const parseBody = (bytes: Buffer, from: number, head: Head): Body | undefined => {
  const field = (name: string) => head.fields.find((one) => one.name === name)?.value;
  const nothing: Body = { body: Buffer.alloc(0), framing: 'none', length: from };
  if (head.kind === 'response' && isBodiless(head)) return nothing;
  if (/chunked\s*$/i.test(field('transfer-encoding') ?? '')) return parseChunks(bytes, from);
  const counted = field('content-length');
  if (counted !== undefined) {
    const length = /^\d{1,15}$/.test(counted) ? Number(counted) : Number.NaN;
    if (Number.isNaN(length)) throw new NotHttp(`has the Content-Length ${JSON.stringify(counted.slice(0, 80))}`);
    if (bytes.length < from + length) return undefined;
    return { body: bytes.subarray(from, from + length), framing: 'length', length: from + length };
  }
  if (head.kind === 'request') return nothing;
  return head.isEnded ? { body: bytes.subarray(from), framing: 'close', length: bytes.length } : undefined;
};

const isBodiless = ({ startLine, method }: Head): boolean => {
  const status = statusOf({ startLine });
  return method === 'HEAD' || status < 200 || status === 204 || status === 304;
};

const parseChunks = (bytes: Buffer, from: number): Body | undefined => {
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const [, digits] = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(bytes.toString('latin1', at, lineEnd)) ?? [];
    if (digits === undefined) throw new NotHttp(`has a chunk without a length at byte ${at}`);
    const size = Number.parseInt(digits, 16);
    if (size === 0) return endOfChunks(bytes, lineEnd, parts);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
};

/** Trailers may follow the last chunk; an empty line ends them. */
const endOfChunks = (bytes: Buffer, lineEnd: number, parts: Buffer[]): Body | undefined => {
  const end = bytes.indexOf('\r\n\r\n', lineEnd);
  return end < 0 ? undefined : { body: Buffer.concat(parts), framing: 'chunked', length: end + 4 };
};

export const methodOf = ({ startLine }: Pick<HttpMessage, 'startLine'>): string => startLine.split(' ', 1)[0] ?? '';
export const targetOf = ({ startLine }: Pick<HttpMessage, 'startLine'>): string => startLine.split(' ')[1] ?? '';
export const statusOf = ({ startLine }: Pick<HttpMessage, 'startLine'>): number => Number(startLine.split(' ')[1]);
