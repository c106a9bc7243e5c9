import type { Route } from '../route.ts';

type Json = Record<string, unknown>;

const parameterOf = ([name, description]: [string, string]): Json => ({
  ...{ name, in: 'header', required: false, description, schema: { type: 'string', maxLength: 255 } },
});

/** Headers that the operation reads, besides those of every request. */
export const headerParametersOf = ({ method, access, events, conditional, headers }: Route): Json[] =>
  Object.entries({
    ...(method === 'POST' &&
      access !== 'public' && {
        'Idempotency-Key': 'A repeated request with the same key gets the first answer, for 24 hours',
      }),
    ...(events && { 'Last-Event-ID': 'Goes on after this event, which the client saw last' }),
    ...(conditional && { 'If-None-Match': 'ETag of the copy that the client has; 304 if it is still current' }),
    ...(conditional === 'ranges' && {
      Range: 'A part of the file, such as bytes=0-1023',
      'If-Range': 'ETag that the file must still have; the whole file otherwise',
    }),
    ...headers?.request,
  }).map(parameterOf);

const ofAnyStatus = ({ ai }: Route): Record<string, string> =>
  ai === undefined ? {} : { 'X-Request-Id': 'Identifies the request in logs and in the audit' };

const ofSuccess = ({ method, path, access, download, conditional, ai, headers }: Route): Record<string, string> => ({
  ...(download && { 'Content-Disposition': 'Name of the file' }),
  ...(conditional && { ETag: 'Identifies the content' }),
  ...(conditional === 'ranges' && { 'Accept-Ranges': 'bytes: parts can be requested' }),
  ...(method === 'POST' &&
    access !== 'public' && { 'Idempotent-Replayed': 'true for the answer to an earlier request' }),
  ...(ai && { 'X-Truncated': 'true when the answer was cut to the limit of the key' }),
  ...(/^\/auth\/(login|refresh|logout)$/.test(path) && {
    'Set-Cookie': 'The session: accessToken and refreshToken; emptied by the sign-out',
  }),
  ...headers?.reply,
});

const ofFailure: Readonly<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'How to sign in: Bearer' },
  429: { 'Retry-After': 'Seconds to wait before the next try' },
  503: { 'Retry-After': 'Seconds to wait before the next try' },
};

/** Answers with a part of a file, or without it, that are no errors. */
export const partialResponses: Readonly<Record<number, Json>> = {
  206: {
    description: 'The requested part',
    headers: { 'Content-Range': { description: 'Which part is sent', schema: { type: 'string' } } },
  },
  304: { description: 'The copy of the client is still current' },
};

/** Headers of an answer that clients act on. */
export const responseHeadersOf = (route: Route, status: number): Json => {
  const meanings = { ...ofAnyStatus(route), ...(status === 200 ? ofSuccess(route) : ofFailure[status]) };
  const headers = Object.entries(meanings).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) };
};
