import { createSelfSigned } from '@rushhour/agent';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { startMeddler } from '../application/proxies.ts';
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

  it.each(['X25519MLKEM768', 'SecP256r1MLKEM768'])('agrees keys by the hybrid group %s', async (groups) => {
    const { run, served } = await handshakes({ groups }, { groups: `${groups}:X25519` });
    expect(run.counter('tls.full')).toBe(20);
    expect(run.counter(`tls.group.${groups}`)).toBe(20);
    expect(served.counter('tls.acceptedFull')).toBe(20);
  });

  it('takes leave by close_notify, which both sides count', async () => {
    const { run, served } = await handshakes({}, {});
    expect(run.counter('tls.alerts.sent.closeNotify')).toBe(20);
    expect(served.counter('tls.alerts.received.closeNotify')).toBe(20);
    expect(served.counter('tls.alerts.sent.closeNotify')).toBe(20);
  });

  it.each([
    ['1.2', '1.3'],
    ['1.3', '1.2'],
  ])('refuses version %s where the client has %s only', async (server, client) => {
    const { run, served } = await handshakes({ versions: [server] }, { versions: [client] });
    expect(run.counter('tls.failed')).toBe(20);
    expect(run.counter('tls.errors.alert.protocolVersion')).toBe(20);
    expect(served.counter('tls.alerts.sent.protocolVersion')).toBe(20);
  });

  it('refuses a client that falls back to an older version without need', async () => {
    const port = await freePort();
    const server = await startServer('tls', { listen: listenOn(port) });
    const client = `openssl s_client -connect 127.0.0.1:${port} -no_tls1_3 -fallback_scsv </dev/null 2>&1 || true`;
    const { stdout } = await execute('bash', ['-c', client]);
    expect(stdout).toContain('inappropriate fallback');
    expect((await server.stop()).counter('tls.alerts.sent.inappropriateFallback')).toBe(1);
  });

  it('notices a downgrade by someone on the way', async () => {
    const port = await freePort();
    const server = await startServer('tls', { listen: listenOn(port) });
    // The list of versions becomes an unknown extension, so that the server takes 1.2 for the newest.
    const versions = '\x00\x2b\x00\x05\x04\x03\x04\x03\x03';
    const middle = await startMeddler(port, (text) => text.replace(versions, `\x7a${versions.slice(1)}`));
    const config = { role: 'client', targets: listenOn(middle.port), connections: 1, tls: {} };
    const run = await runJob({ engine: 'tls', config, duration: { mode: 'count', count: 3 } });
    await middle.stop();
    const served = await server.stop();
    expect(run.counter('tls.failed')).toBe(3);
    expect(run.counter('tls.alerts.sent.illegalParameter')).toBe(3);
    expect(served.counter('tls.alerts.received.illegalParameter')).toBe(3);
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
