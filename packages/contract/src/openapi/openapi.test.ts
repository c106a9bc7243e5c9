import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { api, type Route, toOpenApi } from '../index.ts';
import { exampleOf } from './openapi-example.ts';

const routes = Object.entries(api).flatMap(([name, { routes: own }]) =>
  Object.entries(own as Record<string, Route>).map(([key, route]) => ({ operation: `${name}.${key}`, route })),
);

it('the OpenAPI document equals the snapshot in openapi.json', async () => {
  const document = `${JSON.stringify(toOpenApi(api, 'test'), null, 1)}\n`;
  await expect(document).toMatchFileSnapshot('../../openapi.json');
});

it('irregular member names are kept exactly', () => {
  const { schemas } = toOpenApi(api, 'test').components as { schemas: Record<string, { properties: object }> };
  const membersOf = (name: string) => Object.keys(schemas[name]?.properties ?? {});
  expect(membersOf('Project')).toEqual(
    expect.arrayContaining([
      'ID',
      'name',
      'description',
      'issuerID',
      'issuer',
      'taskCount',
      'activeTaskCount',
      'errorTaskCount',
      'lastActivityAt',
      'archivedAt',
      'createdAt',
      'updatedAt',
    ]),
  );
  expect(membersOf('User')).toEqual(
    expect.arrayContaining([
      'id',
      'email',
      'realName',
      'groupID',
      'group',
      'isActive',
      'isRequiredToSetPassword',
      'passwordLength',
      'lastLogin',
      'createdAt',
      'updatedAt',
      'deletedAt',
    ]),
  );
  expect(membersOf('ExtendedUser')).toEqual(expect.arrayContaining(['agreementAccepted', 'notificationsReadAt']));
  expect(membersOf('Group')).toEqual(
    expect.arrayContaining([
      'id',
      'name',
      'issuerID',
      'issuer',
      'permissions',
      'users',
      'createdAt',
      'updatedAt',
      'deletedAt',
    ]),
  );
  expect(membersOf('Cursor')).toEqual(['count', 'currentPage', 'totalPages', 'totalRows']);
  expect(membersOf('NewCredentials')).toEqual(['email', 'password']);
  expect(membersOf('ManyIDs')).toEqual(['array']);
});

it('every request body has an example that its schema accepts', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const bodies = routes.flatMap(({ operation, route }) => (route.body ? [{ operation, body: route.body }] : []));
  expect(bodies.length).toBeGreaterThan(100);
  for (const { operation, body } of bodies) {
    const validate = ajv.compile(body);
    const isValid = validate(exampleOf(body));
    expect([operation, isValid, validate.errors]).toEqual([operation, true, null]);
  }
});

interface Operation {
  readonly parameters: { name: string; description: string }[];
  readonly responses: Record<string, { headers?: object }>;
}

it('every parameter is described, and headers are declared', () => {
  const operations = Object.values(toOpenApi(api, 'test').paths).flatMap((path) => Object.values(path) as Operation[]);
  const names = operations.flatMap(({ parameters }) => parameters);
  expect(names.filter(({ name, description }) => description === name)).toEqual([]);
  expect(names.filter(({ name }) => name === 'Idempotency-Key').length).toBeGreaterThan(50);
  for (const { responses } of operations) if (responses['429']) expect(responses['429'].headers).toBeDefined();
  const declared = new Set(
    operations
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap(({ headers }) => Object.keys(headers ?? {})),
  );
  for (const header of ['WWW-Authenticate', 'X-Unread-Count', 'X-Request-Id', 'X-Truncated', 'Idempotent-Replayed']) {
    expect(declared).toContain(header);
  }
  const asked = new Set(names.map(({ name }) => name));
  for (const header of ['X-Archive-Password', 'X-Export-Passphrase', 'Content-Range', 'If-Range'])
    expect(asked).toContain(header);
});

it('every member is described', () => {
  const undescribed = new Set<string>();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties } = schema as { properties?: Record<string, object> };
    for (const [name, member] of Object.entries(properties ?? {})) {
      if (typeof member === 'object' && !('description' in member) && !('$ref' in member)) undescribed.add(name);
    }
    for (const part of Object.values(schema)) walk(part);
  };
  const { components, paths } = toOpenApi(api, 'test');
  walk([components.schemas, paths]);
  expect([...undescribed]).toEqual([]);
});

it('every integer of a request has bounds, so that no database is asked for more than it holds', () => {
  const unbounded: string[] = [];
  const walk = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, maximum, enum: values, const: value } = schema as Record<string, unknown>;
    if ([type].flat().includes('integer') && maximum === undefined && values === undefined && value === undefined)
      unbounded.push(path);
    for (const [name, part] of Object.entries(schema)) walk(part, `${path}/${name}`);
  };
  for (const { operation, route } of routes) {
    walk(route.body, `${operation} body`);
    walk(route.query, `${operation} query`);
    walk(route.params, `${operation} params`);
  }
  expect(unbounded).toEqual([]);
});
