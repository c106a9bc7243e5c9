import { createGunzip } from 'node:zlib';
import type { Executor } from '../../store/engine/database.ts';
import { badDictionary, type DictionaryFile, type DictionaryFiles } from './content.ts';
import { openFile } from './import.ts';

export const tablePath = '/config/imported/fileID';

const headerBytes = 12;
/** The first record of a table of routes names its peers: type TABLE_DUMP_V2, subtype PEER_INDEX_TABLE. */
const peerIndexRecord = 13 * 0x10000 + 1;

/** The first bytes of a file, at least `count` where it has as many. */
const firstBytes = async (chunks: AsyncIterable<Buffer>, count: number): Promise<Buffer> => {
  let bytes = Buffer.alloc(0);
  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= count) break;
  }
  return bytes;
};

const plainStart = async (file: DictionaryFile): Promise<Buffer> => {
  const start = await firstBytes(await file.open(), headerBytes);
  if (start.readUInt16BE(0) !== 0x1f8b) return start;
  return firstBytes((await file.open()).pipe(createGunzip()), headerBytes);
};

const problemOf = async (file: DictionaryFile): Promise<string | undefined> => {
  const start = await plainStart(file).catch(() => Buffer.alloc(0));
  if (start.subarray(0, 3).toString() === 'BZh') return 'is compressed with bzip2: unpack it, or use gzip';
  if (start.length >= headerBytes && start.readUInt32BE(4) === peerIndexRecord) return undefined;
  return 'is no MRT file with a table of routes (TABLE_DUMP_V2)';
};

/** Refuses a file that has no table of routes. */
export const assertMrtFile = async (files: DictionaryFiles, read: Executor, fileID: number): Promise<void> => {
  const file = await openFile(files, read, fileID, tablePath);
  const problem = await problemOf(file);
  if (problem !== undefined)
    throw badDictionary([{ path: tablePath, code: 'NOT_MRT', message: `${file.name} ${problem}` }]);
};
