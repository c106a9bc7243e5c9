import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Mutex } from '../../concurrency/mutex.ts';
import { insertSamples, removeSamplesIn, type SampleRow, samplesIn } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { piecesOf, spanOf } from '../ingest/arrivals.ts';
import { firstOfBlock, lastOfBlock, type OpenRun, type Stream } from '../ingest/open-run.ts';
import { packSeconds, unpackSeconds } from '../ingest/packing.ts';
import { packedOf, storedSqueezed } from '../ingest/squeeze.ts';

/** A block that stays incomplete for so long is compacted as it is. */
const quietMs = 120_000;
const blocksAtOnce = 8;

/** `all`: whether complete or not. */
interface When {
  all: boolean;
  now: number;
}

interface Block {
  stream: Stream;
  number: number;
  span: { runID: number; agentID: number; orderIndex: number; fromSeq: number; toSeq: number };
}

const dueBlocks = (run: OpenRun, { all, now }: When): Block[] =>
  [...run.streams].flatMap((stream) => {
    const isQuiet = all || now - stream.arrivedAt > quietMs;
    return [...stream.loose].flatMap((number) => {
      const [fromSeq, toSeq] = [firstOfBlock(number), lastOfBlock(number)];
      if (!isQuiet && !stream.ranges.hasAll(fromSeq, toSeq)) return [];
      const { agentId, order } = stream;
      return [
        { stream, number, span: { runID: run.facts.runId, agentID: agentId, orderIndex: order, fromSeq, toSeq } },
      ];
    });
  });

/** The rows of a block as one, or as few as its gaps allow. */
const wholeOf = async (store: Store, { span }: Block): Promise<SampleRow[]> => {
  const rows = await samplesIn(store.read, span);
  const pieces = piecesOf(rows.flatMap(({ data }) => unpackSeconds(packedOf(data))));
  const { runID, agentID, orderIndex } = span;
  return pieces.map((piece) => ({
    runID,
    agentID,
    orderIndex,
    ...spanOf(piece),
    isBlock: 1,
    data: storedSqueezed(packSeconds(piece)),
  }));
};

const replace = async (store: Store, blocks: readonly Block[]) => {
  const rows: SampleRow[] = [];
  for (const block of blocks) {
    rows.push(...(await wholeOf(store, block)));
    await nextTurn();
  }
  await store.database.transaction(async (tx) => {
    for (const { span } of blocks) await removeSamplesIn(tx, span);
    await insertSamples(tx, rows);
  });
  for (const { stream, number } of blocks) stream.loose.delete(number);
};

/**
 * Makes one compressed row of the many small ones of a minute. A block is replaced within one transaction: after a
 * crash it is there in the one form or in the other. Others get their turn between a few blocks and the next.
 */
export const compact = async (store: Store, run: OpenRun, { exclusively, ...when }: When & { exclusively: Mutex }) => {
  const due = dueBlocks(run, when);
  for (let i = 0; i < due.length; i += blocksAtOnce) {
    await exclusively(() => replace(store, due.slice(i, i + blocksAtOnce)));
  }
};
