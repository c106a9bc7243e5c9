import { RequestFailed } from '@rushhour/client';
import { useSyncExternalStore } from 'react';
import { client } from '../../lib/client.ts';
import { type Category, forgetUpload, rememberedId, rememberUpload } from './remembered-uploads.ts';

export interface Upload {
  readonly key: string;
  readonly file: File;
  readonly category: Category;
  readonly state: 'waiting' | 'sending' | 'paused' | 'done' | 'failed';
  readonly sent: number;
  readonly problem?: unknown;
}

// Module state: uploads continue while the user visits other pages.
let uploads: readonly Upload[] = [];
const listeners = new Set<() => void>();
const stops = new Map<string, AbortController>();
let isBusy = false;
let count = 0;

const smallChunk = 2 ** 20;
const largeChunk = 2 ** 23;
const largeFile = 2 ** 26;
const maxRetries = 5;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const set = (key: string, members: Partial<Upload>) => {
  uploads = uploads.map((upload) => (upload.key === key ? { ...upload, ...members } : upload));
  for (const listener of listeners) listener();
};

export const useUploads = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => uploads,
  );

/** Files are uploaded one after the other. */
export const addUploads = (files: readonly { file: File; category: Category }[]) => {
  uploads = [
    ...uploads,
    ...files.map(({ file, category }) => ({
      key: String(++count),
      file,
      category,
      state: 'waiting' as const,
      sent: 0,
    })),
  ];
  void work();
};

export const pauseUpload = (key: string) => {
  set(key, { state: 'paused' });
  stops.get(key)?.abort();
};

export const resumeUpload = (key: string) => {
  set(key, { state: 'waiting', problem: undefined });
  void work();
};

export const dropUpload = (key: string) => {
  stops.get(key)?.abort();
  uploads = uploads.filter((upload) => upload.key !== key);
  for (const listener of listeners) listener();
};

const work = async () => {
  for (const listener of listeners) listener();
  if (isBusy) return;
  isBusy = true;
  try {
    for (let next = nextUpload(); next !== undefined; next = nextUpload()) await send(next);
  } finally {
    isBusy = false;
  }
};

const nextUpload = () => uploads.find(({ state }) => state === 'waiting');

const send = async (upload: Upload) => {
  const { key, file } = upload;
  const stop = new AbortController();
  stops.set(key, stop);
  set(key, { state: 'sending' });
  try {
    await sendAll(upload, stop.signal);
    forgetUpload(file);
    set(key, { state: 'done', sent: file.size });
  } catch (problem) {
    if (stop.signal.aborted) return;
    const isRejected = problem instanceof RequestFailed;
    if (isRejected) forgetUpload(file);
    set(key, { state: isRejected ? 'failed' : 'paused', problem });
  } finally {
    stops.delete(key);
  }
};

const sendAll = async (upload: Upload, signal: AbortSignal) => {
  const { key, file } = upload;
  if (file.size === 0) return void (await storeEmpty(upload));
  const id = await openUpload(upload);
  let { received } = await sendChunk(id, file, undefined, signal);
  let tries = 0;
  while (received < file.size) {
    set(key, { sent: received });
    const size = file.size >= largeFile ? largeChunk : smallChunk;
    try {
      const part = { from: received, to: Math.min(received + size, file.size) };
      received = (await sendChunk(id, file, part, signal)).received;
      tries = 0;
    } catch (error) {
      // Connection lost: ask how much the controller has received, and continue there.
      if (error instanceof RequestFailed || signal.aborted || ++tries > maxRetries) throw error;
      await sleep(200 * 2 ** tries);
      received = (await sendChunk(id, file, undefined, signal).catch(() => ({ received }))).received;
    }
  }
};

const storeEmpty = ({ file, category }: Upload) =>
  client.files.create({ upload: { fields: { category, name: file.name }, file, filename: file.name } });

/** The unfinished upload of the same file if it is still open, otherwise a new one. */
const openUpload = async ({ file, category }: Upload): Promise<number> => {
  const known = rememberedId(file);
  if (known !== undefined && (await isOpen(known, file.size))) return known;
  const { data } = await client.files.create({ body: { name: file.name, category, size: file.size } });
  rememberUpload(file, data);
  return data;
};

const isOpen = async (id: number, size: number) => {
  try {
    const { data } = await client.files.get({ params: { id }, query: { include: 'upload' } });
    return data.upload?.total === size;
  } catch (error) {
    if (error instanceof RequestFailed) return false;
    throw error;
  }
};

/** Sends a chunk; without `part` only asks how many bytes the controller has received. */
const sendChunk = async (
  id: number,
  file: File,
  part: { from: number; to: number } | undefined,
  signal: AbortSignal,
) => {
  const range = part === undefined ? '*' : `${part.from}-${part.to - 1}`;
  const chunk = part === undefined ? new Blob([]) : file.slice(part.from, part.to);
  const headers = { 'content-range': `bytes ${range}/${file.size}` };
  return (await client.files.content({ params: { id }, chunk }, { headers, signal })).data;
};
