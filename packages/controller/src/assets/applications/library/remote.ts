import { hex, noise, type Part, sized16, sized24, sizeOf, u8, u16, u32, zeros } from './bytes.ts';
import { field } from './field.ts';
import { type LibraryApplication, tcp } from './script.ts';

const telnet = tcp(23);
export const terminal: LibraryApplication = {
  name: 'Terminal (Telnet)',
  description: 'Options are negotiated, a user signs in and runs a command.',
  tags: 'library,administration',
  recognisedAs: 'telnet',
  steps: [
    telnet.server(hex('fffd18fffd1f')),
    telnet.client(hex('fffc18fffc1f')),
    telnet.server('login: '),
    telnet.client(field('user', 'admin', 'Name of the user'), '\r\n'),
    telnet.server('Password: '),
    telnet.client(field('password', 'secret', 'Password of the user'), '\r\n'),
    telnet.server('router> '),
    telnet.client('show version\r\n'),
    telnet.server('Version 12.4\r\nrouter> '),
  ],
};

const rdp = tcp(3389);
const tpkt = (...parts: Part[]): Part => [u8(3, 0), u16(sizeOf(...parts) + 4), ...parts];
export const remoteDesktop: LibraryApplication = {
  name: 'Remote desktop (RDP)',
  description: 'The negotiation with which a remote desktop begins.',
  tags: 'library,administration,enterprise',
  recognisedAs: 'rdp',
  steps: [
    rdp.client(
      tpkt(
        u8(39, 0xe0),
        zeros(5),
        'Cookie: mstshash=anna\r\n'.padEnd(25, ' ').slice(0, 25),
        hex('01 00 0800 03000000'),
      ),
    ),
    rdp.server(tpkt(hex('0ed00000123400 02000800 02000000'))),
  ],
};

const vnc = tcp(5900);
export const screenSharing: LibraryApplication = {
  name: 'Screen sharing (VNC)',
  description: 'A viewer connects without a password and gets the size of the screen.',
  tags: 'library,administration',
  recognisedAs: 'vnc',
  steps: [
    vnc.server('RFB 003.008\n'),
    vnc.client('RFB 003.008\n'),
    vnc.server(u8(1, 1)),
    vnc.client(u8(1)),
    vnc.server(u32(0)),
    vnc.client(u8(1)),
    vnc.server(u16(1280), u16(800), hex('20180001 00ff 00ff 00ff 100800 000000'), u32(6), 'office'),
  ],
};

const socks = tcp(1080);
export const socksProxy: LibraryApplication = {
  name: 'SOCKS proxy',
  description: 'A connection through a SOCKS5 proxy, with a request in it.',
  tags: 'library,proxy',
  recognisedAs: 'socks',
  steps: [
    socks.client(u8(5, 1, 0)),
    socks.server(u8(5, 0)),
    socks.client(u8(5, 1, 0, 3, 13), 'www.shop.test', u16(80)),
    socks.server(u8(5, 0, 0, 1, 192, 0, 2, 1), u16(40_000)),
    socks.client('GET / HTTP/1.1\r\nHost: www.shop.test\r\n\r\n'),
    socks.server('HTTP/1.1 204 No Content\r\n\r\n'),
  ],
};

const bgp = tcp(179);
const bgpMessage = (type: number, ...parts: Part[]): Part => [
  ...[new Uint8Array(16).fill(255), u16(sizeOf(...parts) + 19), u8(type), ...parts],
];
const open = (as: number): Part => bgpMessage(1, u8(4), u16(as), u16(180), u8(192, 0, 2, as & 255), u8(0));
export const routing: LibraryApplication = {
  name: 'Routing session (BGP)',
  description: 'Two routers open a session and exchange a route.',
  tags: 'library,infrastructure,routing',
  recognisedAs: 'bgp',
  steps: [
    bgp.client(open(64_512)),
    bgp.server(open(64_513), bgpMessage(4)),
    bgp.client(
      bgpMessage(4),
      bgpMessage(2, u16(0), sized16(hex('400101004002040201fc00400304c0000201')), hex('18c63364')),
    ),
    bgp.server(bgpMessage(4)),
  ],
};

const http2 = tcp(8080);
const frame = (type: number, flags: number, stream: number, ...parts: Part[]): Part => {
  const [size = '', ...rest] = sized24(...parts) as Part[];
  return [size, u8(type, flags), u32(stream), ...rest];
};
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** Fields by the static table of HPACK, or as literals that are not indexed. */
const literal = (name: string, value: string): Part => [u8(0, name.length), name, u8(value.length), value];
const requestFields = (path: string, isPost: boolean, ...more: Part[]): Part => [
  ...[u8(isPost ? 0x83 : 0x82, 0x86), u8(4, path.length), path, u8(1, 8), 'api.test', ...more],
];
const settings = frame(4, 0, 0);
const acknowledged = frame(4, 1, 0);

export const http2Page: LibraryApplication = {
  name: 'Web page (HTTP/2)',
  description: 'Three requests at once on one connection of HTTP/2 without TLS.',
  tags: 'library,web',
  recognisedAs: 'http2',
  steps: [
    http2.client(
      preface,
      settings,
      ...[1, 3, 5].map((stream) => frame(1, 5, stream, requestFields(`/part${stream}`, false))),
    ),
    http2.server(
      settings,
      acknowledged,
      ...[1, 3, 5].map((stream) => [frame(1, 4, stream, u8(0x88)), frame(0, 1, stream, noise(8000, stream))]),
    ),
    http2.client(acknowledged, frame(7, 0, 0, u32(0), u32(0))),
  ],
};

const grpcMessage = (text: string): Part => [u8(0), u32(text.length + 2), u8(10, text.length), text];
export const grpcCall: LibraryApplication = {
  name: 'Remote call (gRPC)',
  description: 'One unary call of a gRPC service without TLS.',
  tags: 'library,saas,api,data-centre',
  recognisedAs: 'grpc',
  steps: [
    http2.client(
      preface,
      settings,
      frame(
        1,
        4,
        1,
        requestFields('/shop.Stock/Get', true, literal('content-type', 'application/grpc'), literal('te', 'trailers')),
      ),
      frame(0, 1, 1, grpcMessage('item-12')),
    ),
    http2.server(
      settings,
      acknowledged,
      frame(1, 4, 1, u8(0x88), literal('content-type', 'application/grpc')),
      frame(0, 0, 1, grpcMessage('five')),
      frame(1, 5, 1, literal('grpc-status', '0')),
    ),
  ],
};
