import { describe, expect, it } from 'vitest';
import { captureOf, text } from '../../testing/build-capture.ts';
import { TcpScript } from '../../testing/tcp-script.ts';
import { udpPacket } from '../../write/frame-builder.ts';
import { analyzeCapture } from '../analyze.ts';
import type { PcapSession } from '../pcap-info.ts';

async function sessionOf(packets: readonly Uint8Array[]): Promise<PcapSession> {
  return (await analyzeCapture(captureOf(packets))).session(0);
}

function onPort(serverPort: number): TcpScript {
  return new TcpScript({ serverPort }).open();
}

const SMB2 = Uint8Array.from([0, 0, 0, 64, 0xfe, 0x53, 0x4d, 0x42, ...new Array(60).fill(0)]);
const QUERY = Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]);

describe('the application protocol', () => {
  it.each<[string, TcpScript]>([
    ['http', onPort(8080).client('GET / HTTP/1.1\r\n\r\n').server('HTTP/1.1 200 OK\r\n\r\n')],
    ['http', onPort(8080).server('HTTP/1.1 200 OK\r\n\r\n')],
    ['http', onPort(8080).client('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
    ['ssh', onPort(2222).server('SSH-2.0-OpenSSH_9.2\r\n')],
    ['smtp', onPort(25).server('220 mail ready\r\n')],
    ['smtp', onPort(9025).server('220 mail ESMTP ready\r\n')],
    ['smtp', onPort(9025).server('220 hello\r\n').client('EHLO me\r\n')],
    ['ftp', onPort(21).server('220 hello\r\n')],
    ['ftp', onPort(9021).server('220 hello\r\n').client('USER me\r\n')],
    ['smb', onPort(445).client(SMB2)],
    ['dns', onPort(53).client(Uint8Array.from([0, QUERY.length, ...QUERY]))],
    ['tls', onPort(443).server(Uint8Array.of(22, 3, 3, 0, 50, 2, 0, 0, 46))],
    ['unknown', onPort(9000).client('some other words')],
    ['unknown', onPort(9000).server('220 hello\r\n').client('whatever\r\n')],
  ])('is %s', async (expected, script) => {
    expect((await sessionOf(script.packets)).appProtocol).toBe(expected);
  });

  it.each<[string, number, Uint8Array]>([
    ['dns', 53, QUERY],
    ['quic', 443, Uint8Array.from([0xc3, 0, 0, 0, 1, 8, ...new Array(1194).fill(7)])],
    ['quic', 443, Uint8Array.from([0xd3, 0x6b, 0x33, 0x43, 0xcf, 8, ...new Array(1194).fill(7)])],
    ['unknown', 53, text('not a DNS message at all')],
    ['unknown', 9000, QUERY],
  ])('of a datagram is %s on port %i', async (expected, dstPort, payload) => {
    const packet = udpPacket(payload, { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 50_000, dstPort });
    expect((await sessionOf([packet])).appProtocol).toBe(expected);
  });
});

describe('the host of a request', () => {
  it.each([
    ['GET / HTTP/1.1\r\nHost: www.test:8080\r\n\r\n', 'www.test:8080'],
    ['GET / HTTP/1.1\r\nAccept: */*\r\nhost:\tb.test\r\n\r\n', 'b.test'],
    ['GET http://c.test/x HTTP/1.0\r\nAccept: */*\r\n\r\n', 'c.test'],
    ['GET / HTTP/1.0\r\n\r\n', ''],
    ['GET / HTTP/1.1\r\nHost: bad\u0001name\r\n\r\n', ''],
  ])('of %j is %j', async (request, host) => {
    expect((await sessionOf(onPort(80).client(request).packets)).httpHost).toBe(host);
  });

  it('is found over any segment borders', async () => {
    const request = `GET /${'x'.repeat(30)} HTTP/1.1\r\nHost: d.test\r\n\r\n`;
    for (const size of [1, 2, 9, 30]) {
      const script = onPort(80);
      for (let at = 0; at < request.length; at += size) script.client(request.slice(at, at + size));
      expect(await sessionOf(script.packets)).toMatchObject({
        appProtocol: 'http',
        httpHost: 'd.test',
      });
    }
  });

  it('is found in reordered segments', async () => {
    const packets = onPort(80).client('GET / HTTP/1.1\r\nHo').client('st: e.test\r\n\r\n').swap().packets;
    expect((await sessionOf(packets)).httpHost).toBe('e.test');
  });
});
