import { createDecipheriv, hash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createVault } from '../../security/malware/vault.ts';
import { catalogue } from '../../store/security/malware.ts';
import { useTestController } from '../../testing/use-controller.ts';
import { createTaskCopies, type TaskCopies } from './sample-copies.ts';

const controller = await useTestController();
const user = await controller.signIn();

const createCopies = (): TaskCopies => {
  const { store, files } = controller;
  return createTaskCopies({ store, vault: createVault({ blobs: files.blobs, secrets: store.secrets }) });
};

it('agents of a task get a sample sealed with a key of that task, the same each time', async () => {
  const bytes = Buffer.concat([Buffer.from('a line of the sample '), randomBytes(100_000)]);
  const { data: id } = await user.client.malware.create({
    body: { content: bytes.toString('base64'), attestation: true },
  });
  const sample = await catalogue.find(controller.store.read, id);
  if (sample === undefined) throw new Error('the sample is not there');
  const one = { scope: 'task one', compression: 'none' } as const;
  const copies = createCopies();
  const copy = await copies.copyOf(sample, one);
  expect(await createCopies().copyOf(sample, one)).toEqual(copy);
  const other = await copies.copyOf(sample, { ...one, scope: 'task two' });
  expect(other.key).not.toBe(copy.key);
  expect(other.sha256).not.toBe(copy.sha256);
  expect(copy.plainSha256).toBe(hash('sha256', bytes));
  const packed = await copies.copyOf(sample, { ...one, compression: 'gzip' });
  expect([packed.key === copy.key, packed.plainSha256 === copy.plainSha256]).toEqual([false, false]);

  // A controller that was started anew knows nothing but what is stored.
  const sent = await buffer(await createCopies().beside(controller.files.blobs).read(copy.sha256));
  expect([hash('sha256', sent), sent.length]).toEqual([copy.sha256, copy.size]);
  expect(sent.includes('a line of the sample')).toBe(false);
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(copy.key, 'base64'), Buffer.from(copy.nonce, 'base64'));
  decipher.setAuthTag(Buffer.from(copy.tag, 'base64'));
  expect(Buffer.concat([decipher.update(sent), decipher.final()]).equals(bytes)).toBe(true);
  const rest = await buffer(await copies.beside(controller.files.blobs).read(copy.sha256, { start: 99_000 }));
  expect(rest.equals(sent.subarray(99_000))).toBe(true);

  await user.client.malware.removeMany({ body: { array: [id] } });
  await expect(copies.beside(controller.files.blobs).read(copy.sha256)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
