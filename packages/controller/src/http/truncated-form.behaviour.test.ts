import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const boundary = 'a-boundary';
const part = (disposition: string, content: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}`;

it.each([
  ['/files', part('name="category"', 'other\r\n')],
  ['/applications/import', ''],
  ['/cve/import', part('name="format"', 'nuclei\r\n')],
  ['/tasks/import/plan', ''],
])('a form for %s that ends inside its file is refused', async (path, fields) => {
  const response = await administrator.send(`${controller.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: fields + part('name="file"; filename="a.zip"', 'PK\x03\x04 and no end'),
  });
  expect([response.status, await response.json()]).toMatchObject([400, { data: { issues: [{ code: 'BAD_UPLOAD' }] } }]);
});
