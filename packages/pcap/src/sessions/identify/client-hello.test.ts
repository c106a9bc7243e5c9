import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { captureOf } from '../../testing/build-capture.ts';
import { helloRecords, letters, pair, vector8, vector16 } from '../../testing/build-hello.ts';
import { TcpScript } from '../../testing/tcp-script.ts';
import { analyzeCapture } from '../analyze.ts';
import type { PcapSession } from '../pcap-info.ts';

const GREASE = 0x3a3a;
const CIPHERS = [
  0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013, 0xc014, 0x009c, 0x009d, 0x002f,
  0x0035,
];
const ALGORITHMS = [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601];

function serverName(name: string): number[] {
  return vector16([0, ...vector16(letters(name))]);
}

/** The browser hello that the JA4 description uses as its example. */
const EXAMPLE = {
  ciphers: [GREASE, ...CIPHERS],
  extensions: [
    [GREASE, []],
    [0x001b, [2, 0, 2]],
    [0x0000, serverName('www.example.test')],
    [0x0033, vector16([])],
    [0x0010, vector16([...vector8(letters('h2')), ...vector8(letters('http/1.1'))])],
    [0x4469, []],
    [0x0017, []],
    [0x002d, [1, 1]],
    [0x000d, vector16(ALGORITHMS.flatMap(pair))],
    [0x0005, [1, 0, 0, 0, 0]],
    [0x0023, []],
    [0x0012, []],
    [0x002b, vector8([...pair(GREASE), ...pair(0x0304), ...pair(0x0303)])],
    [0xff01, [0]],
    [0x000b, vector8([0])],
    [0x000a, vector16([...pair(GREASE), ...pair(29), ...pair(23), ...pair(24)])],
    [0x0015, [0, 0, 0]],
    [GREASE, [0]],
  ],
} as const;

async function sessionOf(hello: Uint8Array, segment = 1400): Promise<PcapSession> {
  const script = new TcpScript({ serverPort: 443 }).open();
  for (let at = 0; at < hello.length; at += segment) script.client(hello.subarray(at, at + segment));
  return (await analyzeCapture(captureOf(script.packets))).session(0);
}

describe('a client hello', () => {
  it('gives server name, JA3 and JA4', async () => {
    const session = await sessionOf(helloRecords(EXAMPLE));
    const extensions = '27-0-51-16-17513-23-45-13-5-35-18-43-65281-11-10-21';
    const ja3 = `771,${CIPHERS.join('-')},${extensions},29-23-24,0`;
    expect(session).toMatchObject({
      appProtocol: 'tls',
      sni: 'www.example.test',
      ja3: createHash('md5').update(ja3).digest('hex'),
      ja4: 't13d1516h2_8daaf6152771_e5627efa2ab1',
    });
  });

  it('is read over any borders of segments and records', async () => {
    const { ja4 } = await sessionOf(helloRecords(EXAMPLE));
    for (const segment of [7, 100]) expect((await sessionOf(helloRecords(EXAMPLE), segment)).ja4).toBe(ja4);
    for (const record of [3, 4, 50]) expect((await sessionOf(helloRecords(EXAMPLE, record))).ja4).toBe(ja4);
  });

  it('without extensions has a fingerprint too', async () => {
    const session = await sessionOf(helloRecords({ ciphers: [4, 5], extensions: [], version: 0x0301 }));
    expect(session.ja3).toBe(createHash('md5').update('769,4-5,,,').digest('hex'));
    const ciphers = createHash('sha256').update('0004,0005').digest('hex').slice(0, 12);
    expect(session).toMatchObject({ sni: '', ja4: `t10i020000_${ciphers}_000000000000` });
  });

  it('with a strange protocol name shows its hexadecimal ends', async () => {
    const alpn = [0x0010, vector16(vector8([0xab, 0x30, 0xcd]))] as const;
    expect((await sessionOf(helloRecords({ ciphers: [4], extensions: [alpn] }))).ja4).toMatch(/^t12i0101ad_/);
  });

  it('that is damaged leaves only the protocol', async () => {
    const damaged = helloRecords(EXAMPLE);
    damaged[43] = 255;
    expect(await sessionOf(damaged)).toMatchObject({ appProtocol: 'tls', sni: '', ja3: '', ja4: '' });
  });
});
