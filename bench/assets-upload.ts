/**
 * Upload of 1 GiB with all digests, to a running controller or (argument `storage`) to the storage alone, against the
 * slower of `cat | tee` onto the same disk and sha3-384 alone, measured in the same run.
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { cookieJar, createClient } from '@rushhour/client';
import { createFolderBlobs } from '../packages/controller/src/store/blobs/folder.ts';
import { createHashPool } from '../packages/controller/src/store/blobs/hash-pool.ts';
import { spawnController } from '../tests/process/spawn-controller.ts';

const mebibyte = 1024 * 1024;
const sizeMib = 1024;
const rounds = 3;

interface Measurement {
  name: string;
  value: number;
  goal: number;
  better: 'higher' | 'lower';
}

/** A receiver of uploads, and the memory of its process. */
export interface UploadTarget {
  upload(content: Readable, size: number): Promise<void>;
  rssBytes(): number;
  close(): Promise<void>;
}

/** The storage alone, in this process: stage, then commit. */
export const createStorageTarget = async (folder: string): Promise<UploadTarget> => {
  const hashes = createHashPool();
  const blobs = createFolderBlobs({ folder: join(folder, 'blobs'), hashes });
  return {
    upload: async (content) => {
      const staged = await blobs.stage(content);
      await blobs.commit(staged);
      await blobs.remove(staged.sha256);
    },
    rssBytes: () => process.memoryUsage.rss(),
    close: () => hashes.close(),
  };
};

const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };
const boundary = 'one-gibibyte-of-bytes';

interface Form {
  readonly url: string;
  readonly cookie: string;
  readonly content: Readable;
  readonly size: number;
}

/** Streams a form as a browser does, and returns the id of the file. */
const postForm = async ({ url, cookie, content, size }: Form): Promise<number> => {
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="category"\r\n\r\nother\r\n`;
  const head = `${field}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="bench"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const headers = {
    cookie,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': head.length + size + tail.length,
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const post = request(`${url}/v1/files`, { method: 'POST', headers }, resolve).on('error', reject);
    post.write(head);
    content.on('end', () => post.end(tail)).pipe(post, { end: false });
  });
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`the upload was answered with ${answer.statusCode}: ${body}`);
  return JSON.parse(body).data;
};

/** A running controller, over HTTP. */
export const createHttpTarget = async (folder: string): Promise<UploadTarget> => {
  const controller = await spawnController({
    RUSHHOUR_DATA_DIR: join(folder, 'data'),
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
  });
  const send = cookieJar();
  const client = createClient(controller.url, send);
  await client.auth.login({ body: admin });
  const cookie = [...send.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    upload: async (content, size) => {
      const id = await postForm({ url: controller.url, cookie, content, size });
      await client.files.removeMany({ body: { array: [id] } });
    },
    rssBytes: () => {
      const status = readFileSync(`/proc/${controller.process.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    close: async () => void (await controller.kill('SIGTERM')),
  };
};

/** Written by another process, so that it does not change the memory of this one. */
const writeSource = (path: string, mib: number) =>
  execFileSync('sh', ['-c', 'head -c "$0" /dev/urandom > "$1"', String(mib * mebibyte), path]);

const secondsOf = async (work: () => unknown) => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
};

const hashAlone = () => {
  const block = randomBytes(mebibyte);
  const hash = createHash('sha3-384');
  for (let n = 0; n < sizeMib; n++) hash.update(block);
  return hash.digest('hex');
};

/** Watches the peak of memory above its current value. */
const watchMemory = (target: UploadTarget) => {
  const before = target.rssBytes();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, target.rssBytes());
  }, 10);
  return {
    stop: () => {
      clearInterval(timer);
      return (peak - before) / mebibyte;
    },
  };
};

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Seconds of the slower of the two necessary parts of an upload. */
const floorSec = async (source: string, copy: string) => {
  const teeSec = await secondsOf(() => execFileSync('sh', ['-c', 'cat "$0" | tee "$1" > /dev/null', source, copy]));
  await rm(copy);
  return Math.max(teeSec, await secondsOf(hashAlone));
};

export const measureUpload = async (createTarget = createStorageTarget): Promise<Measurement[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'rushhour-upload-'));
  const [small, large] = [join(folder, 'small'), join(folder, 'large')];
  writeSource(small, 1);
  writeSource(large, sizeMib);
  const target = await createTarget(folder);
  const ratios: number[] = [];
  try {
    await target.upload(createReadStream(small), mebibyte);
    const memory = watchMemory(target);
    for (let round = 0; round < rounds; round++) {
      const sec = await floorSec(large, join(folder, 'copy'));
      ratios.push(
        sec /
          (await secondsOf(() =>
            target.upload(createReadStream(large, { highWaterMark: mebibyte }), sizeMib * mebibyte),
          )),
      );
    }
    return [
      { name: 'files.uploadToSlowerOfTeeAndSha3', value: median(ratios), goal: 0.5, better: 'higher' },
      { name: 'files.uploadMemoryRiseMib', value: memory.stop(), goal: 64, better: 'lower' },
    ];
  } finally {
    await target.close();
    await rm(folder, { recursive: true, force: true });
  }
};

if (import.meta.main) {
  const measurements = await measureUpload(process.argv[2] === 'storage' ? createStorageTarget : createHttpTarget);
  for (const { name, value, goal } of measurements) console.log(`ratio ${name} ${value.toFixed(3)} goal ${goal}`);
  const isShort = measurements.some(({ value, goal, better }) => (better === 'lower' ? value > goal : value < goal));
  process.exitCode = isShort ? 1 : 0;
}
