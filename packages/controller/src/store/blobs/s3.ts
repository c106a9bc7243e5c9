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
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { BlobError } from './blob-error.ts';
import type { Blobs } from './blobs.ts';
import { createBlobs, hashPattern } from './create-blobs.ts';
import { parseS3Url, type S3Location } from './s3-url.ts';
import type { Shelf } from './shelf.ts';
import type { StagingOptions } from './staging.ts';

const partSize = 8 * 1024 * 1024;
const partsAtOnce = 2;

const createClient = ({ endpoint, region, accessKeyId, secretAccessKey }: S3Location) =>
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

const isMissing = (error: unknown) =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404;

const createShelf = (client: S3Client, location: S3Location, graceMs: number): Shelf => {
  const { bucket: Bucket, prefix: Prefix } = location;
  const objectOf = (sha256: string) => ({ Bucket, Key: `${Prefix}${sha256}` });

  const head = async (sha256: string) => {
    try {
      const { ContentLength, LastModified } = await client.send(new HeadObjectCommand(objectOf(sha256)));
      return { size: ContentLength ?? 0, modifiedMs: LastModified?.getTime() ?? Date.now() };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  const sizeOf = async (sha256: string) => (await head(sha256))?.size;

  /** Makes content that is there already young again, so that no controller's sweep takes it before its row is written. */
  const refresh = (sha256: string) => {
    const CopySource = `${Bucket}/${encodeURI(`${Prefix}${sha256}`)}`;
    return client.send(new CopyObjectCommand({ ...objectOf(sha256), CopySource, MetadataDirective: 'REPLACE' }));
  };

  const send = async (path: string, sha256: string, size: number) => {
    const Body = createReadStream(path, { highWaterMark: 256 * 1024 });
    const params = { ...objectOf(sha256), Body, ContentLength: size };
    await new Upload({ client, params, partSize, queueSize: partsAtOnce }).done().finally(() => Body.destroy());
    const arrived = await sizeOf(sha256);
    if (arrived === size) return;
    throw new BlobError('CORRUPT', `the object store kept ${arrived ?? 'none'} of ${size} bytes`, { sha256 });
  };

  const put: Shelf['put'] = async (path, sha256) => {
    const { size } = await stat(path);
    const have = await head(sha256);
    const isThere = have?.size === size;
    if (!isThere) await send(path, sha256, size);
    else if (have.modifiedMs < Date.now() - graceMs / 2) await refresh(sha256);
    await rm(path);
    return have === undefined;
  };

  const read: Shelf['read'] = async (sha256, start, end) => {
    const length = await sizeOf(sha256);
    if (length === undefined) throw new BlobError('NOT_FOUND', 'no such content', { sha256 });
    const last = Math.min(end ?? length, length) - 1;
    if (start > last) return Readable.from([]);
    const { Body } = await client.send(new GetObjectCommand({ ...objectOf(sha256), Range: `bytes=${start}-${last}` }));
    return Body as Readable;
  };

  async function* list() {
    for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
      for (const { Key = '', LastModified } of page.Contents ?? []) {
        const sha256 = Key.slice(Prefix.length);
        if (hashPattern.test(sha256)) yield { sha256, modifiedMs: LastModified?.getTime() ?? Date.now() };
      }
    }
  }

  const tidy = async () => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
    const stale = Uploads.filter(({ Key = '', Initiated }) => {
      const isOurs = hashPattern.test(Key.slice(Prefix.length));
      return isOurs && (Initiated?.getTime() ?? Date.now()) <= Date.now() - graceMs;
    });
    for (const { Key, UploadId } of stale)
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  };

  const remove = async (sha256: string) => void (await client.send(new DeleteObjectCommand(objectOf(sha256))));
  return { graceMs, put, read, size: sizeOf, findPath: () => undefined, remove, list, tidy };
};

export interface S3Options extends StagingOptions {
  /** As in `S3_URL`. */
  readonly url: string;
  /** Put before every key, after the prefix of the address: keeps sealed and clear content apart. */
  readonly prefix?: string;
  readonly graceMs?: number;
}

/**
 * Blobs in an S3-compatible store that several controllers may share; uploads are staged in `folder` on this machine.
 * Locks hold in one process only: with several controllers, leave removal to `sweep`, which waits out `graceMs`.
 */
export const createS3Blobs = ({ url, prefix = '', graceMs = 3_600_000, ...options }: S3Options): Blobs => {
  const location = parseS3Url(url);
  const shelf = createShelf(createClient(location), { ...location, prefix: location.prefix + prefix }, graceMs);
  return createBlobs(options, shelf);
};
