import { createHash } from 'node:crypto';
import { permissions } from '@rushhour/contract';
import { CaptureWriter, ethernetFrame, udpPacket } from '@rushhour/pcap';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sealKeyRows } from '../../store/runs/run-keys.ts';
import { putRunRows } from '../../store/runs/run-rows.ts';
import { refused } from '../../testing/refused.ts';
import { createMeasuredWorld, type MeasuredWorld, type Started } from './testing/measured-world.ts';

let world: MeasuredWorld;
beforeAll(async () => {
  world = await createMeasuredWorld();
});
afterAll(() => world.close());
const api = () => world.administrator.client.tasks;

const capture = () => {
  const writer = new CaptureWriter({ format: 'pcapng', linkType: 1 });
  for (const dstPort of [53, 80, 53]) {
    const ends = { src: '10.0.0.1', dst: '10.0.0.2', srcPort: 4000, dstPort };
    writer.add({ seconds: 1, nanoseconds: 0, bytes: ethernetFrame(udpPacket(new Uint8Array(8), ends)) });
  }
  return Buffer.from(writer.take());
};

/** The client agent has captured; it announces the dump and gives it when it is asked. */
const announce = async ({ runId }: Started, bytes: Buffer, isFetched = true) => {
  const { client } = world;
  const from = client.messages.length;
  const of = { runId, epoch: 0, name: '1-eth0' };
  const facts = {
    size: bytes.length,
    packets: 3,
    drops: 0,
    truncated: false,
    firstAt: 1000,
    lastAt: 2000,
    problem: '',
  };
  client.onQuestion(() => ({ base64: bytes.toString('base64') }));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  client.send({ type: 'dumps', dumps: [{ ...of, ...facts, interface: 'eth0', state: 'closed', sha256 }] });
  if (isFetched) expect(await client.next('forgetDump', { from })).toMatchObject(of);
};

describe('packet dumps of a run', () => {
  it('come over the channel of the agent, and are listed, downloaded and filtered; the download is audited', async () => {
    const run = await world.begin({}, { status: 7 });
    const params = { id: run.taskId, runId: run.runId };
    expect((await api().dumps({ params })).data).toEqual([]);
    const bytes = capture();
    await announce(run, bytes);
    const { data } = await api().dumps({ params });
    expect(data).toMatchObject([
      {
        agentID: world.client.agentId,
        interface: 'eth0',
        direction: 'both',
        packets: 3,
        size: bytes.length,
        ready: true,
      },
    ]);
    const dumpId = data[0]?.id ?? 0;
    const whole = await api().dump({ params: { ...params, dumpId }, query: {} });
    expect(whole.headers.get('content-type')).toBe('application/x-pcapng');
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await api().dump({ params: { ...params, dumpId }, query: { filter: 'port 80' } });
    expect((await part.arrayBuffer()).byteLength).toBeLessThan(bytes.length);
    const wrong = api().dump({ params: { ...params, dumpId }, query: { filter: 'vlan' } });
    await expect(wrong).rejects.toMatchObject({ status: 400, data: { issues: [{ in: 'query', path: '/filter' }] } });
    const sql = `SELECT operation FROM audit WHERE operation = 'tasks.dump'`;
    expect(await world.controller.store.read.run({ name: '', sql }, [])).toHaveLength(2);
  });

  it('come with the keys of IPsec and TLS for those who may read private keys; keys are stored sealed and audited', async () => {
    const run = await world.begin({}, { status: 7 });
    const params = { id: run.taskId, runId: run.runId };
    await announce(run, capture());
    const dumpId = (await api().dumps({ params })).data[0]?.id ?? 0;
    const read = (keys: 'ike' | 'esp' | 'tls', client = world.administrator.client) =>
      client.tasks.dump({ params: { ...params, dumpId }, query: { keys } });
    await expect(read('esp')).rejects.toMatchObject({ status: 404 });
    const { store } = world.controller;
    const of = { runID: run.runId, agentID: world.client.agentId, orderIndex: 0, tableName: 'keys' } as const;
    const rows = [
      { ...of, rowIndex: 0, state: 'ike', cells: { line: 'an IKE key' } },
      { ...of, rowIndex: 1, state: 'esp', cells: { line: 'an ESP key' } },
      { ...of, rowIndex: 100_000, state: 'tls', cells: { line: 'CLIENT_RANDOM 01 02' } },
    ];
    await store.database.transaction((tx) => putRunRows(tx, sealKeyRows(store.secrets, rows)));
    expect(Buffer.from(await (await read('esp')).arrayBuffer()).toString()).toBe('an ESP key\n');
    const whole = await read('ike');
    expect(whole.headers.get('content-disposition')).toContain('ikev2_decryption_table');
    const session = await read('tls');
    expect(session.headers.get('content-disposition')).toContain('sslkeylogfile.txt');
    expect(await session.text()).toBe('CLIENT_RANDOM 01 02\n');
    expect((await api().run({ params, query: {} })).data.tables).toBeUndefined();
    const stored = await store.read.run({ name: '', sql: 'SELECT cells FROM "runRows"' }, []);
    expect(JSON.stringify(stored)).not.toContain('an ESP key');
    const granted = [permissions['tasks.read'], permissions['tasks.dumps']];
    const reader = await world.controller.signInWith(world.administrator, granted);
    await expect(read('esp', reader.client)).rejects.toEqual(refused(403, 'FORBIDDEN'));
    const audited = await store.read.run({ name: '', sql: 'SELECT * FROM audit' }, []);
    const disclosures = audited.filter((row) => /"keys\\?":\\?"(ike|esp|tls)/.test(JSON.stringify(row)));
    expect(disclosures).toHaveLength(3);
  });

  it('are 409 before they are here, and 404 where they are not', async () => {
    const run = await world.begin();
    const params = { id: run.taskId, runId: run.runId };
    await announce(run, capture(), false);
    const [dump] = await vi.waitFor(async () => {
      const { data } = await api().dumps({ params });
      expect(data).toMatchObject([{ ready: false }]);
      return data;
    });
    const dumpId = dump?.id ?? 0;
    await expect(api().dump({ params: { ...params, dumpId }, query: {} })).rejects.toEqual(refused(409, 'NOT_READY'));
    const other = await world.begin({ number: 1 }, { status: 7 });
    const elsewhere = { id: other.taskId, runId: other.runId, dumpId };
    await expect(api().dump({ params: elsewhere, query: {} })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await world.end(run);
  });

  it('need a permission of their own', async () => {
    const run = await world.begin({}, { status: 7 });
    const reader = await world.controller.signInWith(world.administrator, [permissions['tasks.read']]);
    const listing = reader.client.tasks.dumps({ params: { id: run.taskId, runId: run.runId } });
    await expect(listing).rejects.toEqual(refused(403, 'FORBIDDEN'));
  });
});
