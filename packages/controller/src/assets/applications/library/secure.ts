import { createCipheriv, createHmac } from 'node:crypto';
import {
  compose,
  hex,
  noise,
  type Part,
  sized8,
  sized16,
  sized24,
  sized32,
  sizeOf,
  u8,
  u16,
  u24,
  u32,
  zeros,
} from './bytes.ts';
import { field } from './field.ts';
import { type LibraryApplication, tcp, udp } from './script.ts';

const extension = (type: number, ...parts: Part[]): Part => [u16(type), sized16(...parts)];
const keyShare = [u16(0x1d), sized16(noise(32, 41))];

/** Messages of TLS 1.3 with random numbers that are the same in every build. */
const clientHello = (name: Part, ...more: Part[]): Part => [
  u8(1),
  sized24(
    ...[u16(0x0303), noise(32, 40), sized8(noise(32, 42)), sized16(hex('130113021303c02bc02f')), sized8(u8(0))],
    sized16(
      extension(0, sized16(u8(0), sized16(name))),
      extension(10, sized16(u16(0x1d), u16(0x17))),
      extension(13, sized16(hex('0403080404010503'))),
      extension(16, sized16(sized8('h2'), sized8('http/1.1'))),
      extension(43, sized8(u16(0x0304))),
      extension(51, sized16(keyShare)),
      ...more,
    ),
  ),
];
const serverHello: Part = [
  u8(2),
  sized24(
    ...[u16(0x0303), noise(32, 43), sized8(noise(32, 42)), u16(0x1301), u8(0)],
    sized16(extension(43, u16(0x0304)), extension(51, keyShare)),
  ),
];
const record = (type: number, ...parts: Part[]): Part => [u8(type), u16(0x0303), sized16(...parts)];
const sealed = (size: number, seed: number): Part => record(23, noise(size, seed));

const conversation = (port: number, name: string, exchanges: readonly (readonly [number, number])[]) => {
  const tls = tcp(port);
  return [
    tls.client(record(22, clientHello(field('serverName', name, 'Server name of the TLS handshake')))),
    tls.server(record(22, serverHello), record(20, u8(1)), sealed(2400, 50), sealed(58, 51)),
    tls.client(record(20, u8(1)), sealed(58, 52), sealed(exchanges[0]?.[0] ?? 100, 53)),
    tls.server(sealed(exchanges[0]?.[1] ?? 100, 54)),
    ...exchanges
      .slice(1)
      .flatMap(([asked, answered], index) => [
        tls.client(sealed(asked, 60 + index)),
        tls.server(sealed(answered, 70 + index)),
      ]),
  ];
};

export const httpsPage: LibraryApplication = {
  name: 'Secure web page (TLS 1.3 shape)',
  description:
    'The records of a page over TLS 1.3; the payload is noise of the right sizes, for paths that do not decrypt.',
  tags: 'library,web,secure',
  recognisedAs: 'tls',
  steps: conversation(443, 'www.shop.test', [
    [420, 12_000],
    [300, 15_000],
  ]),
};

export const nameLookupTls: LibraryApplication = {
  name: 'Name lookup over TLS (DoT shape)',
  description: 'The records of a lookup by DNS over TLS.',
  tags: 'library,infrastructure,dns,secure',
  recognisedAs: 'tls',
  steps: conversation(853, 'dot.test', [[64, 128]]),
};

export const videoMeeting: LibraryApplication = {
  name: 'Video meeting over TLS',
  description: 'A meeting that fell back to TLS: many small records both ways.',
  tags: 'library,voice,video,secure',
  recognisedAs: 'tls',
  steps: conversation(
    443,
    'meet.test',
    Array.from({ length: 20 }, (_, index) => [180 + index, 1100 + index] as const),
  ),
};

const ssh = tcp(22);
const names = (text: string): Part => sized32(text);
const kexInit = [
  ...[
    u8(20),
    noise(16, 80),
    names('curve25519-sha256'),
    names('ssh-ed25519'),
    names('aes128-ctr'),
    names('aes128-ctr'),
  ],
  ...[
    names('hmac-sha2-256'),
    names('hmac-sha2-256'),
    names('none'),
    names('none'),
    names(''),
    names(''),
    u8(0),
    u32(0),
  ],
];
const sshPacket = (...parts: Part[]): Part => {
  const padding = 8 + (-(sizeOf(...parts) + 13) & 7);
  return [u32(sizeOf(...parts) + padding + 1), u8(padding), ...parts, zeros(padding)];
};
/** A host key or a signature: the name of its kind, then its bytes. */
const keyed = (size: number, seed: number): Part => sized32(sized32('ssh-ed25519'), sized32(noise(size, seed)));
export const secureShell: LibraryApplication = {
  name: 'Secure shell (SSH)',
  description: 'Banners and the beginning of the key exchange.',
  tags: 'library,administration,secure',
  recognisedAs: 'ssh',
  steps: [
    ssh.client('SSH-2.0-OpenSSH_9.6\r\n'),
    ssh.server('SSH-2.0-OpenSSH_9.6\r\n', sshPacket(kexInit)),
    ssh.client(sshPacket(kexInit), sshPacket(u8(30), sized32(noise(32, 81)))),
    ssh.server(sshPacket(u8(31), keyed(32, 82), sized32(noise(32, 83)), keyed(64, 84)), sshPacket(u8(21))),
    ssh.client(sshPacket(u8(21))),
  ],
};

const dtls = udp(4433);
const dtlsHello = [u16(0xfefd), noise(32, 90), u8(0), u8(0), sized16(hex('c02bc02f')), sized8(u8(0))];
const verify = [u16(0xfeff), sized8(noise(20, 91))];
const fragment = (type: number, ...body: Part[]): Part => [
  ...[u8(type), u24(sizeOf(...body)), u16(0), u24(0), u24(sizeOf(...body)), ...body],
];
const dtlsRecord = (sequence: number, ...parts: Part[]): Part => [
  ...[u8(22), u16(0xfeff), u16(0), zeros(4), u16(sequence), sized16(...parts)],
];
export const dtlsHandshake: LibraryApplication = {
  name: 'WebRTC media setup (DTLS)',
  description: 'A hello and the request for a cookie, as media of a browser begins.',
  tags: 'library,voice,secure',
  recognisedAs: 'dtls',
  steps: [dtls.client(dtlsRecord(0, fragment(1, dtlsHello))), dtls.server(dtlsRecord(0, fragment(3, verify)))],
};

const ike = udp(500);
const payload = (next: number, ...parts: Part[]): Part => [u8(next, 0), u16(sizeOf(...parts) + 4), ...parts];
const transform = (isLast: boolean, type: number, id: number, attribute: Part = zeros(0)): Part => [
  ...[u8(isLast ? 0 : 3, 0), u16(8 + sizeOf(attribute)), u8(type, 0), u16(id), attribute],
];
const proposal = [...[transform(false, 1, 20, hex('800e0080')), transform(false, 2, 5), transform(true, 4, 31)]];
const association = payload(34, u8(0, 0), u16(8 + sizeOf(proposal)), u8(1, 1, 0, 3), proposal);
const ikeMessage = (answering: Part, flags: number): Part => {
  const body = [association, payload(40, u16(31), u16(0), noise(32, 95)), payload(0, noise(32, 96))];
  return [noise(8, 94), answering, u8(33, 0x20, 34, flags), u32(0), u32(28 + sizeOf(body)), body];
};
export const vpnHandshake: LibraryApplication = {
  name: 'VPN handshake (IKEv2)',
  description: 'The first exchange of an IPsec tunnel.',
  tags: 'library,vpn,secure',
  recognisedAs: 'isakmp',
  steps: [ike.client(ikeMessage(zeros(8), 8)), ike.server(ikeMessage(noise(8, 97), 0x20))],
};

const wireguard = udp(51_820);
export const wireGuard: LibraryApplication = {
  name: 'VPN handshake (WireGuard shape)',
  description: 'Initiation, response and transport messages of WireGuard by type and size; the keys are noise.',
  tags: 'library,vpn,secure',
  recognisedAs: 'wg',
  steps: [
    wireguard.client(hex('01000000 11000000'), noise(108, 98), zeros(32)),
    wireguard.server(hex('02000000 22000000 11000000'), noise(48, 99), zeros(32)),
    wireguard.client(hex('04000000 22000000'), zeros(8), noise(128, 100)),
    wireguard.server(hex('04000000 11000000'), zeros(8), noise(1376, 101)),
  ],
};

const expand = (secret: Uint8Array, label: string, length: number) => {
  const { bytes } = compose([u16(length), sized8(`tls13 ${label}`), u8(0)]);
  return hkdfExpand(secret, bytes, length);
};
/** One block of HKDF-Expand is all that QUIC needs here. */
const hkdfExpand = (secret: Uint8Array, info: Uint8Array, length: number) =>
  createHmac('sha256', secret).update(info).update(u8(1)).digest().subarray(0, length);

const salt = hex('38762cf7f55934b34d179ae6a4c80cadccbb7f0a');
const connection = hex('8394c8f03e515708');

/** An Initial packet, encrypted and protected as RFC 9001 says, so that a device can read the server name. */
const quicInitial = (side: 'client' | 'server', frames: Part): Uint8Array => {
  const initial = createHmac('sha256', salt).update(connection).digest();
  const secret = expand(initial, `${side} in`, 32);
  const [key, iv, protection] = [
    expand(secret, 'quic key', 16),
    expand(secret, 'quic iv', 12),
    expand(secret, 'quic hp', 16),
  ];
  const plain = Buffer.concat([compose([frames]).bytes, zeros(Math.max(0, 1162 - sizeOf(frames)))]);
  const ids = side === 'client' ? [sized8(connection), u8(0)] : [u8(0), sized8(noise(8, 110))];
  const header = Buffer.from(compose([u8(0xc3), u32(1), ids, u8(0), u16(0x4000 + plain.length + 20), u32(0)]).bytes);
  const cipher = createCipheriv('aes-128-gcm', key, iv);
  cipher.setAAD(header);
  const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const mask = createCipheriv('aes-128-ecb', protection, null).update(body.subarray(0, 16));
  header[0] = (header[0] as number) ^ ((mask[0] as number) & 0x0f);
  for (let at = 0; at < 4; at++) {
    const position = header.length - 4 + at;
    header[position] = (header[position] as number) ^ (mask[1 + at] as number);
  }
  return Buffer.concat([header, body]);
};
const cryptoFrame = (message: Part): Part => [u8(6, 0), u16(0x4000 + sizeOf(message)), message];
const transport = extension(0x39, u8(0x04, 4), u32(0x80100000), u8(0x0f, 0));

const quic = udp(443);
export const quicConnection: LibraryApplication = {
  name: 'QUIC connection',
  description: 'Initial packets of QUIC version 1 with a readable server name, as HTTP/3 begins.',
  tags: 'library,web,secure',
  recognisedAs: 'quic',
  steps: [
    quic.client(quicInitial('client', cryptoFrame(clientHello('www.shop.test', transport)))),
    quic.server(quicInitial('server', [hex('0200000000'), cryptoFrame(serverHello)])),
  ],
};
