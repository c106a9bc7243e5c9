import { execFile, execFileSync } from 'node:child_process';
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
  readonly controllerPort: number;
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

/** What tshark says on its error output, without its word about root. */
const complaintsOf = async (file: string) => {
  const { stderr } = await run('tshark', ['-r', file, '-q']);
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('Running as user'));
};

/** One line for each packet that passes the display filter. */
const packetsIn = (file: string, filter: string, ...fields: string[]) => {
  const wanted = fields.flatMap((field) => ['-e', field]);
  const args = ['-r', file, '-Y', filter, '-T', 'fields', ...wanted];
  const text = execFileSync('tshark', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return text.split('\n').slice(0, -1);
};

const allOf = ({ whole, switched, first, newest, killed }: Seen) =>
  [whole, switched.dumps, first, newest, killed].flat();

describe('packet dumps', () => {
  it('are read by tshark without a word of complaint, and are what the list says', async () => {
    for (const dump of allOf(seen)) {
      expect(await complaintsOf(dump.file)).toEqual([]);
      expect(dump).toMatchObject({ ready: true, bytes: dump.size, actual: dump.sha256, drops: 0, problem: '' });
      expect(packetsIn(dump.file, 'frame', 'frame.number')).toHaveLength(dump.packets);
    }
  });

  it('hold every packet that the kernel counted, on both sides and with their directions', () => {
    expect(seen.kernel).toBeGreaterThan(500);
    for (const { file, agentID } of seen.whole) {
      const ways = packetsIn(file, 'udp.dstport == 15002', 'frame.packet_flags_direction');
      expect(ways).toHaveLength(seen.kernel);
      const [inbound, outbound] = [1, 2].map((way) => ways.filter((one) => Number(one) === way).length);
      expect(agentID === seen.farId ? inbound : outbound).toBe(seen.kernel);
    }
  });

  it('keep no more of a packet than the task says, and its true length', () => {
    for (const { file } of seen.whole) {
      const lengths = new Set(packetsIn(file, 'udp.dstport == 15002', 'frame.cap_len', 'frame.len'));
      expect([...lengths]).toEqual(['90\t196']);
    }
  });

  it('leave out the conversation of agents with the controller, and ARP unless it is wanted', () => {
    for (const { file } of allOf(seen)) {
      expect(packetsIn(file, `tcp.port == ${seen.controllerPort} or arp`, 'frame.number')).toEqual([]);
    }
  });

  it('are filtered on the way to the reader', async () => {
    expect(await complaintsOf(seen.filteredFile)).toEqual([]);
    expect(packetsIn(seen.filteredFile, 'frame', 'frame.number')).toHaveLength(seen.kernel);
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

  it('hold the first packets or the newest, without a gap, as the task says', () => {
    // Packets are numbered from 0 in their 8th byte, by a double.
    const numbersOf = ({ file }: StoredDump) =>
      packetsIn(file, 'udp.dstport == 15002', 'data.data').map((hex) => Buffer.from(hex, 'hex').readDoubleBE(8));
    const last = 2 * 1000 - 1;
    for (const dump of seen.first) {
      const numbers = numbersOf(dump);
      expect(numbers).toEqual(numbers.map((_, index) => index));
    }
    for (const dump of seen.newest) {
      const numbers = numbersOf(dump);
      expect(numbers).toEqual(numbers.map((_, index) => last - numbers.length + 1 + index));
    }
  });

  it('are missing where an agent may not capture, which is told, and the run goes on', () => {
    const { status, validity, events } = seen.unable;
    expect(status).toBe(7);
    expect(validity).toMatchObject({ valid: true, reasons: [expect.stringContaining('cap_net_raw')] });
    expect(events.find(({ type }) => type === 'captureFailed')?.message).toContain('cap_net_raw');
  });

  it('survive the agent that is killed while it captures', () => {
    const dump = seen.killed.find(({ agentID }) => agentID === seen.farId);
    expect(dump?.packets).toBeGreaterThan(100);
    expect(packetsIn(dump?.file ?? '', 'udp.dstport == 15002', 'frame.number').length).toBeGreaterThan(100);
  });

  it('go with their run', () => {
    expect(seen.removed).toMatchObject({ keptAtFirst: true, isSwept: true });
  });
});
