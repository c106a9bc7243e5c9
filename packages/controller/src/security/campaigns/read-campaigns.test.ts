import { expect, it } from 'vitest';
import { readCampaigns } from './read-campaigns.ts';

const read = (text: string) => readCampaigns(Buffer.from(text));

it('campaigns are written as YAML, in which a step needs no more than its action', () => {
  const found = read(`
name: Night shift
parameters: [{name: interval, type: integer, default: 500}]
steps:
  - action: dga-lookup
    params: {count: 5, domain: example.test}
  - action: http-beacon
    name: check in
    params: {intervalMs: "{{interval}}", uriPattern: "/in/{{n}}"}
    repeat: 3
---
name: Second
steps: [{action: wait, params: {ms: 10}}]
`);
  expect(found).toMatchObject({
    campaigns: [
      {
        name: 'Night shift',
        parameters: [{ name: 'interval', type: 'integer', default: '500' }],
        steps: [
          { idx: 0, action: 'dga-lookup', technique: 'T1568.002', port: 53, repeat: 1 },
          { idx: 1, name: 'check in', tactic: 'command-and-control', port: 80, repeat: 3 },
        ],
      },
      { name: 'Second' },
    ],
  });
});

const adversary = `
id: 9f3a
name: Looks around and leaves
atomic_ordering: [a1, a2, a3, a4]
---
- id: a1
  name: Find other hosts
  tactic: discovery
  technique: {attack_id: T1018, name: Remote System Discovery}
  platforms: {linux: {sh: {command: "never read"}}}
- id: a2
  name: List processes
  tactic: discovery
  technique: {attack_id: T1057, name: Process Discovery}
- id: a3
  name: Send it home
  tactic: exfiltration
  technique: {attack_id: T1041, name: Exfiltration Over C2 Channel}
`;

it('adversaries of Caldera become the traffic of their techniques, and name what has none', () => {
  const found = read(adversary);
  expect(found).toMatchObject({
    campaigns: [
      {
        name: 'Looks around and leaves',
        steps: [
          { action: 'host-sweep', name: 'Find other hosts', technique: 'T1018', tactic: 'discovery' },
          { action: 'http-exfil', name: 'Send it home', technique: 'T1041' },
        ],
        leftOut: ['List processes: T1057 shows nothing on the network', 'ability a4: it is not in the file'],
      },
    ],
  });
  expect(JSON.stringify(found)).not.toContain('never read');
});

it.each([
  ['name: x', 'a campaign has no steps'],
  ['steps: [{action: run-program}]', 'the action run-program is not known'],
  ['steps: [{action: wait, command: id}]', expect.stringContaining('command')],
  ['steps: [{action: http-beacon, repeat: 100000}]', expect.stringContaining('repeat')],
  ['a: [', expect.stringContaining('no YAML')],
  ['id: 1\natomic_ordering: [b]\n', 'none of its abilities shows anything on the network'],
])('refuses %j', (text, problem) => expect(read(text)).toEqual({ problem }));
