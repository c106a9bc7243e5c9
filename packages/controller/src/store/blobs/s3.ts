import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { StorageUnavailable } from '../engine/database.ts';
import { BlobError } from './blob-error.ts';
import type { Blobs, MarkedStore } from './blobs.ts';
import { parseS3Url, type S3Location } from './s3-url.ts';
import type { Shelf, ShelvedBlob } from './shelved-blobs.ts';
import { hashPattern, ShelvedBlobs } from './shelved-blobs.ts';
import type { StagingOptions } from './staging.ts';

const partSize = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** The store cannot be reached, or says that it cannot do its work now: trying again may help. */
const isAway = (error: unknown): boolean => {
  const {
    $metadata,
    code = '',
    name = '',
  } = error as { $metadata?: { httpStatusCode?: number }; code?: string; name?: string };
  const status = $metadata?.httpStatusCode;
  if (status !== undefined) return status >= 500;
  return /^(E[A-Z]+|UND_ERR_\w+)$/.test(code) || name === 'TimeoutError';
};

const createClient = (location: S3Location) => {
  const client = plainClient(location);
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (!isAway(error)) throw error;
        throw new StorageUnavailable('the object store cannot be reached', { cause: error });
      }
    },
    { step: 'initialize', priority: 'high', name: 'nameAbsence' },
  );
  return client;
};

const plainClient = ({ endpoint, region, accessKeyId, secretAccessKey }: S3Location) =>
  new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    // The checksum trailers that the client sends by default are refused by servers older than they are.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 120_000 },
  });

const trashPrefix = 'trash/';
const markName = 'installation';

const isMissing = (error: unknown) =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404;

class S3Shelf implements Shelf {
  readonly graceMs: number;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly marked: MarkedStore;

  constructor(location: S3Location, graceMs: number) {
    this.graceMs = graceMs;
    this.#client = createClient(location);
    this.#bucket = location.bucket;
    this.#prefix = location.prefix;
    this.marked = {
      name: `the bucket ${location.bucket}${location.prefix && ` (prefix ${location.prefix})`}`,
      readMark: () => this.#readMark(),
      writeMark: async (installation) => {
        await this.#client.send(new PutObjectCommand({ ...this.#objectOf(markName), Body: installation }));
      },
      isEmpty: async () => {
        for await (const _ of this.list()) return false;
        return true;
      },
    };
  }

  async put(path: string, sha256: string) {
    const { size } = await stat(path);
    const have = await this.#head(sha256);
    if (have?.size !== size) await this.#send(path, sha256, size);
    else if (have.modifiedMs < Date.now() - this.graceMs / 2) await this.#refresh(sha256);
    await rm(path);
    return have === undefined;
  }

  async read(sha256: string, start: number, end?: number) {
    const size = await this.size(sha256);
    if (size === undefined) throw new BlobError('NOT_FOUND', 'no such content', { sha256 });
    const last = Math.min(end ?? size, size) - 1;
    if (start > last) return Readable.from([]);
    const Range = `bytes=${start}-${last}`;
    const { Body } = await this.#client.send(new GetObjectCommand({ ...this.#objectOf(sha256), Range }));
    return Body as Readable;
  }

  async size(sha256: string) {
    return (await this.#head(sha256))?.size;
  }

  findPath() {
    return undefined;
  }

  async remove(sha256: string) {
    await this.#client.send(new DeleteObjectCommand(this.#objectOf(sha256)));
  }

  list() {
    return this.#listUnder('');
  }

  listTrash() {
    return this.#listUnder(trashPrefix);
  }

  trash(sha256: string) {
    return this.#move(sha256, trashPrefix + sha256);
  }

  restore(sha256: string) {
    return this.#move(trashPrefix + sha256, sha256);
  }

  async removeTrashed(sha256: string) {
    await this.#client.send(new DeleteObjectCommand(this.#objectOf(trashPrefix + sha256)));
  }

  async tidy() {
    const all = { Bucket: this.#bucket, Prefix: this.#prefix };
    const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand(all));
    for (const { Key = '', UploadId, Initiated } of Uploads) {
      const isStale = (Initiated?.getTime() ?? Date.now()) <= Date.now() - this.graceMs;
      if (!isStale || !this.#findHash(Key)) continue;
      await this.#client.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId }));
    }
  }

  #objectOf(name: string) {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${name}` };
  }

  async *#listUnder(folder: string): AsyncGenerator<ShelvedBlob> {
    const all = { Bucket: this.#bucket, Prefix: this.#prefix + folder };
    for await (const page of paginateListObjectsV2({ client: this.#client }, all)) {
      for (const { Key = '', LastModified } of page.Contents ?? []) {
        const sha256 = this.#findHash(Key, folder);
        if (sha256) yield { sha256, modifiedMs: LastModified?.getTime() ?? Date.now() };
      }
    }
  }

  async #move(from: string, to: string) {
    const source = this.#objectOf(from);
    const CopySource = `${source.Bucket}/${encodeURI(source.Key)}`;
    await this.#client.send(new CopyObjectCommand({ ...this.#objectOf(to), CopySource }));
    await this.#client.send(new DeleteObjectCommand(source));
  }

  async #readMark() {
    try {
      const { Body } = await this.#client.send(new GetObjectCommand(this.#objectOf(markName)));
      return (await Body?.transformToString())?.trim();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #findHash(key: string, folder = '') {
    const name = key.slice(this.#prefix.length + folder.length);
    return hashPattern.test(name) ? name : undefined;
  }

  async #head(sha256: string) {
    try {
      const { ContentLength, LastModified } = await this.#client.send(new HeadObjectCommand(this.#objectOf(sha256)));
      return { size: ContentLength ?? 0, modifiedMs: LastModified?.getTime() ?? Date.now() };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #send(path: string, sha256: string, size: number) {
    const Body = createReadStream(path, { highWaterMark: 256 * 1024 });
    const params = { ...this.#objectOf(sha256), Body, ContentLength: size };
    const upload = new Upload({ client: this.#client, params, partSize, queueSize: partsAtOnce });
    await upload.done().finally(() => Body.destroy());
    const arrived = await this.size(sha256);
    if (arrived === size) return;
    throw new BlobError('CORRUPT', `the object store kept ${arrived ?? 'none'} of ${size} bytes`, { sha256 });
  }

  /** Refreshes the age of existing content, so that no controller's sweep removes it before its row is written. */
  async #refresh(sha256: string) {
    const object = this.#objectOf(sha256);
    const CopySource = `${object.Bucket}/${encodeURI(object.Key)}`;
    await this.#client.send(new CopyObjectCommand({ ...object, CopySource, MetadataDirective: 'REPLACE' }));
  }
}

export interface S3Options extends StagingOptions {
  /** As in `S3_URL`. */
  readonly url: string;
  /** Put before every key, after the prefix of the address: keeps sealed and clear content apart. */
  readonly prefix?: string;
  readonly graceMs?: number;
}

/** The contents alone, for backups. */
export const createS3Shelf = (url: string): Shelf => new S3Shelf(parseS3Url(url), 0);

/**
 * Blobs in an S3-compatible store that several controllers may share; uploads are staged in `folder` on this machine.
 * Locks hold in one process only: with several controllers, leave removal to `sweep`, which waits out `graceMs`.
 */
export const createS3Blobs = ({ url, prefix = '', graceMs = 3_600_000, ...options }: S3Options): Blobs => {
  const location = parseS3Url(url);
  return new ShelvedBlobs(options, new S3Shelf({ ...location, prefix: location.prefix + prefix }, graceMs));
};
