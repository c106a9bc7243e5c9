import { type BuiltinTemplate, duration, ends, param, record, twoAgents, whole } from '../builtin-template.ts';

const minute = whole('seconds', 60, [1, 86_400], 'How long traffic is sent', duration);
const forSeconds = { duration: { mode: 'time', seconds: param('seconds') } };

export const captureReplay: BuiltinTemplate = {
  name: 'Capture replay',
  description: 'Sends the packets of a capture from one agent to the other, as they were recorded.',
  tags: 'pcap,replay,performance',
  task: {
    comment: 'Capture replay',
    configuration: [
      {
        plugin: { id: 8 },
        values: { ...ends, pcapReplayParams: { fileId: param('capture'), loop: param('loops') } },
      },
    ],
  },
  slots: twoAgents('pcap-replay'),
  parameters: [
    record('capture', 'file', 'Uploaded under Files', { label: 'Capture', category: 'pcap' }),
    whole('loops', 10, [1, 1_000_000], 'How often the capture is sent', { label: 'Repetitions' }),
  ],
};

export const websiteVisits: BuiltinTemplate = {
  name: 'Website visits from a HAR recording',
  description:
    'Users load the pages of a browser recording (HAR) again and again; the server agent answers like the recorded site.',
  tags: 'har,http,browser,performance',
  task: {
    comment: 'Website visits from a HAR recording',
    configuration: [
      {
        plugin: { id: 9 },
        values: {
          ...ends,
          ...forSeconds,
          harReplayParams: { fileId: param('recording'), users: param('users'), loop: true, timing: 'none' },
        },
      },
    ],
  },
  slots: twoAgents('har-replay'),
  parameters: [
    record('recording', 'file', 'A HAR file, uploaded under Files', { label: 'Recording', category: 'har' }),
    whole('users', 5, [1, 100_000], 'Users at the same time', { label: 'Users' }),
    minute,
  ],
};

export const applicationUsers: BuiltinTemplate = {
  name: 'Application users',
  description:
    'Users play an application, made from a capture, with their own values for everything that differs between users.',
  tags: 'application,scale',
  task: {
    comment: 'Application users',
    configuration: [
      {
        plugin: { id: 10 },
        values: {
          ...ends,
          ...forSeconds,
          applicationParams: { applications: [{ applicationId: param('application'), users: param('users') }] },
        },
      },
    ],
  },
  slots: twoAgents('application'),
  parameters: [
    record('application', 'application', 'What the users do', { label: 'Application' }),
    whole('users', 10, [1, 1_000_000], 'Users at the same time', { label: 'Users' }),
    minute,
  ],
};

export const pppoeSubscribers: BuiltinTemplate = {
  name: 'PPPoE subscribers of a BNG',
  description:
    'Emulated subscribers sign in to a broadband network gateway over PPPoE and stay. The profile gives their number, names and secrets. Results list every session with its address and setup time. The agent needs CAP_NET_RAW.',
  tags: 'pppoe,bng,access-plane,access',
  task: {
    comment: 'PPPoE subscribers of a BNG',
    accessPlane: [{ ...ends.sources[0], interfaces: [param('interface')], pppoe: [param('profile')] }],
    configuration: [{ plugin: { id: 101 }, values: forSeconds }],
  },
  slots: [{ name: 'client', role: 'client', requires: ['plane.access'] }],
  parameters: [
    record('interface', 'interface', 'Interface of the agent that is connected to the gateway'),
    record('profile', 'dictionary', 'Protocol profile: number of sessions, names and authentication', {
      ...{ label: 'Profile', category: 'protocol.pppoe' },
    }),
    whole('seconds', 300, [10, 86_400], 'How long the sessions stay', duration),
  ],
};
