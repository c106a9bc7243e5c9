import { CaptureWriter, ethernetFrame, tcpPacket, udpPacket } from '@rushhour/pcap';

const client = '10.0.0.1';
const server = '10.0.0.2';

type Segment = { from: 'client' | 'server'; flags: number; text?: string };

const [fin, syn, push, ack] = [0x01, 0x02, 0x08, 0x10];

/** One HTTP exchange and one DNS datagram, as a capture of some hundred bytes. */
export const smallCapture = (host = 'shop.example', sequence = 1000): Buffer<ArrayBuffer> => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  const next = { client: sequence, server: 5000 };
  let microseconds = 0;
  const add = (packet: Uint8Array) => {
    microseconds += 1000;
    writer.add({ seconds: 1_700_000_000, nanoseconds: microseconds * 1000, bytes: ethernetFrame(packet) });
  };
  const send = ({ from, flags, text = '' }: Segment) => {
    const to = from === 'client' ? 'server' : 'client';
    const [src, dst] = from === 'client' ? [client, server] : [server, client];
    const [srcPort, dstPort] = from === 'client' ? [40_000, 80] : [80, 40_000];
    const payload = Buffer.from(text);
    add(tcpPacket(payload, { src, dst, srcPort, dstPort, seq: next[from], ack: next[to], flags }));
    next[from] += payload.length + (flags & (syn | fin) ? 1 : 0);
  };
  send({ from: 'client', flags: syn });
  send({ from: 'server', flags: syn | ack });
  send({ from: 'client', flags: ack });
  send({ from: 'client', flags: push | ack, text: `GET /cart HTTP/1.1\r\nHost: ${host}\r\n\r\n` });
  send({ from: 'server', flags: push | ack, text: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' });
  send({ from: 'client', flags: fin | ack });
  send({ from: 'server', flags: fin | ack });
  add(udpPacket(Buffer.from('a datagram'), { src: client, dst: server, srcPort: 5353, dstPort: 9999 }));
  return Buffer.from(writer.take());
};
