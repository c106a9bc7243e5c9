import { api, type Collection, type Route } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  await administrator.client.settings.update({ body: { limits: { rate: 1_000_000 } } });
});
afterAll(() => controller.close());

interface Schema {
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  type?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
}

/** The values a query parameter may have, where the contract lists them. */
const valuesOf = (schema: Schema): unknown[] => [
  ...(schema.const === undefined ? [] : [schema.const]),
  ...(schema.enum ?? []),
  ...(schema.type === 'boolean' ? [true, false] : []),
  ...(schema.anyOf ?? []).flatMap(valuesOf),
  ...(schema.items ? valuesOf(schema.items) : []),
];

const isList = ({ method, path, access, ai, events }: Route) =>
  method === 'GET' && !path.includes(':') && access !== 'public' && ai === undefined && events === undefined;

const requests = Object.values(api as Record<string, Collection>)
  .flatMap(({ routes }) => Object.values<Route>(routes))
  .filter(isList)
  .flatMap(({ path, query }) =>
    Object.entries((query as Schema | undefined)?.properties ?? {}).flatMap(([name, schema]) =>
      valuesOf(schema).map((value) => `${path}?${new URLSearchParams({ [name]: String(value) })}`),
    ),
  );

it('every listed value of every query parameter of a list is understood', async () => {
  expect(requests).toContain('/ai/admin/keys?state=revoked');
  const failed: string[] = [];
  for (const request of requests) {
    const { status } = await administrator.send(`${controller.url}/v1${request}`);
    if (status >= 500) failed.push(`${request} ${status}`);
  }
  expect(failed).toEqual([]);
});
