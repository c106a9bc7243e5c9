import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type S3TestServer, startS3TestServer } from '../../store/blobs/testing/s3-server.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { writeZip } from '../archives/write-zip.ts';
import { smallCapture } from './testing/captures.ts';

let server: S3TestServer;
let controller: TestController;
let user: SignedIn;
beforeAll(async () => {
  server = await startS3TestServer();
  controller = await startTestController({ s3Url: server.url });
  user = await controller.signIn();
});
afterAll(async () => {
  await controller.close();
  await server.stop();
});

const upload = async (bytes: Buffer, category: 'other' | 'pcap') =>
  (
    await user.client.files.create({
      upload: { fields: { category }, file: new Blob([new Uint8Array(bytes)]), filename: 'a' },
    })
  ).data;
const keysOf = async () =>
  ((await server.client.send(new ListObjectsV2Command({ Bucket: 'blobs' }))).Contents ?? []).map(({ Key }) => Key);

it('files whose contents lie in an object store are stored, read in parts, looked into and removed', async () => {
  const builtin = await keysOf();
  const bytes = randomBytes(200_000);
  const id = await upload(bytes, 'other');
  const { sha256 } = (await user.client.files.get({ params: { id } })).data;
  expect(await keysOf()).toEqual([...builtin, sha256].sort());
  const part = await user.client.files.download({ params: { id } }, { headers: { range: 'bytes=1000-1999' } });
  expect([part.status, Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000))]).toEqual([206, true]);

  const capture = await upload(smallCapture(), 'pcap');
  const { sessions } = (
    await user.client.files.pcap({ params: { id: capture }, query: { sessionIdx: [0], stepIdx: 0, encoding: 'text' } })
  ).data;
  expect(sessions[0]?.steps[0]?.data).toMatch(/^GET \/cart/);
  const archive = await upload(await buffer(writeZip([{ name: 'inside.txt', content: 'text' }])), 'other');
  expect((await user.client.files.preview({ params: { id: archive } })).data).toMatchObject({
    kind: 'archive',
    members: [{ name: 'inside.txt', size: 4 }],
  });

  await user.client.files.removeMany({ body: { array: [id, capture, archive] } });
  await vi.waitFor(async () => expect(await keysOf()).toEqual(builtin), 5000);
});
