import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { createAuthority } from './authority.ts';

takePriority();

const listenOn = (port: number) => [{ host: '127.0.0.1', port }];

const handshakes = async (server: object, client: object) => {
  const port = await freePort();
  const answering = await startServer('tls', { listen: listenOn(port), tls: server });
  const config = { role: 'client', targets: listenOn(port), connections: 1, tls: { verify: true, ...client } };
  const run = await runJob({ engine: 'tls', config, duration: { mode: 'count', count: 3 } });
  return { run, served: await answering.stop() };
};

describe('certificates', () => {
  it('are accepted from the chosen authority for a name and for an address', async () => {
    const authority = await createAuthority();
    const { certificate, privateKey } = await authority.issue('DNS:web.test,IP:127.0.0.1');
    const server = { certificate, privateKey };
    const byName = await handshakes(server, { ca: authority.certificate, sni: 'web.test' });
    expect(byName.run.counter('tls.full')).toBe(3);
    const byAddress = await handshakes(server, { ca: authority.certificate });
    expect(byAddress.run.counter('tls.full')).toBe(3);
  });

  it.each([
    ['of another host', {}, 'badCertificate'],
    ['that has expired', { until: '210101000000Z' }, 'certificateExpired'],
    ['that is revoked', { isRevoked: true }, 'certificateRevoked'],
    ['of an unknown authority', { isUnknown: true }, 'unknownCa'],
  ])('%s is refused with its alert, as both sides count', async (name, options, alert) => {
    const request = options as { until?: string; isRevoked?: boolean; isUnknown?: boolean };
    const authority = await createAuthority();
    const issued = await authority.issue(name === 'of another host' ? 'DNS:other.test' : 'DNS:web.test', request.until);
    const list = request.isRevoked ? await authority.revoke(issued) : '';
    const trusted = request.isUnknown ? (await createAuthority()).certificate : authority.certificate + list;
    const { certificate, privateKey } = issued;
    const { run, served } = await handshakes({ certificate, privateKey }, { ca: trusted, sni: 'web.test' });
    expect(run.counter('tls.failed')).toBe(3);
    expect(run.counter('tls.errors.tls')).toBe(3);
    expect(run.counter(`tls.alerts.sent.${alert}`)).toBe(3);
    expect(served.counter(`tls.alerts.received.${alert}`)).toBe(3);
    expect(served.counter('tls.acceptedFull')).toBe(0);
  });

  it('are presented with their chain', async () => {
    const authority = await createAuthority();
    const client = await authority.issue('DNS:client.test');
    const server = await authority.issue('DNS:web.test');
    const required = { requestClientCertificate: true, ca: authority.certificate };
    const tls = { certificate: server.certificate, privateKey: server.privateKey, ...required };
    const asked = { ca: authority.certificate, sni: 'web.test' };
    const good = await handshakes(tls, {
      ...asked,
      certificate: client.certificate + authority.certificate,
      privateKey: client.privateKey,
    });
    expect(good.served.counter('tls.acceptedFull')).toBe(3);
    const bad = await handshakes({ ...tls, versions: ['1.3'] }, asked);
    expect(bad.served.counter('tls.acceptedFull')).toBe(0);
    expect(bad.served.counter('tls.alerts.sent.certificateRequired')).toBe(3);
  });
});
