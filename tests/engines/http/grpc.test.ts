import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram } from '../programs.ts';

takePriority();

const peer = join(import.meta.dirname, 'grpc-peer.py');
const python = '/usr/bin/python3';
const identity = createSelfSigned(['localhost', '127.0.0.1']);
let folder: string;
let other: { port: number; securePort: number; stop: () => void };
const pathOf = (name: string) => join(folder, name);

beforeAll(async () => {
  requireProgram('python3');
  folder = mkdtempSync(join(tmpdir(), 'rushhour-grpc-'));
  writeFileSync(pathOf('key.pem'), identity.privateKey);
  writeFileSync(pathOf('certificate.pem'), identity.certificate);
  const child = spawn(python, [peer, 'serve', pathOf('key.pem'), pathOf('certificate.pem')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const [port, securePort] = String(line).split(' ').map(Number) as [number, number];
  other = { port, securePort, stop: () => child.stdin.end() };
}, 60_000);
afterAll(() => {
  other.stop();
  rmSync(folder, { recursive: true });
});

const callAt = (port: number, path: string, grpc: object, more: object = {}) =>
  runJob({
    engine: 'http',
    duration: { mode: 'count', count: 50 },
    config: {
      role: 'client',
      version: '2',
      targets: [{ host: '127.0.0.1', port }],
      connections: 2,
      maxStreams: 4,
      method: 'POST',
      path,
      headers: [
        { name: 'content-type', value: 'application/grpc' },
        { name: 'te', value: 'trailers' },
      ],
      timeoutMs: 10_000,
      grpc: { message: { type: 'text', data: 'hello' }, ...grpc },
      ...more,
    },
  });

const serve = async (grpc: object, more: object = {}) => {
  const port = await freePort();
  const server = await startServer('http', { listen: [{ host: '127.0.0.1', port }], version: '2', grpc, ...more });
  onTestFinished(async () => {
    await server.stop();
  });
  return { port, server };
};

describe('gRPC client with another server', () => {
  it.each([
    ['unary', '/t.Echo/Unary', 50, 50],
    ['serverStreaming', '/t.Echo/Server', 50, 350],
    ['clientStreaming', '/t.Echo/Client', 250, 50],
    ['bidirectional', '/t.Echo/Both', 250, 250],
  ])('calls %s methods', async (call, path, sent, received) => {
    const result = await callAt(other.port, path, { call, messages: 5 });
    expect(result.counter('http.grpcStatus.OK')).toBe(50);
    expect(result.counter('http.ok')).toBe(50);
    expect(result.counter('http.messagesSent')).toBe(sent);
    expect(result.counter('http.messagesReceived')).toBe(received);
    expect(result.histogram('http.messageLatency').count).toBe(call === 'bidirectional' ? 250 : 50);
    expect(result.histogram('http.messageGap').count).toBe(call === 'serverStreaming' ? 300 : 0);
  });

  it('sends and takes compressed messages', async () => {
    const message = { type: 'zero', size: 100_000 };
    const headers = [
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
      ['grpc-encoding', 'gzip'],
      ['grpc-accept-encoding', 'identity,gzip'],
    ].map(([name, value]) => ({ name, value }));
    const result = await callAt(other.port, '/t.Echo/Gzip', { message, compression: 'gzip' }, { headers });
    expect(result.counter('http.grpcStatus.OK')).toBe(50);
    expect(result.counter('http.messagesReceived')).toBe(50);
    expect(result.counter('http.txBytes')).toBeLessThan(50 * 2000);
    expect(result.counter('http.rxBytes')).toBeLessThan(50 * 2000);
  });

  it('calls by TLS', async () => {
    const tls = { verify: true, ca: identity.certificate, sni: 'localhost' };
    const result = await callAt(other.securePort, '/t.Echo/Both', { call: 'bidirectional', messages: 5 }, { tls });
    expect(result.counter('http.grpcStatus.OK')).toBe(50);
    expect(result.counter('http.messagesReceived')).toBe(250);
  });

  it.each([
    ['/t.Echo/Refuse', 'PERMISSION_DENIED'],
    ['/t.Echo/Missing', 'UNIMPLEMENTED'],
  ])('counts the status of %s', async (path, name) => {
    const result = await callAt(other.port, path, {});
    expect(result.counter(`http.grpcStatus.${name}`)).toBe(50);
    expect(result.counter('http.ko')).toBe(50);
  });
});

describe('gRPC server', () => {
  it.each([
    ['unary', {}, 'OK 3o'],
    ['unary', { isEcho: false, answer: { type: 'text', data: 'fixed' } }, 'OK 5f'],
    ['unary', { status: 16 }, 'UNAUTHENTICATED'],
    ['serverStreaming', { answers: 3 }, 'OK 3o 3o 3o'],
    ['clientStreaming', {}, 'OK 4l'],
    ['bidirectional', {}, 'OK 1a 200000b 1c'],
  ])('answers another client: %s %j', async (call, more, answer) => {
    const { port, server } = await serve({ call, ...more });
    const { stdout } = await execute(python, [peer, 'call', String(port), call]);
    expect(stdout.trim()).toBe(answer);
    const totals = await server.stop();
    expect(totals.counter(`http.grpcStatus.${answer.split(' ')[0]}`)).toBe(1);
  });

  it('answers another client that compresses, and one by TLS', async () => {
    const compressing = await serve({ call: 'bidirectional', compression: 'gzip' });
    const { stdout } = await execute(python, [peer, 'call', String(compressing.port), 'bidirectional', 'gzip']);
    expect(stdout.trim()).toBe('OK 1a 200000b 1c');
    const totals = await compressing.server.stop();
    expect(totals.counter('http.txBytes')).toBeLessThan(3000);
    expect(totals.counter('http.rxBytes')).toBeLessThan(3000);
    const secure = await serve({ call: 'unary' }, { tls: { ...identity } });
    const answered = await execute(python, [peer, 'call', String(secure.port), 'unary', pathOf('certificate.pem')]);
    expect(answered.stdout.trim()).toBe('OK 3o');
  });

  it('counts the same as our client, with answers larger than the window', async () => {
    const { port, server } = await serve({ call: 'serverStreaming', answers: 40 });
    const message = { type: 'zero', size: 100_000 };
    const result = await callAt(port, '/a.B/C', { call: 'serverStreaming', message });
    const served = await server.stop();
    expect(result.counter('http.messagesReceived')).toBe(2000);
    expect(served.counter('http.messagesSent')).toBe(2000);
    expect(result.counter('http.grpcStatus.OK')).toBe(50);
  });

  it('refuses what is no call', async () => {
    const { port } = await serve({});
    const { stdout } = await execute('curl', [
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '--http2-prior-knowledge',
      `http://127.0.0.1:${port}/`,
    ]);
    expect(stdout).toBe('415');
  });
});
