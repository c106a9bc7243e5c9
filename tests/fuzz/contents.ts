import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

interface Entry {
  readonly name: string;
  readonly content: Buffer;
  readonly isDeflated?: boolean;
}

/** A ZIP archive as given, without any of the checks that a writer makes. */
const zipOf = (entries: readonly Entry[]): Buffer => {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, isDeflated = false } of entries) {
    const stored = isDeflated ? deflateRawSync(content) : content;
    const path = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(isDeflated ? 8 : 0, 4);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(stored.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(path.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, path, stored]);
    locals.push(local);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), facts, tail, path]));
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
};

const tarOf = (name: string, content: Buffer, type = '0'): Buffer => {
  const head = Buffer.alloc(512);
  head.write(name.slice(0, 99));
  head.write('0000644\0', 100);
  head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  head.write(`        ${type}`, 148);
  head.write('ustar\x0000', 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([head, content, Buffer.alloc(1024 + ((512 - (content.length % 512)) % 512))]);
};

const pcapOf = (packet: Buffer, link = 1): Buffer => {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b2c3d4, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(65_535, 16);
  head.writeUInt32LE(link, 20);
  const record = Buffer.alloc(16);
  record.writeUInt32LE(packet.length, 8);
  record.writeUInt32LE(packet.length, 12);
  return Buffer.concat([head, record, packet, record, packet]);
};

const frame = Buffer.from(
  '0200000000020200000000010800450000340001400040060000c0000201c0000202c0000050000000010000000050180200000000006162636465666768696a6b6c',
  'hex',
);
const har = Buffer.from(
  JSON.stringify({
    log: {
      ...{ version: '1.2', creator: { name: 'x', version: '1' } },
      entries: [
        {
          ...{ startedDateTime: '2026-01-01T00:00:00Z', time: 1, timings: {}, cache: {} },
          request: { method: 'GET', url: 'http://a.test/', headers: [], queryString: [], cookies: [] },
          response: { status: 200, headers: [], cookies: [], content: { size: 1, text: 'x' } },
        },
      ],
    },
  }),
);
const nuclei = Buffer.from(
  'id: x\ninfo:\n  name: x\n  severity: low\nhttp:\n  - method: GET\n    path: ["{{BaseURL}}/a"]\n    matchers:\n      - type: status\n        status: [200]\n',
);
const small = Buffer.from('text');

const samples: readonly Buffer[] = [
  ...[har, nuclei, small, Buffer.alloc(0), pcapOf(frame), pcapOf(frame, 101), pcapOf(frame, 4_000_000)],
  ...[
    'a,b\n1,2\n',
    '\ufeffa;b\n"1\n',
    'MZ\x90\x00',
    '%PDF-1.4',
    '{"log":{"entries":null}}',
    '{}',
    '[]',
    '\0'.repeat(99),
  ].map((text) => Buffer.from(text)),
  zipOf([{ name: 'a.txt', content: small }]),
  zipOf([
    { name: 'a.har', content: har, isDeflated: true },
    { name: 'b.pcap', content: pcapOf(frame) },
  ]),
  ...['../../etc/x', '/etc/x', 'a/../../b', 'C:\\x', 'a\0b', '', 'x'.repeat(2000), '.', 'a//b'].map((name) =>
    zipOf([{ name, content: small }]),
  ),
  zipOf([
    { name: 'same', content: small },
    { name: 'same', content: har },
  ]),
  zipOf([{ name: 'bomb', content: Buffer.alloc(4_000_000), isDeflated: true }]),
  zipOf([
    { name: 'inner.zip', content: zipOf([{ name: 'deep.zip', content: zipOf([{ name: 'x', content: small }]) }]) },
  ]),
  zipOf([
    { name: 'manifest.json', content: Buffer.from('{"schema":"rushhour.task/1"}') },
    { name: 'task.json', content: Buffer.from('{}') },
  ]),
  tarOf('a.txt', small),
  tarOf('../../x', small),
  tarOf('/etc/passwd', Buffer.alloc(0), '2'),
  gzipSync(tarOf('a.txt', small)),
  gzipSync(Buffer.alloc(4_000_000)),
];

/** Contents of files: formats that the controller reads, whole and damaged. */
export const contents: fc.Arbitrary<Buffer> = fc
  .tuple(fc.constantFrom(...samples), fc.constantFrom('as it is', 'flip', 'cut', 'repeat', 'zero'), fc.nat(), fc.nat())
  .map(([sample, how, where, what]) => {
    const copy = Buffer.from(sample);
    const at = copy.length === 0 ? 0 : where % copy.length;
    if (how === 'cut') return copy.subarray(0, at);
    if (how === 'repeat') return Buffer.concat([copy, copy.subarray(at)]);
    if (how === 'zero') copy.fill(what % 256, at, Math.min(at + 8, copy.length));
    else if (how === 'flip' && copy.length > 0) copy[at] = (copy[at] as number) ^ (1 << (what % 8));
    return copy;
  });

export const fileNames = fc.constantFrom(
  ...[
    'a.pcap',
    'a.har',
    'a.zip',
    'a.csv',
    'a.yaml',
    'a.tar.gz',
    'a',
    '',
    '../../x',
    'a\u0000b',
    'ä.txt',
    '"',
    'x'.repeat(300),
  ],
);
