import { describe, expect, it } from 'vitest';
import { PcapError } from '../pcap-error.ts';
import { captureOf, captureOfFrames, chunksOf, text } from '../testing/build-capture.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { ethernetFrame, ipPacket, udpDatagram, udpPacket } from '../write/frame-builder.ts';
import { packetRows } from './packet-rows.ts';

const WEB = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 50_000, dstPort: 53 };
const QUERY = Uint8Array.from([
  0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 119, 119, 119, 4, 116, 101, 115, 116, 0, 0, 28, 0, 1,
]);

describe('packet rows', () => {
  it('show source, destination, protocol and summary', async () => {
    const arp = Uint8Array.from([0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 1, 0, 1, 0, 0, 0, 0, 0, 0, 10, 1, 0, 2]);
    const echo = { src: 'fe80::1', dst: 'fe80::2', protocol: 58 };
    const frames = [
      ...new TcpScript()
        .open()
        .client('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
        .packets.map((packet) => ethernetFrame(packet)),
      ethernetFrame(udpPacket(QUERY, WEB), { vlans: [5] }),
      ethernetFrame(arp, { etherType: 0x0806 }),
      ethernetFrame(ipPacket(Uint8Array.from([128, 0, 0, 0, 0, 0, 0, 0]), echo)),
      ethernetFrame(ipPacket(udpDatagram(text('12345678'), WEB), { ...WEB, protocol: 17, id: 7, moreFragments: true })),
    ];
    const { rows, hasMore } = await packetRows(captureOfFrames(frames), { limit: 100 });
    expect(hasMore).toBe(false);
    expect(rows[0]).toEqual({
      n: 1,
      relTimeMs: 0,
      src: '10.1.0.1',
      dst: '10.2.0.1',
      proto: 'TCP',
      length: 54,
      info: '40000 → 8080 [SYN] Seq=1000 Ack=0 Win=64240 Len=0',
    });
    expect(rows.slice(3).map((row) => [row.proto, row.src, row.info])).toEqual([
      ['HTTP', '10.1.0.1', 'GET /x HTTP/1.1'],
      ['DNS', '10.1.0.1', 'query AAAA www.test'],
      ['ARP', '10.1.0.1', 'Who has 10.1.0.2? Tell 10.1.0.1'],
      ['ICMPv6', 'fe80::1', 'Echo request'],
      ['IPv4', '10.1.0.1', 'Fragment of UDP, id=0x0007 offset=0, more follow'],
    ]);
  });

  it('come a page at a time, read no further than needed', async () => {
    const capture = captureOf(Array.from({ length: 1000 }, () => udpPacket(text('x'), WEB)));
    let taken = 0;
    function* counted(): Generator<Uint8Array> {
      for (const chunk of chunksOf(capture, 1000)) {
        taken++;
        yield chunk;
      }
    }
    const { rows, hasMore } = await packetRows(counted(), { start: 20, limit: 5 });
    expect(rows.map((row) => row.n)).toEqual([21, 22, 23, 24, 25]);
    expect(hasMore).toBe(true);
    expect(taken).toBeLessThan(5);
  });
});

describe('the filter', () => {
  const packets = [
    ...new TcpScript().open().packets,
    udpPacket(text('x'), WEB),
    udpPacket(text('y'), { src: '2001:db8::1', dst: '2001:db8::2', srcPort: 1, dstPort: 2 }),
  ];

  it.each([
    ['', [1, 2, 3, 4, 5]],
    ['tcp', [1, 2, 3]],
    ['UDP', [4, 5]],
    ['host 10.2.0.1 and udp', [4]],
    ['host 2001:DB8:0::2', [5]],
    ['port 53', [4]],
    ['tcp and port 8080 and host 10.1.0.1', [1, 2, 3]],
    ['tcp and udp', []],
  ])('%j lets %j pass', async (filter, numbers) => {
    const { rows } = await packetRows(captureOf(packets), { limit: 10, filter });
    expect(rows.map((row) => row.n)).toEqual(numbers);
  });

  it.each(['icmp', 'tcp udp', 'tcp and', 'host', 'host 1.2.3', 'port', 'port 70000', 'port x', 'and tcp'])(
    '%j is refused',
    async (filter) => {
      await expect(packetRows(captureOf(packets), { limit: 1, filter })).rejects.toThrow(PcapError);
      await expect(packetRows(captureOf(packets), { limit: 1, filter })).rejects.toMatchObject({ code: 'BAD_FILTER' });
    },
  );
});
