import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { smallCapture } from './testing/captures.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const needsDownload = (permission: string) =>
  expect.objectContaining({ status: 403, data: expect.objectContaining({ permission }) });

it('without the right to download, no part of a content is shown', async () => {
  const file = new Blob([smallCapture()]);
  const { data: id } = await administrator.client.files.create({
    upload: { fields: { category: 'pcap' }, file, filename: 'a.pcap' },
  });
  const { data: applicationId } = await administrator.client.applications.create({
    body: { name: 'recorded', pcapFileId: id },
  });
  const { client } = await controller.signInWith(administrator, [91, 111]);
  const refusal = needsDownload('files.download');
  await expect(client.files.preview({ params: { id } })).rejects.toEqual(refusal);
  await expect(client.files.pcap({ params: { id }, query: { search: 'GET' } })).rejects.toEqual(refusal);
  await expect(client.files.pcap({ params: { id }, query: { steps: true } })).rejects.toEqual(refusal);
  await expect(client.applications.export({ params: { id: applicationId } })).rejects.toEqual(refusal);
  expect((await client.files.pcap({ params: { id } })).data.sessionCount).toBe(2);
  const bare = await client.applications.export({ params: { id: applicationId }, query: { includePcap: false } });
  expect(bare.status).toBe(200);
});

it('an upload is continued and completed only by the user who opened it', async () => {
  const { data: id } = await administrator.client.files.create({ body: { name: 'a', category: 'other', size: 4 } });
  const other = await controller.signInWith(administrator, [91, 92]);
  const send = ({ client }: SignedIn) =>
    client.files.content(
      { params: { id }, chunk: Buffer.from('data') as never },
      { headers: { 'content-range': 'bytes 0-3/4' } },
    );
  await expect(send(other)).rejects.toEqual(refused(403, 'NOT_UPLOADER'));
  expect((await send(administrator)).data.complete).toBe(true);
});
