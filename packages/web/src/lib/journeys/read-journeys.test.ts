import { describe, expect, it } from 'vitest';
import { journeyFromOpenApi, type OpenApiDocument, operationsOf } from './openapi-journey.ts';
import { findJourneyFile, journeyFileText } from './read-journeys.ts';

const journeysIn = (text: string): object[] => {
  const found = findJourneyFile(text);
  return found !== undefined && 'journeys' in found ? [...found.journeys] : [];
};

const entry = (at: number, time: number, request: object) => ({
  startedDateTime: new Date(1_000_000_000_000 + at).toISOString(),
  time,
  request: { method: 'GET', headers: [], ...request },
});

const har = {
  log: {
    pages: [{ title: 'Shop' }],
    entries: [
      entry(0, 100, {
        url: 'https://shop.test/?a=1',
        headers: [
          { name: ':authority', value: 'shop.test' },
          { name: 'Accept', value: 'text/html' },
          { name: 'Cookie', value: 'a=b' },
        ],
      }),
      entry(120, 50, { url: 'https://shop.test/a.css' }),
      entry(130, 50, { url: 'https://shop.test/b.js' }),
      entry(140, 50, { url: 'https://cdn.test/c.js' }),
      entry(3000, 50, { method: 'POST', url: 'https://shop.test/buy', postData: { text: '{"id":1}' } }),
    ],
  },
};

const postman = {
  info: { name: 'API' },
  variable: [{ key: 'id', value: '7' }],
  item: [
    {
      name: 'Users',
      item: [
        { name: 'Get', request: { method: 'GET', url: { raw: '{{base}}/users/{{id}}?full=1' } } },
        {
          name: 'Login',
          request: {
            method: 'POST',
            url: 'https://api.test:8443/login#top',
            header: [{ key: 'X-A', value: '1' }],
            body: {
              mode: 'urlencoded',
              urlencoded: [
                { key: 'name', value: '{{id}}' },
                { key: 'x', disabled: true },
              ],
            },
          },
        },
      ],
    },
  ],
};

const openapi = {
  openapi: '3.1.0',
  info: { title: 'Items' },
  servers: [{ url: 'https://api.test/v1' }],
  components: {
    schemas: { Item: { properties: { name: { type: 'string', example: 'ball' }, size: { type: 'integer' } } } },
  },
  paths: {
    '/items/{item-id}': {
      get: {
        operationId: 'getItem',
        parameters: [
          { name: 'item-id', in: 'path', example: 5 },
          { name: 'lang', in: 'query', required: true, schema: { enum: ['en', 'de'] } },
        ],
        responses: { 404: {}, 200: {} },
      },
      put: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } } } },
    },
    '/other': { get: {} },
  },
} as unknown as OpenApiDocument;

describe('journeys from files', () => {
  it('takes recordings with their pauses and what ran at the same time', () => {
    const [journey] = journeysIn(JSON.stringify(har));
    expect(journey).toEqual({
      name: 'Shop',
      steps: [
        { name: 'GET /', path: '/?a=1', headers: [{ name: 'Accept', value: 'text/html' }] },
        { kind: 'parallel', name: 'at the same time' },
        { name: 'GET /a.css', inside: 'at the same time', path: '/a.css' },
        { name: 'GET /b.js', inside: 'at the same time', path: '/b.js' },
        { kind: 'think', thinkMs: 2820 },
        { name: 'POST /buy', method: 'POST', path: '/buy', body: { type: 'text', text: '{"id":1}' } },
      ],
    });
  });

  it('takes Postman collections with folders and variables', () => {
    const journeys = journeysIn(JSON.stringify(postman));
    expect(journeys).toEqual([
      {
        name: 'API',
        variables: [{ name: 'id', value: '7' }],
        steps: [
          { kind: 'group', name: 'Users' },
          { name: 'Get', inside: 'Users', path: '/users/{{id}}?full=1' },
          {
            ...{ name: 'Login', inside: 'Users', method: 'POST', path: '/login' },
            headers: [
              { name: 'X-A', value: '1' },
              { name: 'Content-Type', value: 'application/x-www-form-urlencoded' },
            ],
            body: { type: 'text', text: 'name={{id}}' },
          },
        ],
      },
    ]);
  });

  it('takes chosen operations of an OpenAPI document', () => {
    const found = findJourneyFile(JSON.stringify(openapi));
    expect(found).toEqual({ document: openapi });
    expect(operationsOf(openapi).map(({ key }) => key)).toEqual([
      'GET /items/{item-id}',
      'PUT /items/{item-id}',
      'GET /other',
    ]);
    const journey = journeyFromOpenApi(openapi, ['GET /items/{item-id}', 'PUT /items/{item-id}']);
    expect(journey).toEqual({
      name: 'Items',
      variables: [
        { name: 'item_id', value: '5' },
        { name: 'lang', value: 'en' },
      ],
      steps: [
        {
          ...{ name: 'getItem', path: '/v1/items/{{item_id}}?lang={{lang}}' },
          checks: [{ kind: 'status', value: '200' }],
        },
        {
          ...{ name: 'PUT /items/{item-id}', method: 'PUT', path: '/v1/items/{{item_id}}' },
          headers: [{ name: 'Content-Type', value: 'application/json' }],
          body: { type: 'text', text: '{"name":"ball","size":1}' },
        },
      ],
    });
  });

  it('reads what it wrote, and nothing else', () => {
    const journeys = [{ name: 'a', weight: 2, steps: [{ path: '/{{x}}' }] }];
    expect(journeysIn(journeyFileText(journeys))).toEqual(journeys);
    for (const text of ['', '[]', '{}', '{"log":1}', 'null']) expect(findJourneyFile(text)).toBeUndefined();
  });
});
