/** One package: the packages of ours it may import and its rooms. */
export interface Package {
  name: string;
  imports: readonly string[];
  /**
   * Folders and files below `src`, lowest first: a room may import itself and the rooms before it in this list.
   * An array is one room in several places. `x/*` makes every folder in `x` a room that never imports its neighbours.
   * A package without rooms is one room.
   */
  rooms: readonly (string | readonly string[])[];
}

/** The import rules. Type-only imports count; tests and `testing` folders are free. */
export const packages: readonly Package[] = [
  { name: 'contract', imports: [], rooms: [] },
  { name: 'protocol', imports: [], rooms: [] },
  { name: 'pcap', imports: [], rooms: [] },
  { name: 'pools', imports: [], rooms: [] },
  {
    name: 'wire',
    imports: [],
    rooms: [
      'bytes',
      'ethernet',
      'ip',
      'icmp',
      'udp',
      'neighbours',
      'tcp',
      'links',
      'wireguard',
      'ipsec',
      'host-group',
      'rdma',
      'access',
      'eap',
      'openflow',
      'gptp',
      'control',
      'quic',
      'http',
      'index.ts',
    ],
  },
  { name: 'client', imports: ['contract'], rooms: [] },
  { name: 'cli', imports: ['client', 'contract'], rooms: [] },
  {
    name: 'web',
    imports: ['client', 'contract'],
    rooms: ['texts', 'lib', 'components', 'features/*', 'app', 'main.tsx'],
  },
  {
    name: 'controller',
    imports: ['contract', 'protocol', 'pcap', 'pools'],
    rooms: [
      'concurrency',
      ['errors.ts', 'canonical-json.ts', 'clock.ts', 'schema-check.ts'],
      'bus',
      'store',
      ['caller.ts', 'handler.ts', 'config.ts', 'crud.ts', 'etag.ts'],
      'people',
      'system',
      'assets',
      'security',
      'agents',
      'plan',
      'metrics',
      'runs',
      'tasks',
      'ai',
      'http',
      ['chores.ts', 'run-service.ts', 'controller.ts', 'index.ts', 'main.ts', 'audit-command.ts', 'backup-command.ts'],
    ],
  },
  {
    name: 'agent',
    imports: ['protocol', 'pcap', 'pools', 'wire'],
    rooms: [
      ['version.ts', 'clock.ts', 'config.ts', 'log', 'files/durable-file.ts', 'process/parent-watch.ts'],
      // Interfaces that engines are given.
      ['net/loop/alarm.ts', 'net/transport/transport.ts', 'net/datagram/datagram-transport.ts', 'net/host-network.ts'],
      // What a job says of subscribers, with the session groups it starts.
      ['access/session-group.ts', 'access/gateway-group.ts', 'access/access-groups.ts'],
      ['engine.ts', 'samples.ts', 'event-lines.ts'],
      'machine',
      'net',
      'stack',
      'access',
      'control',
      'engines',
      'captures',
      'runs',
      'files',
      'upgrade',
      'session',
      ['agent.ts', 'questions.ts'],
      ['index.ts', 'main.ts', 'process'],
    ],
  },
];

/** Libraries that only one room may import. */
export const confinedLibraries: readonly { library: RegExp; room: string }[] = [
  { library: /^(@fastify\/.+|fastify)$/, room: 'controller/http' },
];
