import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RunDump } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cable, createCable } from './namespaces.ts';
import { requireProgram } from './programs.ts';

const run = promisify(execFile);
const scenario = fileURLToPath(new URL('dumps-scenario.ts', import.meta.url));
const patienceMs = 300_000;

interface StoredDump extends RunDump {
  readonly file: string;
  readonly bytes: number;
  readonly actual: string;
}

interface Seen {
  readonly farId: number;
  readonly kernel: number;
  readonly whole: StoredDump[];
  readonly filteredFile: string;
  readonly switched: { none: number; growing: RunDump[]; early: number; dumps: StoredDump[] };
  readonly first: StoredDump[];
  readonly newest: StoredDump[];
  readonly unable: {
    status: number;
    validity: { valid: boolean; reasons: string[] };
    events: { type: string; message: string }[];
  };
  readonly killed: StoredDump[];
  readonly removed: { keptAtFirst: boolean; isSwept: boolean };
}

let cable: Cable;
let folder: string;
let seen: Seen;

beforeAll(async () => {
  for (const program of ['tshark', 'setpriv']) requireProgram(program);
  folder = mkdtempSync(join(tmpdir(), 'rushhour-dumps-'));
  cable = createCable();
  const { left, right } = cable;
  const args = ['netns', 'exec', left.namespace, process.execPath, scenario, left.address, right.namespace, folder];
  const { stdout } = await run('ip', args, { timeout: patienceMs, maxBuffer: 16 * 1024 * 1024 });
  seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Seen;
}, patienceMs);
afterAll(() => {
  cable?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** What tshark says of a file: one line for each packet, and its complaints but for its word about root. */
const read = async (file: string, filter: string, ...fields: string[]) => {
  const wanted = fields.flatMap((field) => ['-e', field]);
  const args = ['-n', '-r', file, '-Y', filter, '-T', 'fields', ...wanted];
  const { stdout, stderr } = await run('tshark', args, { maxBuffer: 16 * 1024 * 1024 });
  const complaints = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('Running as user'));
  return { lines: stdout.split('\n').slice(0, -1), complaints };
};
const packetsIn = async (file: string, filter: string, ...fields: string[]) =>
  (await read(file, filter, ...fields)).lines;

const allOf = ({ whole, switched, first, newest, killed }: Seen) =>
  [whole, switched.dumps, first, newest, killed].flat();

describe('packet dumps', () => {
  it('are read by tshark without a word of complaint, hold the traffic and nothing else, and are what the list says', async () => {
    for (const dump of allOf(seen)) {
      const { lines, complaints } = await read(dump.file, 'frame', 'tcp.port', 'arp.opcode');
      expect(complaints).toEqual([]);
      expect(dump).toMatchObject({ ready: true, bytes: dump.size, actual: dump.sha256, drops: 0, problem: '' });
      expect(lines).toHaveLength(dump.packets);
      // Neither what agents say with the controller nor ARP, which nobody wanted.
      expect(lines.filter((line) => line.trim() !== '')).toEqual([]);
    }
  });

  it('hold every packet that the kernel counted, on both sides and with their directions', async () => {
    expect(seen.kernel).toBeGreaterThan(500);
    for (const { file, agentID } of seen.whole) {
      const ways = await packetsIn(file, 'udp.dstport == 15002', 'frame.packet_flags_direction');
      expect(ways).toHaveLength(seen.kernel);
      const [inbound, outbound] = [1, 2].map((way) => ways.filter((one) => Number(one) === way).length);
      expect(agentID === seen.farId ? inbound : outbound).toBe(seen.kernel);
    }
  });

  it('keep no more of a packet than the task says, and its true length', async () => {
    for (const { file } of seen.whole) {
      const lengths = new Set(await packetsIn(file, 'udp.dstport == 15002', 'frame.cap_len', 'frame.len'));
      expect([...lengths]).toEqual(['90\t196']);
    }
  });

  it('are filtered on the way to the reader', async () => {
    const { lines, complaints } = await read(seen.filteredFile, 'frame', 'frame.number');
    expect(complaints).toEqual([]);
    expect(lines).toHaveLength(seen.kernel);
  });

  it('begin and end while the task runs, and cannot be had before they are ready', () => {
    const { none, growing, early, dumps } = seen.switched;
    expect(none).toBe(0);
    expect(growing.map(({ ready, sha256 }) => ({ ready, sha256 }))).toEqual(
      growing.map(() => ({ ready: false, sha256: '' })),
    );
    expect(early).toBe(409);
    expect(dumps).toHaveLength(4);
    for (const agent of new Set(dumps.map(({ agentID }) => agentID))) {
      const [before, after] = dumps.filter(({ agentID }) => agentID === agent);
      expect(Date.parse(after?.firstAt ?? '') - Date.parse(before?.lastAt ?? '')).toBeGreaterThan(400);
    }
  });

  it('never have more bytes than the settings allow, and say so', () => {
    for (const dumps of [seen.first, seen.newest]) {
      expect(dumps.every(({ truncated }) => truncated)).toBe(true);
      expect(dumps.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(1_048_576);
      expect(dumps.every(({ packets }) => packets > 250)).toBe(true);
    }
  });

  it('hold the first packets or the newest, without a gap, as the task says', async () => {
    // Packets are numbered from 0 in their 8th byte, by a double.
    const numbersOf = async ({ file }: StoredDump) => {
      const payloads = await packetsIn(file, 'udp.dstport == 15002', 'data.data');
      return payloads.map((hex) => Buffer.from(hex, 'hex').readDoubleBE(8));
    };
    const last = 2 * 1000 - 1;
    for (const dump of seen.first) {
      const numbers = await numbersOf(dump);
      expect(numbers).toEqual(numbers.map((_, index) => index));
    }
    for (const dump of seen.newest) {
      const numbers = await numbersOf(dump);
      expect(numbers).toEqual(numbers.map((_, index) => last - numbers.length + 1 + index));
    }
  });

  it('are missing where an agent may not capture, which is told, and the run goes on', () => {
    const { status, validity, events } = seen.unable;
    expect(status).toBe(7);
    expect(validity).toMatchObject({ valid: true, reasons: [expect.stringContaining('cap_net_raw')] });
    expect(events.find(({ type }) => type === 'captureFailed')?.message).toContain('cap_net_raw');
  });

  it('survive the agent that is killed while it captures', async () => {
    const dump = seen.killed.find(({ agentID }) => agentID === seen.farId);
    expect(dump?.packets).toBeGreaterThan(100);
    expect((await packetsIn(dump?.file ?? '', 'udp.dstport == 15002', 'frame.number')).length).toBeGreaterThan(100);
  });

  it('go with their run', () => {
    expect(seen.removed).toMatchObject({ keptAtFirst: true, isSwept: true });
  });
});
