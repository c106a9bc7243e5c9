import { CaptureWriter, ethernetFrame, tcpPacket, udpPacket } from '@rushhour/pcap';

const [FIN, SYN, PSH, ACK] = [1, 2, 8, 16];
type Message = readonly [side: 'client' | 'server', text: string];

interface Conversation {
  readonly clientPort: number;
  readonly serverPort: number;
  readonly messages: readonly Message[];
  /** Leaves out the packet with this number among those that say something. */
  readonly lost?: number;
}

const [client, server] = ['10.1.0.1', '10.2.0.1'];

/** A TCP conversation from handshake to end, as IP packets. */
const conversation = ({ clientPort, serverPort, messages, lost }: Conversation): Uint8Array[] => {
  const next = { client: 1000, server: 9000 };
  const packets: Uint8Array[] = [];
  const send = (side: 'client' | 'server', payload: Uint8Array, flags: number, isLost = false) => {
    const isClient = side === 'client';
    const ends = isClient
      ? { src: client, dst: server, srcPort: clientPort, dstPort: serverPort }
      : { src: server, dst: client, srcPort: serverPort, dstPort: clientPort };
    const ack = flags === SYN ? 0 : next[isClient ? 'server' : 'client'];
    if (!isLost) packets.push(tcpPacket(payload, { ...ends, seq: next[side], ack, flags }));
    next[side] += payload.length + (flags & (SYN | FIN) ? 1 : 0);
  };
  const none = new Uint8Array(0);
  send('client', none, SYN);
  send('server', none, SYN | ACK);
  send('client', none, ACK);
  for (const [number, [side, text]] of messages.entries()) send(side, Buffer.from(text), PSH | ACK, number === lost);
  send('client', none, FIN | ACK);
  send('server', none, FIN | ACK);
  send('client', none, ACK);
  return packets;
};

const post = (body: string) =>
  `POST /login HTTP/1.1\r\nHost: shop.test\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const ok = (body: string, headers = '') => `HTTP/1.1 200 OK\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

/** Steps of session 0, in order. */
export const shopSteps = [
  post('user=anna&mail=anna%40shop.test'),
  ok('hello', 'Set-Cookie: sid=8f3a99c04d\r\n'),
  'GET /cart HTTP/1.1\r\nHost: shop.test\r\nCookie: sid=8f3a99c04d\r\nAuthorization: Basic YW5uYTpzZWNyZXQ=\r\n\r\n',
  ok('cart of anna'),
] as const;

const dns = Buffer.from('123401000001000000000000047368 6f7004746573740000010001'.replace(' ', ''), 'hex');

/** Session 0: HTTP; 1: DNS over UDP; 2: another HTTP; 3: HTTP with a hole, which cannot be replayed. */
export const shopCapture = (): Buffer<ArrayBuffer> => {
  const sides = ['client', 'server'] as const;
  const alternating = (texts: readonly string[]): Message[] =>
    texts.map((text, index) => [sides[index % 2] ?? 'client', text]);
  const ends = { src: client, dst: server, srcPort: 5353, dstPort: 53 };
  const back = { src: server, dst: client, srcPort: 53, dstPort: 5353 };
  const other = ['GET /other HTTP/1.1\r\nHost: shop.test\r\n\r\n', ok('anna again')];
  const holed = ['GET /a HTTP/1.1\r\n\r\n', ok('first'), 'GET /b HTTP/1.1\r\n\r\n', ok('second')];
  return captureOf([
    ...conversation({ clientPort: 40_000, serverPort: 80, messages: alternating(shopSteps) }),
    udpPacket(dns, ends),
    udpPacket(dns, back),
    ...conversation({ clientPort: 40_001, serverPort: 80, messages: alternating(other) }),
    ...conversation({ clientPort: 40_002, serverPort: 80, messages: alternating(holed), lost: 1 }),
  ]);
};

/** A capture of nothing that can be replayed. */
export const hopelessCapture = () => {
  const messages: Message[] = [
    ['client', 'GET / HTTP/1.1\r\n\r\n'],
    ['server', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['server', 'end'],
  ];
  return captureOf(conversation({ clientPort: 40_003, serverPort: 80, messages, lost: 1 }));
};

const captureOf = (packets: readonly Uint8Array[]) => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  for (const [index, packet] of packets.entries()) {
    writer.add({ seconds: 1_700_000_000, nanoseconds: index * 10_000_000, bytes: ethernetFrame(packet) });
  }
  return Buffer.from(writer.take());
};
