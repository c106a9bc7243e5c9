import { Type } from 'typebox';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { optionalPayload, payload } from './payload.ts';
import { ignoredAll, item, listOf, milliseconds, optionalText } from './values.ts';

const token = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
const line = '^[^\\r\\n]*$';

const pairs = (description: string, name: object = {}) =>
  listOf(
    description,
    item({
      name: Type.String({ minLength: 1, maxLength: 256, ...name }),
      value: Type.String({ maxLength: 65_536, pattern: line }),
    }),
    256,
  );

export const headers = (description: string) => pairs(description, { pattern: token });

const expectation = section('What makes an answer good', {
  status: listOf('Statuses that count as ok; 200 to 399 when empty', Type.Integer({ minimum: 100, maximum: 599 }), 100),
  bodyContains: optionalText('Text that the body must hold'),
});

/** One request. */
export const requestMembers = {
  version: choice('HTTP version; 3 is always encrypted', ['1.1', '2', '3']),
  method: Type.String({ default: 'GET', pattern: '^[A-Z]{1,32}$', description: 'Method' }),
  path: Type.String({ default: '/', maxLength: 8192, pattern: '^/[^\\s]*$', description: 'Path, may hold a query' }),
  url: optionalText('Full address instead of `path`, `query` and `host`; traffic goes to `targets` all the same', {
    maxLength: 8192,
    pattern: '^https?://[^\\s]+$',
  }),
  host: optionalText('Host header; the target when left out', { maxLength: 255, pattern: '^[^\\s/]+$' }),
  headers: headers('Headers of the request'),
  query: pairs('Added to the query of the path'),
  cookies: pairs('Sent in the Cookie header', { pattern: token }),
  body: optionalPayload('Body of the request'),
};

const response = item({
  weight: Type.Number({ default: 1, exclusiveMinimum: 0, maximum: 1_000_000, description: 'Share of the answers' }),
  status: Type.Integer({ default: 200, minimum: 200, maximum: 599, description: 'Status' }),
  headers: headers('Headers of the answer'),
  body: payload('Body of the answer'),
  delayMs: milliseconds('Wait before the answer', 0),
  chunked: Type.Boolean({ default: false, description: 'Chunked instead of with a length' }),
});

/** HTTP parameters of client and server. */
export const httpMembers = {
  ...requestMembers,
  followRedirects: whole('Redirects to follow on the same host', 0, [0, 20]),
  expect: expectation,
  timeoutMs: whole('Longest wait for an answer', 10_000, [1, 3_600_000]),
  connections: whole('Maximum concurrent connections of all agents together', 50, [1, 10_000_000]),
  pipelining: whole('Requests under way on one HTTP/1.1 connection', 1, [1, 1000]),
  responseSize: whole('Bytes the server answers with', 0, [0, 67_108_864]),
  delayMs: milliseconds('Wait of the server before each answer', 0),
  altSvc: flag('The server offers HTTP/3 on the same ports and says so in its answers over HTTP/1.1 and HTTP/2'),
  retry: flag('The server has clients prove their address by a Retry packet; HTTP/3 only'),
  portChangeMs: milliseconds(
    'Time after which a connection of HTTP/3 goes on from another port, as behind a NAT that has forgotten it, and again after the same time; 0 for never',
    0,
  ),
  responses: listOf('Answers of the server, mixed by weight, instead of `responseSize` and `delayMs`', response, 100),
};

/** For attacks, which are requests themselves: what they carry besides, and how long they wait. */
export const attackHttpParams = (timeoutMs: number) =>
  section('HTTP', {
    ...ignoredAll(httpMembers),
    host: optionalText('Host header and server name of attempts and proofs that name none themselves', {
      maxLength: 255,
      pattern: '^[^\\s/]+$',
    }),
    headers: headers('Headers of attempts that do not have them'),
    cookies: pairs('Sent in the Cookie header of attempts that have none', { pattern: token }),
    timeoutMs: whole(
      'Longest wait for an answer; may be longer than that of harmless exchanges',
      timeoutMs,
      [1, 3_600_000],
    ),
  });

export const keepAlive = section('How long a connection is used', {
  enabled: Type.Boolean({ default: true, description: 'More than one request on a connection' }),
  maxRequests: whole('Requests on one connection; 0 for no limit', 0, [0, 1_000_000_000]),
  idleMs: milliseconds('Close a connection that is idle for so long; 0 for never', 0),
});
