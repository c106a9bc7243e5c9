import { expect, it } from 'vitest';
import { cpuMs } from '../../../testing/cpu-ms.ts';
import { readTemplates } from './read-templates.ts';
import { prepareTemplate } from './store/prepare-template.ts';

const lines = (text: string | Buffer, path = 'hostile.yaml') => {
  const file = { path, bytes: Buffer.from(text) };
  const content = readTemplates(file, 'auto');
  if (content.kind !== 'templates') return [];
  return content.outcomes.map((outcome) => {
    const prepared = prepareTemplate(outcome, { ...file, sha256: '', fields: {} });
    return 'line' in prepared ? prepared.line.reason : 'stored';
  });
};
const withPath = (path: string, more = '') =>
  `id: x\ninfo: {name: X, severity: low}\n${more}http:\n  - {method: GET, path: [${JSON.stringify(`{{BaseURL}}${path}`)}]}\n`;

const laughs = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...'bcdefghi'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join()}]`),
].join('\n');

it.each([
  ['aliases that explode', `id: x\ninfo: {name: X}\n${laughs}\nhttp: *i\n`, /aliases|no YAML/],
  ['brackets without end', `id: x\ninfo: ${'['.repeat(50_000)}\n`, /nested/],
  [
    'maps in maps',
    `id: x\n${Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i * 2)}a:`).join('\n')}\n`,
    /nested|bytes|no YAML/,
  ],
  ['more than two megabytes', `id: x\ninfo: {name: "${'a'.repeat(3_000_000)}"}\n`, /more than 2097152 bytes/],
  ['a function that runs programs', withPath('/?x={{exec("id")}}'), /not allowed/],
  ['a gigantic payload', withPath('/?x={{repeat("A", 100000000)}}'), /PAYLOAD|bytes/],
  [
    'a payload that grows by variables',
    withPath(
      '/{{d}}',
      'variables: {a: "{{repeat(\'A\', 1000)}}", b: "{{repeat(a, 1000)}}", c: "{{repeat(b, 1000)}}", d: "{{c}}"}\n',
    ),
    /bytes/,
  ],
  ['variables in circles', withPath('/{{a}}', 'variables: {a: "{{b}}", b: "{{a}}"}\n'), /without end/],
  [
    'a host in the head',
    'id: x\ninfo: {name: X}\nhttp:\n  - raw: ["GET / HTTP/1.1\\nHost: victim.com\\n\\n"]\n',
    /victim\.com/,
  ],
  ['a key twice', 'id: x\nid: y\ninfo: {name: X}\n', /no YAML/],
  [
    'a tag of another language',
    'id: x\ninfo: !!python/object/apply:os.system ["id"]\n',
    /shape|no YAML|neither|Unresolved/,
  ],
])('refuses %s, at once and with the reason', (_, text, reason) => {
  const began = cpuMs();
  expect(lines(text)).toEqual([expect.stringMatching(reason)]);
  expect(cpuMs() - began).toBeLessThan(2000);
});

it('patterns that would hang other engines make no answer and take no time', () => {
  const bombs = [
    '(a+)+$',
    '(a|aa)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(.*)*x',
    `${'(a?'.repeat(30)}${')'.repeat(30)}`,
    'a{1000}{1000}',
  ];
  const text = `id: x\ninfo: {name: X, severity: low}\nhttp:\n  - method: GET\n    path: ["{{BaseURL}}/"]\n    matchers:\n      - type: regex\n        condition: and\n        regex: ${JSON.stringify(bombs)}\n`;
  const began = cpuMs();
  expect(lines(text)).toEqual(['stored']);
  expect(cpuMs() - began).toBeLessThan(2000);
});

it('other formats refuse what is hostile, too', () => {
  const ftw = (uri: string) =>
    `meta: {author: a}\nrule_id: 1\ntests:\n  - {test_id: 1, stages: [{input: {uri: ${JSON.stringify(uri)}}, output: {log: {expect_ids: [1]}}}]}\n`;
  expect(lines(ftw('/?{{ env "HOME" }}'))).toEqual([expect.stringMatching(/not allowed/)]);
  expect(lines(ftw('/?{{ exec "id" }}'))).toEqual([expect.stringMatching(/not allowed/)]);
  expect(lines(ftw('/?{{ "a" | repeat 99999999 }}'))).toEqual([expect.stringMatching(/repeat 99999999/)]);
  expect(lines(ftw('http://victim.com/'))).toEqual([expect.stringMatching(/victim\.com/)]);
  expect(lines(ftw('/?{{7*7}}'))).toEqual(['stored']);
  expect(lines('GET http://victim.com/ HTTP/1.1\r\n\r\n', 'a.black')).toEqual([expect.stringMatching(/victim\.com/)]);
  expect(lines(Buffer.from('d4c3b2a1ffffffff', 'hex'), 'a.pcap')).toEqual([
    expect.stringMatching(/cannot be read|no TCP/),
  ]);
  expect(lines('{"signatures":[{"name":"x","requests":[{"idx":0,"kind":"shell","data":"id"}]}]}', 'a.json')).toEqual([
    expect.stringMatching(/requests/),
  ]);
  expect(lines('{"signatures":[', 'a.json')).toEqual([expect.stringMatching(/no JSON/)]);
});
