import { expect, it } from 'vitest';
import { readNuclei } from './nuclei.ts';
import type { ReadTemplate } from './template.ts';

const read = (text: string) => readNuclei({ path: 'a.yaml', bytes: Buffer.from(text) })[0];
const taken = (text: string) => read(text) as ReadTemplate;
const readAll = (text: string) => readNuclei({ path: 'a.yaml', bytes: Buffer.from(text) }) as ReadTemplate[];

const web = `
id: CVE-2021-41773
info:
  name: "Apache 2.4.49 - Path Traversal"
  author: a,b
  severity: high
  description: A flaw.
  impact: Files are read.
  remediation: Update.
  reference:
    - https://example.test/one
  classification:
    cvss-metrics: CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N
    cvss-score: 7.5
    cve-id: CVE-2021-41773
    cwe-id: CWE-22
    epss-score: 0.97
    epss-percentile: 0.999
    cpe: cpe:2.3:a:apache:http_server:2.4.49:*:*:*:*:*:*:*
  metadata:
    vendor: apache
    product: http_server
  tags: cve,cve2021,traversal,kev,Über Tag
variables:
  mark: "{{to_lower(rand_base(5))}}"
http:
  - raw:
      - |
        GET /cgi-bin/.%2e/.%2e/etc/passwd?m={{mark}} HTTP/1.1
        Host: {{Hostname}}
        Origin: {{BaseURL}}

      - |
        POST /cgi-bin/.%2e/bin/sh HTTP/1.1
        Host: {{Hostname}}
        Content-Type: application/x-www-form-urlencoded
        Content-Length: 3

        echo {{interactsh-url}}
    matchers-condition: and
    matchers:
      - type: regex
        name: LFI
        regex:
          - "root:.*:0:0:"
      - type: word
        part: header
        words:
          - "text/plain"
      - type: status
        status:
          - 200
`;

it('a template of the web becomes a signature with the answer its matchers look for', () => {
  const { draft, source, sourceRef, warnings } = taken(web);
  expect([source, sourceRef, warnings]).toEqual(['nuclei', 'CVE-2021-41773', []]);
  expect(draft).toMatchObject({
    name: 'Apache 2.4.49 - Path Traversal',
    description: 'A flaw.\nFiles are read.',
    ...{ cveIDs: ['CVE-2021-41773'], cweIDs: ['CWE-22'], severity: 'high', cvssScore: 7.5, epssScore: 0.97, kev: true },
    ...{
      vendor: 'apache',
      product: 'http_server',
      category: 'path-traversal',
      tags: 'cve,cve2021,traversal,kev,ber-tag',
    },
    variables: { mark: '{{to_lower(rand_base(5))}}' },
    requests: [
      {
        kind: 'http',
        method: 'GET',
        path: '/cgi-bin/.%2e/.%2e/etc/passwd?m={{mark}}',
        headers: [{ name: 'Origin', value: '{{BaseURL}}' }, { name: 'User-Agent' }, { name: 'Accept-Encoding' }],
      },
      {
        method: 'POST',
        body: 'echo {{interactsh-url}}',
        headers: [{ name: 'Content-Type' }, { name: 'User-Agent' }, { name: 'Accept-Encoding' }],
      },
    ],
    responses: [
      {
        mode: 'synthesised',
        status: 200,
        when: { requestIdx: 1 },
        headers: [{ name: 'Content-Type', value: 'text/plain' }],
        body: 'root::0:0:',
      },
    ],
  });
});

it('paths, payloads and attacks are taken', () => {
  const [first, second] = readAll(`
id: paths
info: {name: Paths, severity: low, tags: "xss"}
http:
  - method: GET
    path: ["{{BaseURL}}/a?x={{p}}", "{{RootURL}}/b"]
    attack: pitchfork
    payloads:
      p: ["<b>", "{{7*7}}"]
`);
  expect(first?.draft).toMatchObject({ combine: 'pitchfork', payloads: [{ name: 'p', values: ['<b>', '{{7*7}}'] }] });
  expect(first?.draft.requests).toMatchObject([{ path: '/a?x={{p}}' }]);
  // Another path is another attempt.
  expect(second).toMatchObject({ templateId: 'paths#2', draft: { requests: [{ path: '/b' }] } });
});

it('raw connections and DNS are taken', () => {
  const tcp = taken(`
id: tcp
info: {name: Tcp, severity: info}
tcp:
  - inputs: [{data: "50494e470d0a", type: hex}, {data: "INFO\\r\\n", read: 10}]
    host: ["tls://{{Hostname}}"]
    port: 6379
`);
  expect(tcp.draft.requests).toMatchObject([
    { kind: 'raw', transport: 'tcp', port: 6379, data: '50494e470d0a', encoding: 'hex', tls: true },
    { data: 'INFO\r\n', encoding: 'text' },
  ]);
  const dns = taken('id: dns\ninfo: {name: Dns, severity: info}\ndns:\n  - {name: "{{FQDN}}", type: txt}\n');
  expect(dns.draft.requests).toEqual([{ idx: 0, kind: 'dns', qname: '{{FQDN}}', qtype: 'TXT' }]);
});

it('reports what it cannot import', () => {
  const { warnings, draft } = taken(`
id: told
info: {name: Told, severity: high, classification: {cvss-score: 5, cvss-metrics: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}}
http:
  - raw: ["GET /login HTTP/1.1\\nHost: {{Hostname}}\\n\\n", "GET /?t={{token}} HTTP/1.1\\nHost: {{Hostname}}\\n\\n"]
    extractors: [{type: regex, name: token, internal: true, regex: ["a"]}]
    matchers:
      - {type: dsl, dsl: ["status_code_2 == 302 && contains(body_2, 'welcome')", "duration >= 6"]}
      - {type: regex, regex: ["(a)\\\\1"]}
`);
  expect(draft).toMatchObject({
    cvssScore: 9.8,
    variables: { token: expect.any(String) },
    responses: [{ status: 302, body: 'welcome' }],
  });
  expect(warnings).toEqual([
    '{{token}} would come out of an answer; a random text stands in for it',
    'no answer can be made from the condition duration >= 6',
    'no answer can be made from the pattern (a)\\1',
    'its CVSS score is 5, but its vector says 9.8',
  ]);
});

const info = 'id: x\ninfo: {name: X, severity: low}\n';
const get = 'http:\n  - {method: GET, path: ["{{BaseURL}}/"]';
it.each([
  ['code', `${info}code:\n  - {engine: [sh], source: id}\n`, /code/],
  ['javascript', `${info}javascript:\n  - {code: "exec()"}\n`, /javascript/],
  ['a browser', `${info}headless:\n  - {steps: []}\n`, /headless/],
  ['files', `${info}file:\n  - {extensions: [all]}\n`, /file/],
  ['workflows', `${info}workflows:\n  - {template: a}\n`, /workflows/],
  ['hosts of its own', `${info}self-contained: true\n${get}}\n`, /self-contained/],
  ['a race', `${info}${get}, race: true}\n`, /race/],
  ['a foreign host', `${info}http:\n  - {method: GET, path: ["https://victim.com/a"]}\n`, /foreign host victim\.com/],
  ['a foreign host below', `${info}tcp:\n  - {inputs: [{data: a}], host: ["10.0.0.1:22"]}\n`, /foreign host/],
  ['a foreign name', `${info}dns:\n  - {name: victim.com, type: A}\n`, /foreign name/],
  ['payloads in files', `${info}${get}, payloads: {p: /etc/passwd}}\n`, /from a file/],
  ['nothing to send', info, /neither/],
  ['no YAML', 'id: [', /no YAML/],
  ['no object', '- a\n', /another shape/],
])('a template with %s is refused', (_, text, reason) => {
  expect(read(text)).toMatchObject({ refused: expect.stringMatching(reason) });
});

it('a chain is sent in the order of its flow, with values of ours for what nobody defined', () => {
  const { draft, warnings } = taken(`
id: chain
info: {name: Chain, severity: high, tags: "rce,vkev"}
flow: http(2) && http(1)
http:
  - raw: ["GET /second?u={{username}}&t={{base64(token)}} HTTP/1.1\\n\\n"]
  - raw: ["POST /first HTTP/1.1\\nContent-Type: text/plain\\nno header\\n\\nline\\nlast\\n"]
`);
  expect(draft.requests).toMatchObject([
    { path: '/first', body: 'line\r\nlast' },
    { path: '/second?u={{username}}&t={{base64(token)}}' },
  ]);
  expect(draft.variables).toEqual({ username: 'admin', token: '{{rand_text_alphanumeric(32)}}' });
  expect(draft).toMatchObject({ kev: false, techniques: ['T1190'] });
  expect(warnings.join()).toContain('{{username}} is not defined');
});

it('names of callback services become one of ours, also within calls', () => {
  const { draft } = taken(`
id: oast
info: {name: Oast, severity: info}
http:
  - path: ["{{BaseURL}}/?a=http://x.oast.live/&b={{base64('http://{{interactsh-url}}')}}"]
`);
  expect(draft.requests[0]).toMatchObject({ path: "/?a=http://x.oob.test/&b={{base64('http://{{interactsh-url}}')}}" });
  // What only looks for a product is no attack.
  expect(draft).toMatchObject({ techniques: [], expect: { action: 'allow' }, tags: 'detection-only' });
});

it('digits of network data are text, and a target with a space is refused', () => {
  const { draft } = taken(
    'id: n\ninfo: {name: N}\ntcp:\n  - host: ["{{Hostname}}"]\n    inputs:\n      - data: 00000000\n        type: hex\n',
  );
  expect(draft.requests).toMatchObject([{ kind: 'raw', data: '00000000', encoding: 'hex' }]);
  expect(read('id: s\ninfo: {name: S}\nhttp:\n  - raw: ["GET /a b HTTP/1.1\\n\\n"]\n')).toMatchObject({
    refused: expect.stringContaining('space'),
  });
});
