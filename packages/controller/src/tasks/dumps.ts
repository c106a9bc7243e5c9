import { Readable } from 'node:stream';
import type { api, RunDump } from '@rushhour/contract';
import { filterCapture, PcapError } from '@rushhour/pcap';
import type { Caller } from '../caller.ts';
import { cursorOf } from '../crud.ts';
import { ApiError, conflict, forbidden, invalid, notFound, orNotFound } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { allows } from '../people/permissions.ts';
import type { Blobs } from '../store/blobs/blobs.ts';
import type { Executor } from '../store/engine/database.ts';
import { dumpsOf, findDump, type RunDumpRecord } from '../store/runs/run-dumps.ts';
import { type KeyKind, keyLinesOf } from '../store/runs/run-keys.ts';
import { runs } from '../store/runs/runs.ts';
import type { Store } from '../store/store.ts';
import { findTask } from '../store/tasks/tasks.ts';

interface Deps {
  store: Store;
  files: { readonly blobs: Blobs };
}

const type = 'application/x-pcapng';
/** Upper limit for captures that are filtered here packet by packet. */
const maxFilteredBytes = 512 * 1024 * 1024;

const shown = (dump: RunDumpRecord): RunDump => {
  const { id, agentID, interface: device, size, packets, drops, truncated, sha256, firstAt, lastAt, problem } = dump;
  const ready = dump.state === 'ready';
  return {
    ...{ id, agentID, interface: device, direction: 'both', size, packets, drops, truncated, sha256 },
    ...{ firstAt, lastAt, ready, problem },
  };
};

const assertRun = async (read: Executor, { id, runId }: { id: number; runId: number }) => {
  await orNotFound(findTask(read, id), 'task', id);
  const run = await runs.find(read, runId);
  if (run?.taskID !== id) throw notFound('run', runId);
};

const readyDump = async (read: Executor, params: { id: number; runId: number; dumpId: number }) => {
  await assertRun(read, params);
  const dump = await findDump(read, params.dumpId);
  if (dump?.runID !== params.runId) throw notFound('dump', params.dumpId);
  if (dump.state === 'ready') return dump;
  const why = dump.problem || 'it has not arrived from its agent yet';
  throw conflict('NOT_READY', `dump ${dump.id} cannot be downloaded: ${why}`, { id: dump.id });
};

const filtered = (content: Readable, filter: string): Readable => {
  try {
    return Readable.from(filterCapture(content, filter), { objectMode: false });
  } catch (error) {
    content.destroy();
    if (!(error instanceof PcapError)) throw error;
    throw invalid([{ in: 'query', path: '/filter', code: error.code, message: error.message }]);
  }
};

/** Names of the files as Wireshark and others know them. */
const keyFiles = { ike: 'ikev2_decryption_table', esp: 'esp_sa', tls: 'sslkeylogfile.txt' } as const;

/** Keys are as secret as private keys: reading them needs the same permission; both access and refusal are audited. */
const readKeys = async (
  store: Store,
  caller: Caller,
  { dump, kind }: { readonly dump: RunDumpRecord; readonly kind: KeyKind },
) => {
  const { id, runID, agentID } = dump;
  const permission = 'certificates.private';
  if (!allows(caller.permissions, permission)) {
    await store.change(caller, async (tx) => tx.deny({ permission, dump: id }));
    throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
  }
  const lines = await keyLinesOf(store.read, store.secrets, { runID, agentID, kind });
  if (lines.length === 0) throw notFound('keys of dump', id);
  await store.change(caller, async (tx) => {
    tx.touch('runs', runID);
    tx.note({ dump: id, keys: kind, lines: lines.length });
  });
  const disposition = `attachment; filename="${keyFiles[kind]}"`;
  return {
    type: 'text/plain',
    body: Readable.from([lines.map((line) => `${line}\n`).join('')], { objectMode: false }),
    headers: { 'content-disposition': disposition, 'cache-control': 'no-store' },
  } as const;
};

/** Packet captures of runs: list and content. */
export const dumpHandlers = ({ store, files }: Deps): Pick<Handlers<typeof api.tasks>, 'dumps' | 'dump'> => ({
  dumps: async ({ params }) => {
    await assertRun(store.read, params);
    const data = (await dumpsOf(store.read, params.runId)).map(shown);
    return { cursor: cursorOf(Math.max(1, data.length), 0, data.length), data };
  },
  dump: async ({ params, query: { filter = '', keys } }, caller) => {
    const dump = await readyDump(store.read, params);
    if (keys !== undefined) return readKeys(store, caller, { dump, kind: keys });
    if (filter !== '' && dump.size > maxFilteredBytes) {
      const message = `a dump of more than ${maxFilteredBytes} bytes is not filtered here: download it whole`;
      throw new ApiError('tooLarge', 'FILTER_LIMIT', message);
    }
    const content = await files.blobs.read(dump.sha256);
    const body = filter === '' ? content : filtered(content, filter);
    // The download is audited before the content is sent.
    await store.change(caller, async (tx) => {
      tx.touch('runs', params.runId);
      tx.note({ dump: dump.id, sha256: dump.sha256, ...(filter !== '' && { filter }) });
    });
    const name = `run-${params.runId}-agent-${dump.agentID}-${dump.name}.pcapng`;
    return {
      ...{ type, body },
      headers: {
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'no-store',
        ...(filter === '' && { 'content-length': String(dump.size) }),
      },
    };
  },
});
