import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { compileRecording } from '../../assets/har/compile-recording.ts';
import type { HarResult } from '../../assets/har/har-result.ts';
import type { HarParams } from '../../assets/har/har-selection.ts';
import { findHarScript, keepHarScript } from '../../store/assets/har-scripts.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Store } from '../../store/store.ts';
import type { PlanRecording, PlanRecordings } from '../content/plan-recordings.ts';

const mostKnown = 200;
const mostHeldBytes = 128 * 1024 * 1024;
const heldMs = 300_000;

type Contents = Pick<Blobs, 'read' | 'exists'>;

/**
 * Recordings as agents play them. They are made from recording and wishes whenever they are asked for and are stored
 * nowhere; the same wishes always make the same bytes.
 */
export const createRecordings = ({ store, blobs }: { store: Store; blobs: Contents }) => {
  const known = new Map<string, Promise<PlanRecording>>();
  /** Those asked for last, because agents ask for them piece by piece and one after the other. */
  const held = new Map<string, Uint8Array>();

  const compile = async (fileSha256: string, params: HarParams): Promise<HarResult> => {
    const recording = Buffer.concat(await (await blobs.read(fileSha256)).toArray());
    return compileRecording({ recording: new Uint8Array(recording), params });
  };

  const hold = (sha256: string, bytes: Uint8Array) => {
    held.set(sha256, bytes);
    setTimeout(() => held.get(sha256) === bytes && held.delete(sha256), heldMs).unref();
    const total = () => [...held.values()].reduce((sum, { length }) => sum + length, 0);
    for (const oldest of held.keys()) {
      if (total() <= mostHeldBytes || held.size === 1) break;
      held.delete(oldest);
    }
  };

  const make = async (fileSha256: string, params: HarParams): Promise<PlanRecording> => {
    const result = await compile(fileSha256, params);
    if ('problem' in result) return result;
    const { client, server, ...facts } = result;
    const row = { fileSha256, params: JSON.stringify(params) };
    await store.database.transaction(async (tx) => {
      await keepHarScript(tx, { ...row, sha256: client.sha256, side: 'client' });
      await keepHarScript(tx, { ...row, sha256: server.sha256, side: 'server' });
    });
    for (const { sha256, bytes } of [server, client]) hold(sha256, bytes);
    return {
      ...facts,
      client: { sha256: client.sha256, size: client.bytes.length },
      server: { sha256: server.sha256, size: server.bytes.length },
    };
  };

  const recordingOf = (fileSha256: string, params: HarParams): Promise<PlanRecording> => {
    const key = createHash('sha256').update(fileSha256).update(JSON.stringify(params)).digest('hex');
    const found = known.get(key) ?? make(fileSha256, params);
    known.set(key, found);
    // What failed may have done so for want of time or memory: it is tried again.
    found.then((made) => 'problem' in made && known.delete(key)).catch(() => known.delete(key));
    if (known.size > mostKnown) known.delete(known.keys().next().value as string);
    return found;
  };

  const bytesOf = async (sha256: string): Promise<Uint8Array | undefined> => {
    const script = held.has(sha256) ? undefined : await findHarScript(store.read, sha256);
    if (script === undefined) return held.get(sha256);
    const result = await compile(script.fileSha256, JSON.parse(script.params) as HarParams);
    if ('problem' in result) return undefined;
    const { bytes } = script.side === 'client' ? result.client : result.server;
    hold(sha256, bytes);
    return bytes;
  };

  const plan: PlanRecordings = async (wishes) =>
    new Map(
      await Promise.all(
        wishes.map(async ({ path, file, params }) => [path, await recordingOf(file.sha256, params)] as const),
      ),
    );

  return {
    plan,
    /** Contents as agents may ask for them: what others have, and these. */
    beside: (others: Pick<Blobs, 'read'>): Pick<Blobs, 'read'> => ({
      read: async (sha256, range = {}) => {
        const isStored = await blobs.exists(sha256).catch(() => true);
        const bytes = isStored ? undefined : await bytesOf(sha256);
        if (bytes === undefined) return others.read(sha256, range);
        return Readable.from([Buffer.from(bytes.subarray(range.start ?? 0, range.end))]);
      },
    }),
  };
};

export type Recordings = ReturnType<typeof createRecordings>;
