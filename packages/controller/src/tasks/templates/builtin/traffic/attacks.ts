import { type BuiltinTemplate, ends, param, record, twoAgents, whole } from '../builtin-template.ts';

const perSecond = (name: string, value: number) =>
  whole(name, value, [1, 10_000], 'Attempts per second', { label: 'Rate', unit: '/s' });

export const wafProtection: BuiltinTemplate = {
  name: 'WAF: attacks blocked and harmless requests passed',
  description:
    'Sends injection, scripting and traversal attacks and harmless requests to the server behind a web application firewall. Results show block rate, false positives, and every attack that bypassed it.',
  tags: 'waf,security',
  task: {
    comment: 'WAF: attacks blocked and harmless requests passed',
    configuration: [
      {
        plugin: { id: 15 },
        values: {
          ...ends,
          wafModules: {
            modules: ['sql-injection', 'xss', 'command-injection', 'path-traversal'].map((name) => ({
              ...{ name, encoders: ['plain', 'url'], maxRequests: param('perModule') },
            })),
            benign: { enabled: true, sample: param('benign') },
            ratePerSecond: param('rate'),
          },
        },
      },
    ],
  },
  slots: twoAgents('waf'),
  parameters: [
    whole('perModule', 50, [1, 10_000], 'Attacks of each of the four kinds', { label: 'Attacks per kind' }),
    whole('benign', 50, [1, 1000], 'Requests that must pass', { label: 'Harmless requests' }),
    perSecond('rate', 20),
  ],
};

export const ipsSignatures: BuiltinTemplate = {
  name: 'IPS: exploits of a severity',
  description:
    'Replays the exchanges of all enabled CVE signatures of one severity through an intrusion prevention system. Import or create signatures first.',
  tags: 'ips,cve,security',
  task: {
    comment: 'IPS: exploits of a severity',
    configuration: [
      {
        plugin: { id: 16 },
        values: {
          ...ends,
          cveReplayParams: { filter: { severity: param('severity') }, ratePerSecond: param('rate') },
        },
      },
    ],
  },
  slots: twoAgents('cve-replay'),
  parameters: [
    {
      name: 'severity',
      type: 'string',
      default: 'high',
      description: 'critical, high, medium or low',
      label: 'Severity',
    },
    perSecond('rate', 5),
  ],
};

export const oneSignature: BuiltinTemplate = {
  name: 'IPS: one signature with its evasions',
  description:
    'Replays one CVE signature, plain and in its encoded forms, through an intrusion prevention system or a WAF.',
  tags: 'ips,cve,evasion,security',
  task: {
    comment: 'IPS: one signature with its evasions',
    configuration: [
      {
        plugin: { id: 16 },
        values: {
          ...ends,
          cveReplayParams: {
            signatureIds: [param('signature')],
            variants: { enabled: true },
            ratePerSecond: param('rate'),
          },
        },
      },
    ],
  },
  slots: twoAgents('cve-replay'),
  parameters: [record('signature', 'signature', 'What is replayed', { label: 'Signature' }), perSecond('rate', 5)],
};

export const malwareDownload: BuiltinTemplate = {
  name: 'Malware download',
  description:
    'Transfers a sample over HTTP through an antivirus gateway or sandbox and reports whether it arrived. The inert test files under Malware are enough to begin with.',
  tags: 'malware,antivirus,security',
  task: {
    comment: 'Malware download',
    configuration: [
      {
        plugin: { id: 17 },
        values: {
          ...ends,
          malwareFiles: [param('sample')],
          payload: { delivery: [{ protocol: 'http', direction: 'download' }], repeat: param('repeat') },
        },
      },
    ],
  },
  slots: twoAgents('malware-transfer'),
  parameters: [
    record('sample', 'file', 'Sample to transfer; it must be released', { label: 'Sample', category: 'malware' }),
    whole('repeat', 1, [1, 1000], 'Transfers of the sample', { label: 'Transfers' }),
  ],
};

export const commandAndControl: BuiltinTemplate = {
  name: 'Command and control of compromised hosts',
  description:
    'Hosts on the inside talk to a command-and-control server on the outside as a campaign describes. Results show which steps were blocked or noticed, with their ATT&CK techniques.',
  tags: 'c2,att-and-ck,security',
  task: {
    comment: 'Command and control of compromised hosts',
    configuration: [
      {
        plugin: { id: 19 },
        values: {
          ...ends,
          compromisedHostParams: {
            ...{ campaignIds: [param('campaign')], hosts: param('hosts'), speedFactor: param('speed') },
          },
        },
      },
    ],
  },
  slots: twoAgents('compromised-host'),
  parameters: [
    record('campaign', 'campaign', 'What the hosts do', { label: 'Campaign' }),
    whole('hosts', 1, [1, 10_000], 'Hosts that play the campaign', { label: 'Hosts' }),
    whole('speed', 1, [1, 1000], 'How many times faster than described', { label: 'Speed multiplier' }),
  ],
};

export const httpFuzzing: BuiltinTemplate = {
  name: 'HTTP fuzzing',
  description:
    'Sends malformed HTTP requests to the server and checks after each whether it still answers. Findings come with the smallest input that reproduces them.',
  tags: 'fuzzing,resilience',
  task: {
    comment: 'HTTP fuzzing',
    configuration: [
      {
        plugin: { id: 18 },
        values: {
          ...ends,
          fuzzingParams: {
            protocol: 'http',
            baseline: { kind: 'request', request: { kind: 'http', method: 'GET', path: '/?id=1' } },
            maxCases: param('cases'),
            casesPerSecond: param('rate'),
          },
        },
      },
    ],
  },
  slots: twoAgents('fuzzing'),
  parameters: [whole('cases', 1000, [1, 1_000_000], 'Malformed requests', { label: 'Cases' }), perSecond('rate', 50)],
};
