import { createSelfSigned } from '@rushhour/agent';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram } from '../programs.ts';

takePriority();

const listenOn = (port: number) => [{ host: '127.0.0.1', port }];
const handshakes = async (server: object, client: object, count = 20) => {
  const port = await freePort();
  const answering = await startServer('tls', { listen: listenOn(port), tls: server });
  const config = { role: 'client', targets: listenOn(port), connections: 2, tls: client };
  const run = await runJob({ engine: 'tls', config, duration: { mode: 'count', count } });
  return { run, served: await answering.stop() };
};

describe('tls engine', () => {
  it.each(['1.2', '1.3'])('performs full handshakes with version %s', async (version) => {
    const { run, served } = await handshakes({}, { versions: [version] });
    expect(run.counter('tls.full')).toBe(20);
    expect(run.counter('tls.resumed')).toBe(0);
    expect(run.counter(`tls.version.${version}`)).toBe(20);
    expect(served.counter('tls.acceptedFull')).toBe(20);
    expect(run.histogram('tls.handshake').count).toBe(20);
  });

  it.each([
    ['1.2', 'ticket'],
    ['1.3', 'psk'],
  ])('resumes sessions of version %s by %s', async (version, resumption) => {
    const { run, served } = await handshakes({}, { versions: [version], resumption });
    expect(run.counter('tls.full') + run.counter('tls.resumed')).toBe(20);
    expect(run.counter('tls.resumed')).toBeGreaterThanOrEqual(17);
    expect(served.counter('tls.acceptedResumed')).toBe(run.counter('tls.resumed'));
  });

  it('works with sockets of Node.js, where OpenSSL cannot be called', async () => {
    const port = await freePort();
    const server = await startServer('tls', { listen: listenOn(port), dataPath: 'node' });
    const config = { role: 'client', targets: listenOn(port), connections: 2, dataPath: 'node' };
    const run = await runJob({ engine: 'tls', config, duration: { mode: 'count', count: 20 } });
    expect(run.counter('tls.full')).toBe(20);
    expect((await server.stop()).counter('tls.acceptedFull')).toBe(20);
  });

  it('resumes on one core a session of another', async () => {
    const port = await freePort();
    const config = { role: 'server', listen: listenOn(port) };
    const server = startJob({ engine: 'tls', config, cpuCores: 2, duration: { mode: 'continuous' } });
    await server.started;
    const asking = { role: 'client', targets: listenOn(port), connections: 2, tls: { resumption: 'psk' } };
    const run = await runJob({ engine: 'tls', config: asking, duration: { mode: 'count', count: 40 } });
    await server.stop();
    expect(run.counter('tls.resumed')).toBeGreaterThanOrEqual(36);
  });

  it('resumes nothing when the server offers no tickets', async () => {
    const { run } = await handshakes(
      { tickets: false, versions: ['1.2'] },
      { versions: ['1.2'], resumption: 'ticket' },
      6,
    );
    expect(run.counter('tls.full')).toBe(6);
  });

  it('presents a client certificate, and is refused without one', async () => {
    const identity = createSelfSigned(['client.example']);
    const server = { requestClientCertificate: true, ca: identity.certificate, versions: ['1.2'] };
    const good = await handshakes(server, identity);
    expect(good.run.counter('tls.full')).toBe(20);
    const bad = await handshakes(server, {}, 4);
    expect(bad.run.counter('tls.failed')).toBe(4);
    expect(bad.served.counter('tls.acceptedFull')).toBe(0);
  });

  it('reports the alert when nothing fits', async () => {
    const versions = await handshakes({ versions: ['1.2'] }, { versions: ['1.3'] }, 4);
    expect(versions.run.counter('tls.failed')).toBe(4);
    expect(versions.run.counter('tls.errors.alert.protocolVersion')).toBe(4);
    const certificate = await handshakes({}, { verify: true }, 4);
    expect(certificate.run.counter('tls.errors.tls')).toBe(4);
  });

  it('verifies a certificate of a configured CA', async () => {
    const identity = createSelfSigned(['localhost', '127.0.0.1']);
    const { run } = await handshakes(identity, { verify: true, ca: identity.certificate, sni: 'localhost' }, 4);
    expect(run.counter('tls.full')).toBe(4);
  });

  it('holds a rate of handshakes', async () => {
    const port = await freePort();
    const server = await startServer('tls', { listen: listenOn(port) });
    const config = { role: 'client', targets: listenOn(port), connections: 50, tls: {}, load: { rate: 50 } };
    const run = await runJob({ engine: 'tls', config, duration: { seconds: 1 } });
    await server.stop();
    expect(run.counter('tls.full') + run.counter('tls.dropped')).toBe(50);
    expect(run.counter('tls.full')).toBeGreaterThanOrEqual(48);
  });

  it('agrees with openssl on version, cipher and protocol', async () => {
    requireProgram('openssl');
    const port = await freePort();
    const server = await startServer('tls', {
      listen: listenOn(port),
      tls: { versions: ['1.2'], ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384', alpn: ['x-test'] },
    });
    const options = ['s_client', '-connect', `127.0.0.1:${port}`, '-alpn', 'x-test', '-servername', 'a.example'];
    const { stdout } = await execute('bash', ['-c', `openssl ${options.join(' ')} </dev/null 2>&1`]);
    const served = await server.stop();
    expect(stdout).toContain('Cipher is ECDHE-ECDSA-AES256-GCM-SHA384');
    expect(stdout).toMatch(/ALPN protocol: x-test/);
    expect(served.counter('tls.acceptedFull')).toBe(1);
  });
});
