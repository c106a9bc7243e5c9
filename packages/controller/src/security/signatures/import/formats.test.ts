import { CaptureWriter, ethernetFrame, udpPacket } from '@rushhour/pcap';
import { expect, it } from 'vitest';
import { readCveJson5, readEpssCsv, readKevJson } from './cve-lists.ts';
import { detectFormat, readTemplates } from './read-templates.ts';
import type { ReadTemplate } from './template.ts';

const templatesOf = (text: string | Buffer, path: string) => {
  const content = readTemplates({ path, bytes: Buffer.from(text) }, 'auto');
  return (content.kind === 'templates' ? content.outcomes : []) as ReadTemplate[];
};

const base64Of = (text: string) => Buffer.from(text).toString('base64');

const ftw = `
meta: {author: x, description: SQL injection, name: 942100.yaml}
rule_id: 942100
tests:
  - test_id: 1
    desc: sqli in a parameter
    stages:
      - input:
          dest_addr: 127.0.0.1
          port: 80
          headers: {Host: localhost, User-Agent: "OWASP CRS", Content-Length: "5"}
          method: POST
          uri: /?id={{ "A" | repeat 3 }}
          data: "x={{ randAlphaNum 4 }}&y={{7*7}}"
        output: {log: {expect_ids: [942100]}}
  - test_id: 2
    stages:
      - stage:
          input: {uri: "/ok", headers: {Host: shop.example.com}}
          output: {no_log_contains: 'id "942100"'}
  - test_title: 942100-3
    stages:
      - input: {encoded_request: "${Buffer.from('GET /raw HTTP/1.0\r\nA: b\r\n\r\n').toString('base64')}"}
        output: {status: [403]}
  - test_id: 4
    stages: [{input: {version: HTTP/0.9}, output: {status: 400}}]
`;

it('tests that are a payload in a template become signatures, each with its own template over that of the file', () => {
  const text = `
meta: {description: SQL injection}
rule_id: 942100
template:
  method: GET
  uri: "/?q={{.Payload}}"
  headers: [{name: Host, value: localhost}, {name: X-Echo, value: "<{{ .Payload }}>"}]
tests:
  - {id: 1, description: union, payload: "1 UNION {{7*7}}", output: {log: {expect_ids: [942100]}}}
  - {id: 2, payload: hello, output: {log: {no_expect_ids: [942100]}}}
  - id: 3
    template: {method: POST, uri: /submit, data: 'q={{.Payload}}&{{ "A" | repeat 3 }}'}
    payload: x
    output: {status: 403}
  - {id: 4, payload: x, stages: [{input: {uri: /}}]}
`;
  const [first, second, third, fourth] = templatesOf(text, 'REQUEST-942/942100.yaml');
  expect(first).toMatchObject({
    templateId: '942100-1',
    draft: {
      name: '942100-1 union',
      expect: { action: 'block', ruleIDs: ['942100'] },
      requests: [
        {
          path: '/?q=1 UNION {{"{{"}}7*7}}',
          headers: [{ name: 'Host' }, { name: 'X-Echo', value: '<1 UNION {{"{{"}}7*7}}>' }, { name: 'Connection' }],
        },
      ],
    },
  });
  expect(second).toMatchObject({ draft: { expect: { action: 'allow' } } });
  expect(third).toMatchObject({
    draft: { requests: [{ method: 'POST', path: '/submit', body: base64Of('q=x&AAA') }] },
  });
  expect(fourth).toEqual({ templateId: '942100-4', refused: 'a test has either stages or a payload' });
});

it('tests of firewalls, versions 2 and 3, become signatures; quiet ones are no attacks', () => {
  const [first, second, third, fourth] = templatesOf(ftw, 'REQUEST-942/942100.yaml');
  expect(first).toMatchObject({
    templateId: '942100-1',
    source: 'ftw',
    draft: {
      category: 'sqli',
      expect: { action: 'block', ruleIDs: ['942100'] },
      requests: [
        {
          method: 'POST',
          path: '/?id=AAA',
          body: base64Of('x=aZ4k&y=%7B%7B7%2A7%7D%7D'),
          headers: [
            { name: 'Host' },
            { name: 'User-Agent' },
            { name: 'Content-Length', value: '5' },
            { name: 'Content-Type', value: 'application/x-www-form-urlencoded' },
            { name: 'Connection', value: 'close' },
          ],
        },
      ],
    },
  });
  expect(second).toMatchObject({
    draft: { expect: { action: 'allow' }, tags: expect.stringContaining('negative-test') },
  });
  expect(third).toMatchObject({
    templateId: '942100-3',
    draft: { expect: { action: 'block', ruleIDs: ['942100'] }, requests: [{ path: '/raw', version: '1.0' }] },
  });
  expect(fourth).toMatchObject({ templateId: '942100-4', refused: expect.stringContaining('0.9') });
});

it('cases of gotestwaf become signatures, one for each encoder and place', () => {
  const text =
    'payload: ["<b>"]\nencoder: [Plain, Base64Flat]\nplaceholder: [URLParam, JSONBody, gRPC, {RawRequest: {method: POST, path: /x, headers: {A: "{{payload}}"}, body: "{{payload}}{{7}}"}}]\ntype: XSS\n';
  const found = templatesOf(text, 'testcases/owasp/xss.yml');
  expect(found).toHaveLength(8);
  expect(found[0]).toMatchObject({
    draft: {
      category: 'xss',
      payloads: [{ name: 'payload', values: ['/?a4f19c0b7e=<b>'] }],
      requests: [{ path: '{{payload}}' }],
      expect: { action: 'block' },
    },
  });
  expect(found[2]).toMatchObject({ draft: { requests: [{ version: '2', path: '/encoder.ServiceFooBar/foo' }] } });
  expect(found[3]).toMatchObject({
    draft: { requests: [{ method: 'POST', path: '/x', body: '{{payload}}{{"{{"}}7}}' }] },
  });
  expect(found[5]).toMatchObject({ draft: { payloads: [{ values: ['PGI+'] }] } });
  expect(templatesOf(text, 'testcases/false-pos/texts.yml')[0]).toMatchObject({
    draft: { expect: { action: 'allow' } },
  });
});

it('raw requests are taken with their bytes; white ones are harmless', () => {
  const bytes = Buffer.from('POST /a HTTP/1.1\r\nHost: shop.com\r\nContent-Length: 3\r\n\r\n\xff\x00{', 'latin1');
  const [black] = templatesOf(bytes, 'sqli/1.black');
  expect(black).toMatchObject({
    warnings: [expect.stringContaining('shop.com')],
    draft: {
      category: 'sqli',
      expect: { action: 'block' },
      requests: [{ body: '/wB7', bodyEncoding: 'base64', headers: [] }],
    },
  });
  expect(templatesOf('GET / HTTP/1.1\n\n', 'a.white')[0]).toMatchObject({ draft: { expect: { action: 'allow' } } });
});

it('sessions of a capture become what their client says and their server answers', () => {
  const ends = { src: '192.0.2.1', dst: '192.0.2.2', srcPort: 40_000, dstPort: 5060 };
  const back = { src: ends.dst, dst: ends.src, srcPort: ends.dstPort, dstPort: ends.srcPort };
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  const say = (text: string, direction: typeof ends, seconds: number) =>
    writer.add({ seconds, nanoseconds: 0, bytes: ethernetFrame(udpPacket(Buffer.from(text), direction)) });
  say('hello', ends, 1);
  say('hi', back, 2);
  say('bye', ends, 3);
  const [session] = templatesOf(Buffer.from(writer.take()), 'calls.pcap');
  expect(session).toMatchObject({
    templateId: 'calls.pcap#0',
    source: 'pcap',
    draft: {
      requests: [
        { kind: 'raw', transport: 'udp', port: 5060, data: base64('hello'), encoding: 'base64' },
        { data: base64('bye') },
      ],
      responses: [{ when: { requestIdx: 0 }, mode: 'canned', body: base64('hi'), bodyEncoding: 'base64' }],
    },
  });
});

const base64 = (text: string) => Buffer.from(text).toString('base64');

it('lists enrich what is known of a CVE', () => {
  const record = {
    dataType: 'CVE_RECORD',
    cveMetadata: { cveId: 'CVE-2021-44228', datePublished: '2021-12-10T00:00:00.000Z' },
    containers: {
      cna: {
        descriptions: [{ lang: 'en', value: 'A flaw' }],
        affected: [{ vendor: 'Apache', product: 'Log4j2' }],
        problemTypes: [{ descriptions: [{ cweId: 'CWE-502' }] }],
        references: [{ url: 'https://example.test/a' }],
        metrics: [{ cvssV3_1: { baseScore: 10, vectorString: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' } }],
      },
    },
  };
  expect(readCveJson5(Buffer.from(JSON.stringify(record)))).toEqual([
    {
      cveID: 'CVE-2021-44228',
      patch: {
        ...{ description: 'A flaw', vendor: 'apache', product: 'log4j2', cweIDs: ['CWE-502'] },
        references: [{ type: 'url', value: 'https://example.test/a' }],
        publishedAt: '2021-12-10T00:00:00.000Z',
        ...{ cvssVersion: '3.1', cvssScore: 10, cvssVector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' },
      },
    },
  ]);
  const epss = '#model_version:v2026\ncve,epss,percentile\nCVE-2021-44228,0.97,0.999\n';
  expect(readEpssCsv(Buffer.from(epss))).toEqual([
    { cveID: 'CVE-2021-44228', patch: { epssScore: 0.97, epssPercentile: 0.999 } },
  ]);
  expect(() => readEpssCsv(Buffer.from('cve,epss\nCVE-2021-44228,7\n'))).toThrow(/cannot be read/);
  const kev = { catalogVersion: '1', vulnerabilities: [{ cveID: 'CVE-2021-44228' }, { cveID: 'x' }] };
  expect(readKevJson(Buffer.from(JSON.stringify(kev)))).toEqual([{ cveID: 'CVE-2021-44228', patch: { kev: true } }]);
});

it.each([
  ['a.yaml', 'id: x\ninfo: {}\n', 'nuclei'],
  ['a.yaml', ftw, 'ftw'],
  ['a.yml', 'payload: [a]\nencoder: [Plain]\n', 'gotestwaf'],
  ['a.black', 'x', 'http-raw'],
  ['request.txt', 'GET /a HTTP/1.1\r\n\r\n', 'http-raw'],
  ['a.json', '{"cveMetadata":{}}', 'cve-json5'],
  ['kev.json', '{"catalogVersion":"1","vulnerabilities":[]}', 'kev-json'],
  ['a.csv', '#x\ncve,epss,percentile\n', 'epss-csv'],
  ['a.json', '{"signatures":[]}', 'native'],
  ['README.md', '# Templates', undefined],
  ['LICENSE', 'MIT', undefined],
] as const)('%s is recognised', (path, text, format) => {
  expect(detectFormat(path, Buffer.from(text))).toBe(format);
});
