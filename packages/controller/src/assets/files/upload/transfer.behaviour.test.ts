import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Spawned, spawnController } from '../../../../../../tests/process/spawn-controller.ts';
import { files } from '../../../store/assets/files.ts';
import { admin, type SignedIn, startTestController, type TestController } from '../../../testing/controller.ts';
import { createDatabase } from '../../../testing/postgres.ts';
import { refused } from '../../../testing/refused.ts';
import { signInWithCurl } from '../testing/curl.ts';

let controller: TestController;
let user: SignedIn;
let curl: Awaited<ReturnType<typeof signInWithCurl>>;
beforeAll(async () => {
  controller = await startTestController();
  user = await controller.signIn();
  curl = await signInWithCurl(controller.url);
});
afterAll(() => controller.close());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const upload = (bytes: Buffer<ArrayBuffer>, filename: string) =>
  user.client.files.create({ upload: { fields: { category: 'other' }, file: new Blob([bytes]), filename } });
/** What lies in the storage of the controller: temp files, parts, contents. */
const stored = (kind: '.staging' | '.parts' | 'contents') => {
  const folder = join(controller.config.dataDir, 'files');
  if (kind !== 'contents') return readdirSync(join(folder, kind));
  return readdirSync(folder, { recursive: true }).filter((name) => /[0-9a-f]{64}$/.test(String(name)));
};

describe('downloads, as curl sees them', () => {
  const bytes = randomBytes(100_000);
  let path: string;
  beforeAll(async () => {
    const { data: id } = await upload(bytes, 'größe "x".bin');
    path = `/v1/files/${id}/download`;
  });

  it('carry a strong ETag, a digest, a name and the whole content', async () => {
    const { status, headers, body } = await curl(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      etag: `"${sha256(bytes)}"`,
      'accept-ranges': 'bytes',
      'content-length': '100000',
      'content-type': 'application/octet-stream',
      'repr-digest': `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`,
      'content-disposition': `attachment; filename="gr__e _x_.bin"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%22x%22.bin`,
    });
    expect(body.equals(bytes)).toBe(true);
  });

  it('answer ranges from the front, the middle and the end', async () => {
    const cases: [string, number, number][] = [
      ['0-9', 0, 10],
      ['500-', 500, 100_000],
      ['-7', 99_993, 100_000],
      ['99990-200000', 99_990, 100_000],
    ];
    for (const [range, start, end] of cases) {
      const { status, headers, body } = await curl(path, '-r', range);
      expect([status, headers['content-range']]).toEqual([206, `bytes ${start}-${end - 1}/100000`]);
      expect(body.equals(bytes.subarray(start, end))).toBe(true);
    }
  });

  it('send the whole when the range was asked of another content, and the range when of this one', async () => {
    const range = ['-H', 'Range: bytes=10-19'];
    expect((await curl(path, ...range, '-H', 'If-Range: "other"')).status).toBe(200);
    expect((await curl(path, ...range, '-H', `If-Range: "${sha256(bytes)}"`)).status).toBe(206);
  });

  it('answer 304 to who has it and 416 to who asks beyond the end', async () => {
    const unchanged = await curl(path, '-H', `If-None-Match: W/"x", "${sha256(bytes)}"`);
    expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
    const beyond = await curl(path, '-r', '100000-');
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */100000']);
    expect(JSON.parse(beyond.body.toString())).toMatchObject({ data: { code: 'RANGE_NOT_SATISFIABLE' } });
  });

  it('tell size and ETag to a HEAD without the content', async () => {
    const { status, headers, body } = await curl(path, '-I');
    expect([status, headers['content-length'], headers['etag'], body.length]).toEqual([
      200,
      '100000',
      `"${sha256(bytes)}"`,
      0,
    ]);
  });

  it('show in place what is text, and nothing a browser would run', async () => {
    const { data: text } = await upload(Buffer.from('just words'), 'a.txt');
    const { data: page } = await upload(Buffer.from('<html><script>alert(1)</script></html>'), 'a.html');
    const shownText = await curl(`/v1/files/${text}/download?inline=true`);
    expect(shownText.headers).toMatchObject({ 'content-disposition': expect.stringMatching(/^inline/) });
    expect(shownText.headers['content-type']).toMatch(/^text\/plain/);
    const shownPage = await curl(`/v1/files/${page}/download?inline=true`);
    expect(shownPage.headers).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment/),
      'content-type': 'application/octet-stream',
    });
  });
});

describe('an upload', () => {
  it('that breaks off leaves nothing', async () => {
    const { stagingBefore, filesBefore } = { stagingBefore: stored('.staging'), filesBefore: stored('contents') };
    const cookie = [...(user.send as unknown as { cookies: Map<string, string> }).cookies]
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
    const socket = connect(Number(new URL(controller.url).port), '127.0.0.1');
    const form = '--b\r\nContent-Disposition: form-data; name="category"\r\n\r\nother\r\n--b\r\n';
    const file = 'Content-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
    socket.write(
      `POST /v1/files HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 900000000\r\n\r\n${form}${file}`,
    );
    socket.write(Buffer.alloc(3_000_000, 1));
    await vi.waitFor(() => expect(stored('.staging').length).toBe(stagingBefore.length + 1));
    socket.destroy();
    await vi.waitFor(() => expect(stored('.staging')).toEqual(stagingBefore), 5000);
    expect(stored('contents')).toEqual(filesBefore);
    expect((await user.client.files.list({ query: { search: 'x', sizeMin: 3_000_000 } })).data).toEqual([]);
  });

  it('larger than the limit is refused with 413', async () => {
    await user.client.settings.update({ body: { limits: { uploadBytes: 1_048_576 } } });
    await expect(upload(randomBytes(1_048_577), 'large')).rejects.toEqual(refused(413, 'FILE_TOO_LARGE'));
    const body = { name: 'large', category: 'other', size: 1_048_577 } as const;
    await expect(user.client.files.create({ body })).rejects.toEqual(refused(413, 'FILE_TOO_LARGE'));
    await user.client.settings.update({ body: { limits: { uploadBytes: 4_294_967_296 } } });
    expect(stored('.staging')).toEqual([]);
  });

  it('under an idempotency key is stored once', async () => {
    const options = { headers: { 'idempotency-key': 'upload once' } };
    const send = (bytes: Buffer<ArrayBuffer>) =>
      user.client.files.create(
        {
          upload: {
            fields: { category: 'other' as const, onDuplicate: 'copy' as const },
            file: new Blob([bytes]),
            filename: 'k',
          },
        },
        options,
      );
    const bytes = randomBytes(1000);
    const first = await send(bytes);
    expect(await send(bytes)).toEqual(first);
    await expect(send(randomBytes(1001))).rejects.toEqual(refused(409, 'IDEMPOTENCY_KEY_MISMATCH'));
  });

  it('without its file part, or with the file first, is refused', async () => {
    const form = new FormData();
    form.append('category', 'other');
    const send = (body: FormData) => user.send(`${controller.url}/v1/files`, { method: 'POST', body });
    expect((await send(form)).status).toBe(400);
    const reversed = new FormData();
    reversed.append('file', new Blob(['x']), 'x');
    reversed.append('category', 'other');
    const answer = await send(reversed);
    expect([answer.status, await answer.json()]).toMatchObject([400, { data: { issues: [{ path: '/category' }] } }]);
  });
});

describe('a resumable upload', () => {
  const bytes = randomBytes(250_000);
  const open = async (more: object = {}) => {
    const body = { name: 'parts.bin', category: 'other', size: bytes.length, sha256: sha256(bytes), ...more } as const;
    return (await user.client.files.create({ body })).data;
  };
  const put = (id: number, start: number, end: number, content: Buffer<ArrayBuffer> = bytes) =>
    user.client.files.content(
      { params: { id }, chunk: content.subarray(start, end) },
      { headers: { 'content-range': `bytes ${start}-${end - 1}/${content.length}` } },
    );
  const uploadOf = async (id: number) =>
    (await user.client.files.get({ params: { id }, query: { include: 'upload' } })).data;

  it('continues where it stopped, after a wrong offset too', async () => {
    const id = await open();
    expect(await uploadOf(id)).toMatchObject({
      syncReady: false,
      sha256: '',
      size: 250_000,
      upload: { received: 0, total: 250_000, expiresAt: expect.any(String) },
    });
    expect(await put(id, 0, 100_000)).toEqual({ data: { received: 100_000, total: 250_000, complete: false } });
    await expect(put(id, 150_000, 200_000)).rejects.toMatchObject({
      status: 409,
      data: { code: 'OFFSET_MISMATCH', received: 100_000 },
    });
    await expect(user.client.files.download({ params: { id } })).rejects.toEqual(refused(409, 'NOT_READY'));
    await expect(user.client.files.preview({ params: { id } })).rejects.toEqual(refused(409, 'NOT_READY'));
    await put(id, 100_000, 200_000);
    expect((await uploadOf(id)).upload?.received).toBe(200_000);
    expect(await put(id, 200_000, 250_000)).toEqual({ data: { received: 250_000, total: 250_000, complete: true } });
    expect(await uploadOf(id)).toMatchObject({ syncReady: true, sha256: sha256(bytes), size: 250_000, upload: null });
    await expect(put(id, 0, 10)).rejects.toEqual(refused(409, 'ALREADY_COMPLETE'));
    expect(stored('.parts')).toEqual([]);
  });

  it('keeps what came before the client went away', async () => {
    const id = await open();
    const aborter = new AbortController();
    const slow = new ReadableStream({
      pull: async (stream) => {
        stream.enqueue(bytes.subarray(0, 90_000));
        await new Promise((resolve) => setTimeout(resolve, 200));
        aborter.abort();
      },
    });
    const init = {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream', 'content-range': 'bytes 0-249999/250000' },
      body: slow,
      duplex: 'half',
      signal: aborter.signal,
    };
    await expect(user.send(`${controller.url}/v1/files/${id}/content`, init as RequestInit)).rejects.toThrow();
    await vi.waitFor(async () => expect((await uploadOf(id)).upload?.received).toBe(90_000), 5000);
    await vi.waitFor(() => put(id, 90_000, 250_000), 5000);
    expect((await uploadOf(id)).sha256).toBe(sha256(bytes));
  });

  it('is completed by asking how far it is, when the answer to the last bytes was lost', async () => {
    const id = await open();
    await put(id, 0, 249_999);
    const range = { headers: { 'content-range': 'bytes */250000' } };
    const ask = () => user.client.files.content({ params: { id }, chunk: new Uint8Array() }, range);
    expect(await ask()).toEqual({ data: { received: 249_999, total: 250_000, complete: false } });
    const { upload: plan } = (await files.find(controller.store.read, id)) ?? {};
    appendFileSync(join(controller.config.dataDir, 'files/.parts', plan?.part ?? ''), bytes.subarray(-1));
    expect((await ask()).data.complete).toBe(true);
  });

  it('whose content is not what was announced is dropped', async () => {
    const id = await open({ sha256: 'b'.repeat(64) });
    await expect(put(id, 0, 250_000)).rejects.toEqual(refused(400, 'HASH_MISMATCH'));
    await expect(uploadOf(id)).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await vi.waitFor(() => expect(stored('.parts')).toEqual([]));
    expect(stored('.staging')).toEqual([]);
  });

  it('refuses a range that is none, another total and too many bytes', async () => {
    const id = await open();
    const send = (range: string, chunk = bytes) =>
      user.client.files.content({ params: { id }, chunk }, { headers: { 'content-range': range } });
    await expect(send('bytes 5-2/9')).rejects.toEqual(refused(400, 'BAD_CONTENT_RANGE'));
    await expect(send('bytes 0-9/10')).rejects.toEqual(refused(400, 'BAD_CONTENT_RANGE'));
    await expect(send('bytes 0-9/250000')).rejects.toEqual(refused(413, 'FILE_TOO_LARGE'));
    await expect(send('bytes 0-99999/250000', bytes.subarray(0, 5))).rejects.toMatchObject({
      data: { code: 'SHORT_CHUNK', received: 5 },
    });
    await user.client.files.removeMany({ body: { array: [id] } });
    await vi.waitFor(() => expect(stored('.parts')).toEqual([]));
  });

  it('ends when it was not completed in time', async () => {
    const id = await open();
    const expiresAt = '2020-01-01T00:00:00.000Z';
    const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
    await controller.store.change(origin, (tx) => files.update(tx, id, { expiresAt }));
    await expect(put(id, 0, 10)).rejects.toEqual(refused(410, 'UPLOAD_EXPIRED'));
    await controller.files.expireUploads();
    await expect(uploadOf(id)).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await vi.waitFor(() => expect(stored('.parts')).toEqual([]));
  });
});

describe('the memory of the controller', () => {
  let child: Spawned;
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-memory-'));
  beforeAll(async () => {
    const databaseUrl = await createDatabase();
    child = await spawnController({
      RUSHHOUR_DATA_DIR: join(folder, 'data'),
      RUSHHOUR_ADMIN_EMAIL: admin.email,
      RUSHHOUR_ADMIN_PASSWORD: admin.password,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    });
  });
  afterAll(async () => {
    await child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  const rss = () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.process.pid}/status`, 'utf8'))?.[1]) / 1024;

  it('stays flat while 240 small files come in', async () => {
    const send = await signInWithCurl(child.url);
    const uploadSome = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        const file = `file=content ${i} of ${count};filename=small-${i}.txt`;
        expect((await send('/v1/files', '-F', 'category=other', '-F', file)).status).toBe(200);
      }
    };
    await uploadSome(10);
    const before = rss();
    await Promise.all([60, 61, 59, 60].map(uploadSome));
    expect(rss() - before).toBeLessThanOrEqual(64);
  });

  it('stays flat while 200 MiB come in', async () => {
    const send = await signInWithCurl(child.url);
    const file = join(folder, 'content');
    const makeFile = (mib: number) =>
      execFileSync('sh', ['-c', 'head -c "$0" /dev/urandom > "$1"', String(mib * 1_048_576), file]);
    const uploadFile = () => send('/v1/files', '-F', 'category=other', '-F', `file=@${file}`);
    makeFile(8);
    await uploadFile();
    makeFile(200);
    const before = rss();
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, rss());
    }, 20);
    const { status } = await uploadFile();
    clearInterval(timer);
    expect(status).toBe(200);
    expect(peak - before).toBeLessThanOrEqual(64);
  });
});
