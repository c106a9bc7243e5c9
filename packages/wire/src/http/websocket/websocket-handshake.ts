import { createHash } from 'node:crypto';

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The answer to a key (RFC 6455, section 4.2.2). */
const acceptOf = (key: string): string => createHash('sha1').update(`${key}${guid}`).digest('base64');

/** No state is kept between messages, on either side. */
const deflateOffer = 'permessage-deflate; client_no_context_takeover; server_no_context_takeover';

/** Start line and headers; names in lower case, equal names joined by commas. */
export interface UpgradeHead {
  readonly startLine: string;
  readonly headers: ReadonlyMap<string, string>;
}

/** Parses a head without its last empty line. */
export const parseUpgradeHead = (text: string): UpgradeHead => {
  const [startLine = '', ...lines] = text.split(/\r?\n/);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { startLine, headers };
};

const tokensOf = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');

const hasToken = (value: string | undefined, token: string): boolean =>
  tokensOf(value).some((one) => one.toLowerCase() === token);

/** The headers with which a client asks for a WebSocket. */
export const upgradeHeaders = (key: string, options: { subprotocol: string; isCompressed: boolean }): string[] => [
  'Upgrade: websocket',
  'Connection: Upgrade',
  `Sec-WebSocket-Key: ${key}`,
  'Sec-WebSocket-Version: 13',
  ...(options.subprotocol === '' ? [] : [`Sec-WebSocket-Protocol: ${options.subprotocol}`]),
  ...(options.isCompressed ? [`Sec-WebSocket-Extensions: ${deflateOffer}`] : []),
];

interface Agreed {
  readonly isCompressed: boolean;
}

/** What a server has agreed to; undefined when its answer is not one to the key. Its status is 101. */
export const agreedOf = (head: UpgradeHead, key: string, mayCompress: boolean): Agreed | undefined => {
  const { headers } = head;
  const isUpgrade = hasToken(headers.get('upgrade'), 'websocket') && hasToken(headers.get('connection'), 'upgrade');
  if (!isUpgrade || headers.get('sec-websocket-accept') !== acceptOf(key)) return undefined;
  const extensions = tokensOf(headers.get('sec-websocket-extensions'));
  if (extensions.length === 0) return { isCompressed: false };
  const [extension = ''] = extensions;
  const parts = extension.split(';').map((part) => part.trim());
  const isOurs = mayCompress && extensions.length === 1 && parts[0] === 'permessage-deflate';
  // A server that keeps its state could not be read message by message.
  return isOurs && parts.includes('server_no_context_takeover') ? { isCompressed: true } : undefined;
};

export interface UpgradeAnswer {
  readonly status: 101 | 400 | 426;
  /** The whole head. */
  readonly text: string;
  readonly isCompressed: boolean;
}

const refusal = (status: 400 | 426): UpgradeAnswer => ({
  status,
  text:
    status === 426
      ? 'HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nConnection: Upgrade, close\r\nContent-Length: 0\r\n\r\n'
      : 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  isCompressed: false,
});

/** An offer that works without state: a window for the server's messages would be a limit. */
const takesDeflate = (offers: string | undefined): boolean =>
  tokensOf(offers).some((offer) => {
    const [name, ...parameters] = offer.split(';').map((part) => part.trim());
    return name === 'permessage-deflate' && !parameters.some((one) => one.startsWith('server_max_window_bits'));
  });

/** The answer of a server: WebSocket, or why not. */
export const answerUpgrade = (
  head: UpgradeHead,
  options: { subprotocol: string; mayCompress: boolean },
): UpgradeAnswer => {
  const { startLine, headers } = head;
  if (!/^[A-Z]+ \S+ HTTP\/1\.\d$/.test(startLine)) return refusal(400);
  if (!hasToken(headers.get('upgrade'), 'websocket')) return refusal(426);
  const key = headers.get('sec-websocket-key') ?? '';
  const isValid = startLine.startsWith('GET ') && startLine.endsWith('1.1') && /^[A-Za-z0-9+/]{22}==$/.test(key);
  if (!isValid || !hasToken(headers.get('connection'), 'upgrade')) return refusal(400);
  if (headers.get('sec-websocket-version') !== '13') return refusal(426);
  const isCompressed = options.mayCompress && takesDeflate(headers.get('sec-websocket-extensions'));
  const offered = tokensOf(headers.get('sec-websocket-protocol'));
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
    ...(offered.includes(options.subprotocol) ? [`Sec-WebSocket-Protocol: ${options.subprotocol}`] : []),
    ...(isCompressed ? [`Sec-WebSocket-Extensions: ${deflateOffer}`] : []),
  ];
  return { status: 101, text: `${lines.join('\r\n')}\r\n\r\n`, isCompressed };
};
