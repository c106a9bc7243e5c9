import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunDump } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScenario } from '../namespaces.ts';
import { execute, requireProgram } from '../programs.ts';
import { useCable } from '../use-cable.ts';

const scenario = 'tests/engines/captures/scenario.ts';

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
  readonly stream: { sent: number; dumps: StoredDump[] };
  readonly killed: StoredDump[];
  readonly removed: { keptAtFirst: boolean; isSwept: boolean };
}

const cable = useCable('file');
let folder: string;
let seen: Seen;

beforeAll(async () => {
  for (const program of ['tshark', 'setpriv']) requireProgram(program);
  folder = mkdtempSync(join(tmpdir(), 'rushhour-dumps-'));
  seen = (await runScenario(cable, scenario, folder)) as Seen;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface SeenPacket {
  readonly direction: number;
  readonly kept: number;
  readonly length: number;
  readonly port: string;
  readonly payload: Buffer;
  /** Packets that must not be captured: connections to the controller, ARP. */
  readonly other: string;
}

const fields = ['frame.packet_flags_direction', 'frame.cap_len', 'frame.len', 'udp.dstport', 'data.data'];
const others = ['tcp.port', 'arp.opcode'];
const known = new Map<string, Promise<{ packets: SeenPacket[]; complaints: string[] }>>();

const packetOf = (line: string): SeenPacket => {
  const [direction, kept, length, port = '', data = '', ...rest] = line.split('\t');
  const payload = Buffer.from(data, 'hex');
  return {
    ...{ direction: Number(direction), kept: Number(kept), length: Number(length), port, payload },
    other: rest.join(''),
  };
};

const readByTshark = async (file: string) => {
  const wanted = [...fields, ...others].flatMap((field) => ['-e', field]);
  const { stdout, stderr } = await execute('tshark', ['-n', '-r', file, '-T', 'fields', ...wanted], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const complaints = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('Running as user'));
  return { packets: stdout.split('\n').slice(0, -1).map(packetOf), complaints };
};

/** Packets and warnings of tshark for a file, without its warning about root. Each file is read once. */
const read = (file: string) => {
  const reading = known.get(file) ?? readByTshark(file);
  known.set(file, reading);
  return reading;
};
/** The packets of the task itself. */
const trafficIn = async (file: string) => (await read(file)).packets.filter(({ port }) => port === '15002');

const allOf = ({ whole, switched, first, newest, stream, killed }: Seen) =>
  [whole, switched.dumps, first, newest, stream.dumps, killed].flat();

describe('packet captures', () => {
  it('are read by tshark without warnings, hold only the traffic, and match the list', async () => {
    for (const dump of allOf(seen)) {
      const { packets, complaints } = await read(dump.file);
      expect(complaints).toEqual([]);
      expect(dump).toMatchObject({ ready: true, bytes: dump.size, actual: dump.sha256, drops: 0, problem: '' });
      expect(packets).toHaveLength(dump.packets);
      expect(packets.filter(({ other }) => other !== '')).toEqual([]);
    }
  });

  it('hold every packet the kernel counted, on both sides, with its direction', async () => {
    expect(seen.kernel).toBeGreaterThan(500);
    for (const { file, agentID } of seen.whole) {
      const traffic = await trafficIn(file);
      expect(traffic).toHaveLength(seen.kernel);
      const expected = agentID === seen.farId ? 1 : 2;
      expect(traffic.every(({ direction }) => direction === expected)).toBe(true);
    }
  });

  it('truncate packets to the snap length of the task and keep the original length', async () => {
    for (const { file } of seen.whole) {
      const lengths = new Set((await trafficIn(file)).map(({ kept, length }) => `${kept} of ${length}`));
      expect([...lengths]).toEqual(['90 of 196']);
    }
  });

  it('are filtered on download', async () => {
    const { packets, complaints } = await read(seen.filteredFile);
    expect(complaints).toEqual([]);
    expect(packets).toHaveLength(seen.kernel);
  });

  it('start and end while the task runs, and cannot be downloaded before they are complete', () => {
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

  it('never exceed the size limit of the settings, and report that it was reached', () => {
    for (const dumps of [seen.first, seen.newest]) {
      expect(dumps.every(({ truncated }) => truncated)).toBe(true);
      expect(dumps.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(1_048_576);
      expect(dumps.every(({ packets }) => packets > 250)).toBe(true);
    }
  });

  it('hold the first or the newest packets, without a gap', async () => {
    // A double in byte 8 numbers the packets from 0.
    const numbersOf = async ({ file }: StoredDump) =>
      (await trafficIn(file)).map(({ payload }) => payload.readDoubleBE(8));
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

  it('are missing when an agent lacks the capability; that is reported and the run goes on', () => {
    const { status, validity, events } = seen.unable;
    expect(status).toBe(7);
    expect(validity).toMatchObject({ valid: true, reasons: [expect.stringContaining('CAP_NET_RAW')] });
    expect(events.find(({ type }) => type === 'captureFailed')?.message).toContain('cap_net_raw');
  });

  it('hold the raw frames of an engine, on both sides', async () => {
    expect(seen.stream.sent).toBeGreaterThan(500);
    for (const { file } of seen.stream.dumps) {
      const frames = (await read(file)).packets.filter(({ port }) => port === '15009');
      expect(frames).toHaveLength(seen.stream.sent);
    }
  });

  it('survive an agent that is killed during the capture', async () => {
    const dump = seen.killed.find(({ agentID }) => agentID === seen.farId);
    expect(dump?.packets).toBeGreaterThan(100);
    expect((await trafficIn(dump?.file ?? '')).length).toBeGreaterThan(100);
  });

  it('are deleted with their run', () => {
    expect(seen.removed).toMatchObject({ keptAtFirst: true, isSwept: true });
  });
});
