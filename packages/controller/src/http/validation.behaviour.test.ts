import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let user: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  user = await controller.signIn();
});
afterAll(() => controller.close());

const issuesOf = async (path: string, init: RequestInit = {}) => {
  const reply = await user.send(`${controller.url}${path}`, init);
  expect(reply.status).toBe(400);
  const { data } = (await reply.json()) as { data: { issues: { path: string; code: string; in?: string }[] } };
  return data.issues.map(({ path: pointer, code, in: where }) => [where, pointer, code]);
};

describe('a request', () => {
  it('learns the problems of its path and of its query at once', async () => {
    expect(await issuesOf('/v1/projects/0?colour=red')).toEqual([
      ['path', '/id', 'MINIMUM'],
      ['query', '/colour', 'UNKNOWN_MEMBER'],
    ]);
  });

  it('is refused for text that cannot be stored, wherever it stands', async () => {
    expect(await issuesOf('/v1/projects?search=%00')).toEqual([['query', '/search', 'BAD_TEXT']]);
    const form = new FormData();
    form.set('category', 'other');
    form.set('tags', 'a\0b');
    form.set('file', new Blob(['content']), 'a.bin');
    expect(await issuesOf('/v1/files', { method: 'POST', body: form })).toEqual([[undefined, '/tags', 'BAD_TEXT']]);
  });

  it('may send back read-only members of the record', async () => {
    const { data: id } = await user.client.projects.create({ body: { name: 'Carried' } });
    const project = await user.client.projects.get({ params: { id } });
    const body = { ...project, name: 'Renamed', taskCount: 7 };
    await user.client.projects.update({ body: body as { name: string } });
    expect(await user.client.projects.get({ params: { id } })).toMatchObject({ name: 'Renamed', taskCount: 0 });
  });
});
