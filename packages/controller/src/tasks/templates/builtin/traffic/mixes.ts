import { type BuiltinTemplate, duration, ends, param, twoAgents, whole } from '../builtin-template.ts';
import { rfc9411Goal, rfc9411Parameters } from '../suites/rfc9411.ts';
import { rfc9411Suite } from '../suites/rfc9411-suite.ts';
import { withThresholds } from '../threshold-presets.ts';

interface Mix {
  readonly name: string;
  readonly description: string;
  /** Per cent of the sessions, by application of the library. */
  readonly shares: Readonly<Record<string, number>>;
}

const mixes: readonly Mix[] = [
  {
    name: 'Mix: Enterprise perimeter',
    description: 'What passes the firewall of a company: secure web, SaaS, mail, names, some video and voice.',
    shares: {
      'Secure web page (TLS 1.3 shape)': 30,
      'Web page with assets': 8,
      'Office documents (SaaS)': 10,
      'Customer records (SaaS)': 6,
      'Team chat (SaaS)': 6,
      'QUIC connection': 8,
      'Name lookup (DNS)': 15,
      'Mail with attachment (SMTP AUTH)': 4,
      'Mail reading (IMAP)': 3,
      'HLS video': 3,
      'Video meeting over TLS': 4,
      'Software update': 2,
      'VPN handshake (IKEv2)': 1,
    },
  },
  {
    name: 'Mix: Data centre',
    description: 'Traffic between servers: databases, caches, queues, remote calls, storage and monitoring.',
    shares: {
      'Remote call (gRPC)': 20,
      'REST API': 15,
      PostgreSQL: 12,
      MySQL: 8,
      Redis: 12,
      MongoDB: 5,
      Memcached: 5,
      Kafka: 7,
      'Message queue (AMQP)': 3,
      'Network file system (NFSv3)': 4,
      'Block storage (iSCSI)': 3,
      'Directory (LDAP)': 2,
      'Logging (syslog)': 2,
      'Device monitoring (SNMP)': 2,
    },
  },
  {
    name: 'Mix: Education',
    description: 'A campus: video, web, games, file sharing and cloud services.',
    shares: {
      'Secure web page (TLS 1.3 shape)': 28,
      'HLS video': 12,
      'DASH video': 6,
      'QUIC connection': 14,
      'Name lookup (DNS)': 14,
      'Office documents (SaaS)': 6,
      'File synchronisation (SaaS)': 4,
      'Video meeting over TLS': 5,
      'Game traffic': 4,
      'Peer to peer (BitTorrent)': 3,
      'Group chat (IRC)': 1,
      'Network login (RADIUS)': 2,
      'Software update': 1,
    },
  },
  {
    name: 'Mix: Mobile carrier',
    description: 'Subscribers of a mobile network: QUIC, secure web, video, chat, names and signalling.',
    shares: {
      'QUIC connection': 30,
      'Secure web page (TLS 1.3 shape)': 22,
      'HLS video': 10,
      'DASH video': 4,
      'Name lookup (DNS)': 18,
      'Name lookup over TLS (DoT shape)': 3,
      'Instant messaging (XMPP)': 4,
      'WebRTC binding (STUN)': 2,
      'Voice call (SIP and RTP)': 2,
      'Game traffic': 2,
      'Mobile policy (Diameter)': 1,
      'Mobile core echo (GTPv2)': 1,
      'Short messages (SMPP)': 1,
    },
  },
  {
    name: 'Mix: OT plant',
    description: 'A plant: polling of controllers, telemetry, historians and the few office protocols beside them.',
    shares: {
      'Modbus/TCP': 28,
      'S7 controller': 16,
      'EtherNet/IP': 10,
      'OPC UA': 8,
      DNP3: 6,
      'IEC 60870-5-104': 6,
      BACnet: 6,
      'Omron FINS': 2,
      'Telemetry (MQTT)': 8,
      'Sensor (CoAP)': 2,
      'SQL Server (TDS)': 2,
      'Time (NTP)': 2,
      'Device monitoring (SNMP)': 2,
      'Remote desktop (RDP)': 2,
    },
  },
  {
    name: 'Mix: Branch office',
    description: 'A branch behind a tunnel: SaaS, file shares, directory, voice, printing and remote desktops.',
    shares: {
      'Secure web page (TLS 1.3 shape)': 24,
      'Office documents (SaaS)': 12,
      'Customer records (SaaS)': 8,
      'Name lookup (DNS)': 16,
      'File share (SMB2)': 10,
      'Directory (LDAP)': 4,
      'Domain login (Kerberos)': 4,
      'Mail reading (IMAP)': 4,
      'Voice call (SIP and RTP)': 5,
      'Phone registration (SIP)': 2,
      'Print job (IPP)': 3,
      'Remote desktop (RDP)': 4,
      'Video meeting over TLS': 3,
      'Time (NTP)': 1,
    },
  },
];

const published = ({ shares }: Mix) =>
  Object.entries(shares)
    .map(([name, share]) => `${name} ${share} %`)
    .join(', ');

const templateOf = (mix: Mix, ids: ReadonlyMap<string, number>): BuiltinTemplate => ({
  name: mix.name,
  description: `${mix.description} Shares of the sessions: ${published(mix)}.`,
  tags: 'question:mix,application,mix,performance',
  task: {
    comment: mix.name,
    configuration: [
      {
        plugin: { id: 10 },
        values: {
          ...ends,
          duration: { mode: 'time', seconds: param('seconds') },
          sessionsPerSecond: param('sessions'),
          applicationParams: {
            applications: applicationsOf(mix, ids),
          },
        },
      },
    ],
  },
  slots: twoAgents('application'),
  parameters: [
    whole('sessions', 50, [1, 1_000_000], 'Sessions begun per second', { label: 'Sessions', unit: '/s' }),
    whole('users', 4, [1, 10_000], 'Users of each application at the same time', { label: 'Users' }),
    whole('seconds', 60, [1, 86_400], 'How long traffic is sent', duration),
  ],
});

const applicationsOf = ({ shares }: Mix, ids: ReadonlyMap<string, number>) =>
  Object.entries(shares).map(([name, weight]) => ({ applicationId: ids.get(name), weight, users: param('users') }));

/** The first test of RFC 9411, with the mix of a company. */
const searchOf = (mix: Mix, ids: ReadonlyMap<string, number>): BuiltinTemplate => ({
  name: 'Throughput with application mix (RFC 9411)',
  description: `Finds the highest throughput with the applications of “${mix.name}”. RFC 9411, section 7.1. Shares of the sessions: ${published(mix)}.`,
  tags: 'question:firewall,rfc9411,application,mix,limit,performance',
  task: {
    comment: 'Throughput with application mix (RFC 9411)',
    configuration: [
      {
        plugin: { id: 10 },
        values: {
          ...ends,
          duration: { goal: rfc9411Goal('7.1', 'throughputBps') },
          applicationParams: { applications: applicationsOf(mix, ids) },
        },
      },
    ],
  },
  slots: twoAgents('application'),
  parameters: [
    whole('start', 10_000_000, [1, 10_000_000], 'Load of the first trial', { label: 'First load', unit: 'bit/s' }),
    whole('max', 1_000_000_000, [10_000_000, 1_000_000_000_000], 'Highest load that is tried', {
      ...{ label: 'Highest load', unit: 'bit/s' },
    }),
    whole('users', 50, [1, 10_000], 'Users of each application at the same time', { label: 'Users' }),
    ...rfc9411Parameters,
  ],
});

/** The mixes of applications of the library; none while the library is not stored. */
export const mixTemplates = (ids: ReadonlyMap<string, number>): BuiltinTemplate[] =>
  mixes
    .filter(({ shares }) => Object.keys(shares).every((name) => ids.has(name)))
    .flatMap((mix) => [
      templateOf(mix, ids),
      ...(mix === mixes[0] ? [searchOf(mix, ids), rfc9411Suite(applicationsOf(mix, ids))] : []),
    ])
    .map(withThresholds);
