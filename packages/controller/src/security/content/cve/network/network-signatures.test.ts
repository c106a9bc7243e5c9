import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CaptureWriter, ethernetFrame, tcpPacket, udpPacket } from '@rushhour/pcap';
import { expect, it, onTestFinished } from 'vitest';
import { signatureIssues } from '../../../signatures/expressions/check-signature.ts';
import { completeSignature, madeByUser } from '../../../signatures/expressions/complete-signature.ts';
import { networkSignatures } from './network-signatures.ts';

it('network signatures are at least 300, sound, harmless, named once and with a reference', () => {
  expect(networkSignatures.length).toBeGreaterThanOrEqual(300);
  expect(new Set(networkSignatures.map(({ ref }) => ref)).size).toBe(networkSignatures.length);
  expect(new Set(networkSignatures.map(({ requests }) => JSON.stringify(requests))).size).toBe(
    networkSignatures.length,
  );
  for (const { ref, family: _, ...draft } of networkSignatures) {
    const signature = completeSignature(draft, madeByUser);
    expect([ref, signatureIssues(signature), signature.safety]).toEqual([ref, [], 'benign']);
    expect(draft.references?.length).toBeGreaterThanOrEqual(2);
  }
});

/** What tshark calls each protocol. */
const names: Readonly<Record<string, RegExp>> = { modbus: /:mbtcp:modbus/, smb: /:nbss:smb2?/, rdp: /:cotp/ };

interface Ends {
  readonly transport: 'tcp' | 'udp';
  readonly clientPort: number;
  readonly serverPort: number;
}

/** A request and its answer, each in one packet. */
const packetsOf = ({ transport, clientPort, serverPort }: Ends, there: Buffer, back: Buffer): Uint8Array[] => {
  const out = { src: '192.0.2.1', dst: '192.0.2.2', srcPort: clientPort, dstPort: serverPort };
  const home = { src: '192.0.2.2', dst: '192.0.2.1', srcPort: serverPort, dstPort: clientPort };
  if (transport === 'udp') return [udpPacket(there, out), udpPacket(back, home)];
  const pushed = 0x18;
  return [
    tcpPacket(there, { ...out, seq: 1, ack: 1, flags: pushed }),
    tcpPacket(back, { ...home, seq: 1, ack: 1 + there.length, flags: pushed }),
  ];
};

it('tshark recognises the protocol of every request and answer', async () => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  const add = (packet: Uint8Array, index: number) => {
    const bytes = ethernetFrame(packet);
    const size = { length: bytes.length, wireLength: bytes.length };
    writer.add({ seconds: 1_700_000_000 + index, nanoseconds: 0, bytes, ...size });
  };
  const wanted: RegExp[] = [];
  for (const [index, { family, requests, responses = [] }] of networkSignatures.entries()) {
    const [request] = requests;
    if (request?.kind !== 'raw') throw new TypeError('network signatures are raw');
    const [there, back] = [Buffer.from(request.data, 'hex'), Buffer.from(responses[0]?.body ?? '', 'base64')];
    const ends = { transport: request.transport, clientPort: 20_000 + index, serverPort: request.port ?? 0 };
    for (const packet of packetsOf(ends, there, back)) {
      add(packet, index);
      wanted.push(names[family] ?? new RegExp(`:${family}\\b`));
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-signatures-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'all.pcap');
  writeFileSync(file, writer.take());
  const args = ['-n', '-r', file, '-T', 'fields', '-e', 'frame.protocols'];
  const { stdout } = await promisify(execFile)('tshark', args, { maxBuffer: 1 << 26 });
  const found = stdout.trim().split('\n');
  const missing = wanted.flatMap((name, i) => (name.test(found[i] ?? '') ? [] : [`${i} ${name}: ${found[i]}`]));
  expect(missing).toEqual([]);
});
