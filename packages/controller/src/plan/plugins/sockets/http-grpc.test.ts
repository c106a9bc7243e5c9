import { expect, it } from 'vitest';
import { planRun } from '../../core/plan-run.ts';
import { entryOf, inputOf, sidesOf } from '../../testing/plan-fixture.ts';

const issuesOf = (httpParams: object) => {
  const values = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }], rpsUnlimited: true, httpParams };
  return planRun(inputOf([entryOf(1, values)]))
    .issues.filter(({ severity }) => severity === 'error')
    .map(({ path, code }) => `${path.replace('/configuration/0/values/httpParams/', '')} ${code}`);
};

it('makes calls of requests', () => {
  const grpc = { messageHex: '0a05', deadlineMs: 250, compression: 'gzip' };
  const { client, server } = sidesOf(1, { rpsUnlimited: true, httpParams: { version: '2', path: '/a.B/C', grpc } });
  expect(client).toMatchObject({
    method: 'POST',
    headers: [
      { name: 'content-type', value: 'application/grpc' },
      { name: 'te', value: 'trailers' },
      { name: 'grpc-encoding', value: 'gzip' },
      { name: 'grpc-accept-encoding', value: 'identity,gzip' },
      { name: 'grpc-timeout', value: '250m' },
    ],
    grpc: { call: 'unary', message: { type: 'base64', data: 'CgU=' } },
  });
  expect(server).toMatchObject({ grpc: { call: 'unary', status: 0 } });
});

it.each([
  ['another version', { grpc: {}, path: '/a.B/C' }, ['version NOT_SUPPORTED']],
  ['a path that is no method', { grpc: {}, version: '2' }, ['path NOT_SUPPORTED']],
  [
    'many messages in a unary call',
    { grpc: { messages: 5 }, version: '2', path: '/a.B/C' },
    ['grpc/messages NOT_SUPPORTED'],
  ],
  [
    'a WebSocket',
    { grpc: {}, webSocket: {}, version: '2', path: '/a.B/C' },
    ['version NOT_SUPPORTED', 'webSocket NOT_SUPPORTED'],
  ],
])('refuses %s', (_, httpParams, issues) => {
  expect(issuesOf(httpParams).sort()).toEqual(issues);
});

const proto = 'syntax = "proto3"; package a; message M { string name = 1; } service B { rpc C (M) returns (M); }';

it('writes messages that a .proto file describes', () => {
  const grpc = { proto, messageJson: '{"name":"x"}', answerJson: '{}' };
  const { client, server } = sidesOf(1, { rpsUnlimited: true, httpParams: { version: '2', path: '/a.B/C', grpc } });
  expect(client).toMatchObject({ grpc: { message: { type: 'base64', data: 'CgF4' } } });
  expect(server).toMatchObject({ grpc: { isEcho: false, answer: { type: 'base64', data: '' } } });
});

it.each([
  ['JSON without a description', { messageJson: '{}' }, ['grpc/messageJson NOT_SUPPORTED']],
  ['a broken description', { proto: 'message', messageJson: '{}' }, ['grpc/proto PROTO_INVALID']],
  ['a method that is not described', { proto: proto.replace('rpc C', 'rpc D') }, ['grpc/proto METHOD_UNKNOWN']],
  ['another kind of call', { proto, call: 'bidirectional' }, ['grpc/call METHOD_KIND']],
  ['content that does not fit', { proto, messageJson: '{"name":1}' }, ['grpc/messageJson MESSAGE_INVALID']],
  ['broken JSON', { proto, answerJson: '{' }, ['grpc/answerJson MESSAGE_INVALID']],
  ['a message twice', { proto, messageJson: '{}', messageHex: '00' }, ['grpc/messageHex NOT_SUPPORTED']],
])('refuses %s in gRPC', (_, grpc, issues) => {
  expect(issuesOf({ version: '2', path: '/a.B/C', grpc })).toEqual(issues);
});
