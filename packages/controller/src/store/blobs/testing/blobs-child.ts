import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { createFolderBlobs } from '../folder.ts';
import { createHashPool } from '../hash-pool.ts';
import { createS3Blobs } from '../s3.ts';

// The child process of crash.test.ts and memory.test.ts. Prints its progress on standard output, a line each.
const [, , action = '', folder = '', url = ''] = process.argv;
const hashes = createHashPool();
const blobs = url ? createS3Blobs({ url, folder, hashes }) : createFolderBlobs({ folder, hashes });
const say = (text: string) => process.stdout.write(`${text}\n`);
const forever = () => new Promise<void>(() => setInterval(() => {}, 1000));

/** Three MiB of the byte 7, and then nothing more. */
async function* stalling() {
  for (let n = 0; n < 48; n++) yield Buffer.alloc(64 * 1024, 7);
  say('sent');
  await forever();
}

/** Fresh memory for every chunk, as a socket gives it. */
function* chunks(mebibytes: number) {
  for (let n = 0; n < mebibytes * 16; n++) yield Buffer.allocUnsafeSlow(64 * 1024).fill(n & 255);
}

const actions: Record<string, () => Promise<void>> = {
  stage: async () => void (await blobs.stage(Readable.from(stalling()))),
  commit: async () => {
    const staged = await blobs.stage(Readable.from([randomBytes(100_000)]));
    await blobs.commit(staged, async () => {
      say(staged.sha256);
      await forever();
    });
  },
  append: async () => {
    await blobs.openPart('1');
    await blobs.append('1', 0, Readable.from(stalling()));
  },
  large: async () => {
    const staged = await blobs.stage(Readable.from(Array.from({ length: 40 }, () => randomBytes(1024 * 1024))));
    say(staged.sha256);
    await blobs.commit(staged);
    await forever();
  },
  memory: async () => {
    await blobs.discard(await blobs.stage(Readable.from(chunks(1))));
    const before = process.memoryUsage.rss();
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 10);
    await blobs.commit(await blobs.stage(Readable.from(chunks(512))));
    clearInterval(timer);
    say(String(peak - before));
  },
  loop: async () => {
    for (;;) {
      const staged = await blobs.stage(Readable.from([randomBytes(700_000), randomBytes(700_000)]));
      await blobs.commit(staged);
      say(staged.sha256);
    }
  },
};
await actions[action]?.();
