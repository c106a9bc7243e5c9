import { Readable } from 'node:stream';
import { dumpPieceBytes } from '@rushhour/protocol';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { dumpPart, type RunDumpRecord, settleDump } from '../../store/runs/run-dumps.ts';
import type { Store } from '../../store/store.ts';

export interface CollectDeps {
  store: Store;
  blobs: Blobs;
  gateway: AgentGateway;
}

/** The bytes an agent sent are not those it announced. */
export class DumpDamaged extends Error {}

const pieceMs = 30_000;

const readPiece = async ({ gateway }: CollectDeps, dump: RunDumpRecord, offset: number): Promise<Buffer> => {
  const { runID: runId, epoch, name, size } = dump;
  const length = Math.min(dumpPieceBytes, size - offset);
  const answer = await gateway.ask(dump.agentID, { kind: 'readDump', runId, epoch, name, offset, length }, pieceMs);
  const { base64 } = (answer ?? {}) as { base64?: unknown };
  const bytes = Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64');
  if (bytes.length === 0 || bytes.length > length) throw new DumpDamaged('the agent has not what it announced');
  return bytes;
};

/** Brings a closed dump from its agent into storage, from where an earlier attempt left off. False when nobody wants it. */
export const collectDump = async (deps: CollectDeps, dump: RunDumpRecord): Promise<boolean> => {
  const { store, blobs } = deps;
  const part = dumpPart(dump.id);
  let offset = await blobs.partSize(part);
  if (offset === undefined || offset > dump.size) {
    await blobs.openPart(part);
    offset = 0;
  }
  while (offset < dump.size) {
    const piece = await readPiece(deps, dump, offset);
    offset = await blobs.append(part, offset, Readable.from([piece]), { maxBytes: dumpPieceBytes });
  }
  const staged = await blobs.finishPart(part);
  if (staged.sha256 !== dump.sha256) {
    await blobs.discard(staged);
    await blobs.removePart(part);
    throw new DumpDamaged('what arrived is not what the agent captured');
  }
  let isWanted = false;
  await blobs.commit(staged, async () => {
    isWanted = await store.database.transaction((tx) => settleDump(tx, { ...dump, state: 'ready' }));
  });
  return isWanted;
};
