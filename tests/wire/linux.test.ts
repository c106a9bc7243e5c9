import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { programAt } from '../process/program.ts';

const execute = promisify(execFile);
const read = (program: string, args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 });
const folder = mkdtempSync(join(tmpdir(), 'rushhour-wire-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  for (const program of ['unshare', 'ip', 'nft', 'tcpdump', 'tshark', 'ping']) execFileSync('which', [program]);
});

/** Runs the scenario in a network namespace of its own, which ends with it. */
const run = async (scenario: object) => {
  const args = ['-n', process.execPath, programAt('tests/wire/linux-scenario.ts'), JSON.stringify(scenario)];
  const { stdout } = await execute('unshare', args, { timeout: 280_000, maxBuffer: 1 << 24 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};

/** Frames of emulated hosts that tshark finds malformed, erroneous or with a wrong checksum. */
const malformed = (capture: string): string => {
  const filter =
    '_ws.malformed || _ws.expert.severity == 0x800000 || tcp.checksum.status == 0 || ip.checksum.status == 0 || icmpv6.checksum.status == 0';
  const checked = ['-o', 'tcp.check_checksum:TRUE', '-o', 'ip.check_checksum:TRUE'];
  const text = read('tshark', ['-r', capture, ...checked, '-Y', `eth.src[0:2] == 02:09 && (${filter})`]);
  return text.split('\n').slice(0, 5).join('\n');
};

const bytes = 20_000_000;

it.each([
  { lossPercent: 0, isV6: false, shortConnections: 1000 },
  { lossPercent: 1, isV6: true, shortConnections: 300 },
  {
    lossPercent: 1,
    isV6: false,
    shortConnections: 300,
    settings: { sack: false, timestamps: false, congestion: 'newreno' },
  },
  { lossPercent: 0, isV6: false, shortConnections: 300, settings: { ecn: true, window: 20_000, mss: 700 } },
])('the kernel and emulated hosts exchange the same bytes: %j', async (scenario) => {
  const capture = join(folder, 'frames.pcap');
  const result = await run({ bytes, capture, ...scenario });
  expect(result).toMatchObject({
    ping: 5,
    upload: { bytes, differences: 0 },
    download: { bytes, differences: 0 },
    echo: { bytes, differences: 0 },
    short: { causes: { orderly: scenario.shortConnections }, received: scenario.shortConnections * 6 },
    failures: { closedPort: 'ECONNREFUSED', noNeighbour: 'EHOSTUNREACH', ourClosedPort: 'ECONNREFUSED' },
    open: 0,
    memory: { pieces: 0, sentSegments: 0 },
    counters: { badChecksums: 0, badSegments: 0 },
  });
  expect([result.upload.cause, result.download.cause]).toEqual([undefined, undefined]);
  expect(malformed(capture)).toBe('');
});
