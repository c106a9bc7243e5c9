import { describe, expect, it } from 'vitest';
import { sidesOf } from '../../testing/plan-fixture.ts';

const http = (values: Record<string, unknown>, options = {}) =>
  sidesOf(1, { requestsPerSecond: 10, ...values }, options);
const certificates = new Map([
  [1, { name: 'server', certificate: 'SERVER PEM', privateKey: 'SERVER KEY' }],
  [2, { name: 'client', certificate: 'CLIENT PEM', privateKey: 'CLIENT KEY' }],
  [3, { name: 'authority', certificate: 'CA PEM', privateKey: '' }],
]);

describe('an HTTP request', () => {
  it('has query and cookies where they belong', () => {
    const headers = [
      { name: 'X-A', value: '1' },
      { name: 'cookie', value: 'old=1' },
    ];
    const query = [
      { name: 'q', value: 'a b&c' },
      { name: 'ü', value: '' },
    ];
    const { client } = http({
      httpParams: { method: 'PUT', path: '/ä?x=1', headers, query, cookies: [{ name: 'new', value: '2' }] },
    });
    expect(client).toMatchObject({
      method: 'PUT',
      path: '/%C3%A4?x=1&q=a%20b%26c&%C3%BC=',
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'Cookie', value: 'old=1; new=2' },
      ],
    });
  });

  it('may be written as an address, which says how, but not where to', () => {
    const { client, server } = http({ httpParams: { url: 'https://shop.example.test:8443/cart?id=7#top' } });
    expect(client).toMatchObject({
      path: '/cart?id=7',
      host: 'shop.example.test:8443',
      tls: { sni: 'shop.example.test', verify: false },
      targets: [{ host: '10.0.0.2', port: 18443 }],
    });
    expect(server).toMatchObject({ tls: { requestClientCertificate: false }, listen: [{ port: 18443 }] });
    expect(http({ httpParams: { url: 'http://10.1.2.3/' } }).client).not.toHaveProperty('tls');
  });

  it('changes ports over HTTP/3, and limits records of TLS on both sides', () => {
    const quic = http({ httpParams: { version: '3', portChangeMs: 500 } });
    expect(quic.client).toMatchObject({ version: '3', portChangeMs: 500 });
    expect(http({ httpParams: { version: '3' } }).client).not.toHaveProperty('portChangeMs');
    const { client, server } = http({ tlsParams: { recordSizeLimit: 1000 } });
    expect([client['tls'], server['tls']]).toMatchObject([{ recordSizeLimit: 1000 }, { recordSizeLimit: 1000 }]);
  });

  it('carries a body, and says what a good answer is', () => {
    const expectation = { status: [201], bodyContains: 'ok' };
    const { client } = http({
      httpParams: { body: { type: 'pattern', pattern: 'ab', size: 10 }, expect: expectation, version: '2' },
      maxStreams: 9,
    });
    expect(client).toMatchObject({
      version: '2',
      maxStreams: 9,
      body: { type: 'pattern', size: 10, data: 'ab' },
      expect: expectation,
    });
  });

  it('takes the content of a file from the agent', () => {
    const sha256 = 'ab'.repeat(32);
    const files = new Map([[5, { name: 'f', sha256, size: 12, isReady: true }]]);
    const { client, plan } = http({ httpParams: { body: { type: 'file', fileId: 5 } } }, { files });
    expect(client['body']).toMatchObject({ type: 'base64', data: { $file: sha256, as: 'base64' } });
    expect(plan.agents.map(({ agentId, files: needed }) => [agentId, needed])).toEqual([
      [2, []],
      [1, [{ sha256, size: 12 }]],
    ]);
  });

  it('is one value of a dictionary per request', () => {
    const dictionaries = new Map([[6, { name: 'd', values: ['a', 'b'], isCut: true }]]);
    const { client, issues } = http(
      { httpParams: { body: { type: 'dictionary', dictionaryId: 6 } } },
      { dictionaries },
    );
    expect(client['body']).toMatchObject({ type: 'values', values: ['a', 'b'] });
    expect(issues).toEqual(['warning httpParams/body/dictionaryId DICTIONARY_CUT']);
  });
});

describe('HTTP load', () => {
  it('is open with a rate and closed without', () => {
    expect(http({ sessionsPerSecond: 5, reopenSessionTime: 7, requestInterval: 8 }).client).toMatchObject({
      load: { rate: 10 },
      sessionsPerSecond: 5,
      reopenSessionMs: 7,
      requestIntervalMs: 8,
    });
    const { client, plan } = http({ rpsUnlimited: true });
    expect(client['load']).toEqual({});
    expect(plan.agents[1]?.jobs[0]).toMatchObject({ role: 'client', canPause: true, canChangeLoad: false });
  });
});

describe('an HTTP server', () => {
  it('answers as described, or with so many bytes after a while', () => {
    expect(http({ httpParams: { responseSize: 99, delayMs: 3 } }).server['responses']).toEqual([
      { body: { type: 'zero', size: 99, data: '' }, delayMs: 3 },
    ]);
    const responses = [{ status: 404, weight: 2, body: { type: 'text', text: 'no' }, chunked: true }];
    expect(http({ httpParams: { responses } }).server['responses']).toEqual([
      { status: 404, weight: 2, headers: [], delayMs: 0, isChunked: true, body: { type: 'text', size: 0, data: 'no' } },
    ]);
  });

  it('shows the certificate it is given, and asks for one when the client has one', () => {
    const tlsParams = { certificateID: 1, clientCertificateID: 2, caCertificateID: 3, verify: true, versions: ['1.3'] };
    const { client, server } = http({ tlsParams }, { certificates });
    expect(client['tls']).toMatchObject({
      certificate: 'CLIENT PEM',
      privateKey: 'CLIENT KEY',
      ca: 'CA PEM',
      verify: true,
      versions: ['1.3'],
    });
    expect(server['tls']).toMatchObject({
      certificate: 'SERVER PEM',
      privateKey: 'SERVER KEY',
      requestClientCertificate: true,
    });
  });

  it('cannot show a certificate without a key', () => {
    expect(http({ tlsParams: { certificateID: 3 } }, { certificates }).issues).toEqual([
      'tlsParams/certificateID CERTIFICATE_WITHOUT_KEY',
    ]);
  });
});
