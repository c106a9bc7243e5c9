import { noise, u8, u16 } from './bytes.ts';
import { field } from './field.ts';
import { host, json, path, request, response } from './http-messages.ts';
import { type LibraryApplication, tcp } from './script.ts';

const html = (text: string) => ({ type: 'text/html; charset=utf-8', body: [`<!doctype html><title>${text}</title>`] });
const web = tcp(80);
const shop = host('www.shop.test');

export const webPage: LibraryApplication = {
  name: 'Web page',
  description: 'One page over HTTP/1.1.',
  tags: 'library,web',
  recognisedAs: 'http',
  steps: [
    web.client(request('GET', path('/index.html'), shop)),
    web.server(response('200 OK', { ...html('Shop'), headers: ['Cache-Control: no-cache'] })),
  ],
};

const asset = (target: string, type: string, size: number) => [
  web.client(request('GET', target, shop)),
  web.server(response('200 OK', { type, body: [noise(size, size)] })),
];

export const webPageWithAssets: LibraryApplication = {
  name: 'Web page with assets',
  description: 'A page with style sheet, script and pictures on one kept connection, about 65 KB.',
  tags: 'library,web',
  recognisedAs: 'http',
  steps: [
    web.client(request('GET', path('/home.html'), shop)),
    web.server(response('200 OK', html('Shop'))),
    ...asset('/site.css', 'text/css', 9_000),
    ...asset('/site.js', 'text/javascript', 24_000),
    ...asset('/logo.webp', 'image/webp', 12_000),
    ...asset('/photo.avif', 'image/avif', 20_000),
  ],
};

const form = [
  'login=',
  field('login', 'anna', 'Name of the user'),
  '&password=',
  field('password', 'winter-morning', 'Password of the user'),
];

export const webLogin: LibraryApplication = {
  name: 'Web form login',
  description: 'A login form is loaded and sent; the answer sets a cookie and redirects.',
  tags: 'library,web',
  recognisedAs: 'urlencoded-form',
  steps: [
    web.client(request('GET', '/login', shop)),
    web.server(response('200 OK', html('Sign in'))),
    web.client(request('POST', '/login', shop, { type: 'application/x-www-form-urlencoded', body: form })),
    web.server(response('302 Found', { headers: ['Location: /account', 'Set-Cookie: session=5f0c; HttpOnly'] })),
  ],
};

export const largeDownload: LibraryApplication = {
  name: 'Large download',
  description: 'One file of 64 KB over HTTP/1.1.',
  tags: 'library,web,file',
  recognisedAs: 'http',
  steps: [
    web.client(request('GET', path('/files/image.iso'), host('download.test'))),
    web.server(response('200 OK', { type: 'application/octet-stream', body: [noise(65_536)] })),
  ],
};

const part = 'RushhourPart';
const uploadBody = [
  `--${part}\r\nContent-Disposition: form-data; name="file"; filename="`,
  field('fileName', 'report.pdf', 'Name of the uploaded file'),
  '"\r\nContent-Type: application/pdf\r\n\r\n',
  noise(40_000),
  `\r\n--${part}--\r\n`,
];

export const fileUpload: LibraryApplication = {
  name: 'File upload',
  description: 'A form with a file of 40 KB (multipart).',
  tags: 'library,web,file',
  recognisedAs: 'mime_multipart',
  steps: [
    web.client(request('POST', '/upload', shop, { type: `multipart/form-data; boundary=${part}`, body: uploadBody })),
    web.server(response('201 Created', json({ id: 17 }))),
  ],
};

const frame = (opcode: number, text: string, isMasked: boolean) => {
  const body = Buffer.from(text);
  if (!isMasked) return [u8(0x80 | opcode, body.length), body];
  const key = u8(0x11, 0x22, 0x33, 0x44);
  return [u8(0x80 | opcode, 0x80 | body.length), key, body.map((byte, at) => byte ^ (key[at % 4] as number))];
};
const upgrade = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
];

export const webSocketChat: LibraryApplication = {
  name: 'WebSocket chat',
  description: 'Opens a WebSocket, exchanges messages and closes it.',
  tags: 'library,web,chat',
  recognisedAs: 'websocket',
  steps: [
    web.client(request('GET', '/chat', host('chat.test'), { headers: upgrade })),
    web.server(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    ),
    web.client(frame(1, 'hello from the client', true)),
    web.server(frame(1, 'hello from the server', false)),
    web.client(frame(8, '\u0003\u0064', true)),
    web.server([u8(0x88, 2), u16(1000)]),
  ],
};

export const eventStream: LibraryApplication = {
  name: 'Server-sent events',
  description: 'A page listens to a stream of events.',
  tags: 'library,web',
  recognisedAs: 'http',
  steps: [
    web.client(request('GET', '/events', host('live.test'), { headers: ['Accept: text/event-stream'] })),
    web.server(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n',
      ...Array.from({ length: 20 }, (_, index) => `id: ${index}\ndata: {"price":${1000 + index}}\n\n`),
    ),
  ],
};

const proxy = tcp(3128);
export const proxyConnect: LibraryApplication = {
  name: 'Web proxy CONNECT',
  description: 'A tunnel through a web proxy, with opaque data in it.',
  tags: 'library,web,proxy',
  recognisedAs: 'http',
  steps: [
    proxy.client(request('CONNECT', [host('www.shop.test'), ':443'], 'proxy.test')),
    proxy.server('HTTP/1.1 200 Connection established\r\n\r\n'),
    proxy.client(noise(517, 7)),
    proxy.server(noise(2800, 8)),
  ],
};
