import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { HostStack } from '@rushhour/protocol';
import type { Totals } from '../tests/engines/job.ts';
import { inside, startJobChild } from '../tests/engines/job-child.ts';
import { type Cable, createCable, type JobProcess, type Side, startJobIn } from '../tests/engines/namespaces.ts';
import { type Contest, seconds, warmUpSec } from './dataplane-contest.ts';
import { residentBytes } from './process-usage.ts';

const [onGenerator, onServer] = [
  ['taskset', '-c', '0'],
  ['taskset', '-c', '1'],
];
const port = 8080;
const serverHost = '10.99.0.200';

const stackOn = (side: Side, hosts: string, macPolicy?: object): HostStack => {
  const subnet = '10.96.0.0/11';
  const macs = macPolicy && { macs: { network: { subnet, macPolicy }, records: [] } };
  return {
    interface: side.device,
    networks: [{ subnet, hosts: [hosts], ...macs }],
    vlan: [],
    header: {},
    tcp: {},
  };
};

const serve = (side: Side, stack?: HostStack): Promise<JobProcess> =>
  startJobIn(
    side,
    {
      engine: 'http',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port }] },
      duration: { mode: 'continuous' },
      ...(stack && { stack }),
    },
    onServer,
  );

/** What is counted per second after the warm-up. */
const rateOf = ({ summaries }: Totals, counter = 'http.ok'): number => {
  const steady = summaries.filter(({ phase, spanMs }) => phase === 'steady' && spanMs > 900);
  const all = steady.flatMap(({ series }) => series).reduce((sum, { counters }) => sum + (counters[counter] ?? 0), 0);
  return (all * 1000) / steady.reduce((sum, { spanMs }) => sum + spanMs, 0);
};

const ask = async (side: Side, host: string, stack: HostStack, more: object = {}): Promise<number> => {
  const config = { role: 'client', targets: [{ host, port }], connections: 50, ...more };
  const duration = { mode: 'time', seconds: seconds + warmUpSec, warmUpSec } as const;
  return rateOf(await (await startJobIn(side, { engine: 'http', config, duration, stack }, onGenerator)).totals);
};

const wrk = async (side: Side, host: string, ...more: string[]): Promise<number> => {
  const [program = '', ...args] = [...onGenerator, 'wrk', '-t1', '-c50', `-d${seconds}`, ...more];
  const output = side.run(program, ...args, `http://${host}:${port}/`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
};

/** Emulated hosts on both sides of a cable; wrk asks a server on kernel sockets over the same cable. */
const withCable = async (stacks: (cable: Cable) => { client: HostStack; server: HostStack }) => {
  const cable = createCable();
  // Otherwise wrk runs out of ports after a second.
  cable.left.run('sysctl', '-qw', 'net.ipv4.tcp_tw_reuse=1', 'net.ipv4.ip_local_port_range=1024 65535');
  const { client, server } = stacks(cable);
  const servers = [await serve(cable.right), await serve(cable.right, server)];
  const close = async () => {
    for (const one of servers) await one.stop();
    cable.remove();
  };
  return { cable, client, close };
};

const plainStacks = ({ left, right }: Cable) => ({
  client: stackOn(left, '10.99.0.10-10.99.0.59'),
  server: stackOn(right, serverHost),
});

const keepAlive: Contest = {
  name: 'stack.keepAlive',
  async prepare() {
    const { cable, client, close } = await withCable(plainStacks);
    return {
      contenders: { ours: () => ask(cable.left, serverHost, client), wrk: () => wrk(cable.left, cable.right.address) },
      close,
    };
  },
  goals: [{ of: 'ours', to: 'wrk', goal: 1.6 }],
};

const newConnections: Contest = {
  name: 'stack.newConnections',
  async prepare() {
    const { cable, client, close } = await withCable(({ left, right }) => ({
      client: stackOn(left, '10.100.0.1-10.100.234.96', { mode: 'derived' }),
      server: stackOn(right, serverHost),
    }));
    const more = { keepAlive: { enabled: false } };
    return {
      contenders: {
        ours: () => ask(cable.left, serverHost, client, more),
        wrk: () => wrk(cable.left, cable.right.address, '-H', 'Connection: close'),
      },
      close,
    };
  },
  goals: [{ of: 'ours', to: 'wrk', goal: 2 }],
};

const tunnelOf = (type: 'gre' | 'vxlan' | 'gtpu', stack: HostStack, isServer: boolean): HostStack => {
  const [own, other] = isServer ? ['10.99.0.4', '10.99.0.3'] : ['10.99.0.3', '10.99.0.4'];
  return {
    ...stack,
    networks: [{ subnet: '10.50.0.0/16', hosts: [isServer ? '10.50.1.1' : '10.50.0.1-10.50.0.50'] }],
    tunnel: {
      type,
      params: {},
      isServer,
      ends: [{ local: own, remote: other }],
      outer: { subnet: '10.99.0.0/24', hosts: [own] },
    },
  };
};

const tunnelled = (type: 'gre' | 'vxlan' | 'gtpu'): Contest => ({
  name: `stack.${type}`,
  async prepare() {
    const { cable, client, close } = await withCable(plainStacks);
    const { left, right } = cable;
    const server = await serve(right, tunnelOf(type, stackOn(right, serverHost), true));
    return {
      contenders: {
        ours: () => ask(left, '10.50.1.1', tunnelOf(type, client, false)),
        plain: () => ask(left, serverHost, client),
      },
      async close() {
        await server.stop();
        await close();
      },
    };
  },
  goals: [{ of: 'ours', to: 'plain', goal: 0.8 }],
});

const send = async (side: Side, stack: HostStack, host: string): Promise<number> => {
  const config = { role: 'client', mode: 'send', targets: [{ host, port }], connections: 1 };
  const duration = { mode: 'time', seconds: seconds + warmUpSec, warmUpSec } as const;
  const { totals } = await startJobIn(side, { engine: 'tcp', config, duration, stack }, onGenerator);
  return rateOf(await totals, 'tcp.txBytes');
};

/** Segments reach the other kernel one by one, and a part of them is lost before it sees them. */
const loseSegments = ({ left, right }: Cable, perMille: number): void => {
  left.run('ethtool', '-K', left.device, 'tso', 'off', 'gso', 'off');
  right.run('nft', 'add table netdev t');
  right.run('nft', `add chain netdev t in { type filter hook ingress device ${right.device} priority 0 ; }`);
  right.run('nft', `add rule netdev t in meta l4proto tcp numgen random mod 1000 < ${perMille} counter drop`);
};

const iperf3 = ({ left, right }: Cable): number => {
  const [program = '', ...args] = [...onGenerator, 'iperf3', '-c', right.address, '-t', String(seconds), '-J'];
  const { end } = JSON.parse(left.run(program, ...args)) as { end: { sum_received: { bits_per_second: number } } };
  return end.sum_received.bits_per_second / 8;
};

/**
 * One connection of an emulated host as fast as it goes, and iperf3 on the kernel's TCP over the same cable. Without loss
 * both ends are ours; lost are segments on their way to the kernel, which receives in both cases.
 */
const bulk = (name: string, lostPerMille: number): Contest => ({
  name,
  async prepare() {
    const cable = createCable();
    const { client, server } = plainStacks(cable);
    const stack = lostPerMille === 0 ? { stack: server } : {};
    if (lostPerMille > 0) loseSegments(cable, lostPerMille);
    const config = { role: 'server', mode: 'sink', listen: [{ host: '0.0.0.0', port }] };
    const job = { engine: 'tcp', config, duration: { mode: 'continuous' }, ...stack } as const;
    const far = await startJobIn(cable.right, job, onServer);
    const [program = '', ...args] = [...inside(cable.right), ...onServer, 'iperf3', '-s'];
    const peer = spawn(program, args, { stdio: 'ignore' });
    const target = lostPerMille === 0 ? serverHost : cable.right.address;
    return {
      contenders: { ours: () => send(cable.left, client, target), iperf3: async () => iperf3(cable) },
      async close() {
        peer.kill();
        await once(peer, 'exit');
        await far.stop();
        cable.remove();
      },
    };
  },
  goals: [{ of: 'ours', to: 'iperf3', goal: 0.8 }],
});

/** Two workers of the generator against one; the server has two in both cases, and every worker a core. */
const workers: Contest = {
  name: 'stack.workers',
  async prepare() {
    const cable = createCable();
    const { client, server: stack } = plainStacks(cable);
    const listen = { role: 'server', listen: [{ host: '0.0.0.0', port }] };
    const job = { engine: 'http', config: listen, duration: { mode: 'continuous' }, cpuCores: 2, stack } as const;
    const server = await startJobIn(cable.right, job, ['taskset', '-c', '2,3']);
    const askOn = async (cpuCores: number): Promise<number> => {
      const config = { role: 'client', targets: [{ host: serverHost, port }], connections: 50 };
      const duration = { mode: 'time', seconds: seconds + warmUpSec, warmUpSec } as const;
      const options = { engine: 'http', config, duration, cpuCores, stack: client };
      return rateOf(await (await startJobIn(cable.left, options, ['taskset', '-c', '0,1'])).totals);
    };
    return {
      contenders: { two: () => askOn(2), one: () => askOn(1) },
      async close() {
        await server.stop();
        cable.remove();
      },
    };
  },
  goals: [{ of: 'two', to: 'one', goal: 1.8 }],
};

const heldConnections = Number(process.env['RUSHHOUR_BENCH_CONNECTIONS'] ?? 1_000_000);
const openedPerSecond = 20_000;
const holdSec = 20;

/** Bytes that idle connections take on each side; fails where not all of them are open at once. */
const holdConnections = async ({ left, right }: Cable) => {
  const [client, server] = [
    stackOn(left, '10.100.0.1-10.100.234.96', { mode: 'derived' }),
    stackOn(right, '10.99.0.200-10.99.0.219'),
  ];
  const listen = { role: 'server', mode: 'sink', listen: [{ host: '0.0.0.0', port }] };
  const answering = { engine: 'tcp', config: listen, duration: { mode: 'continuous' }, stack: server };
  const far = await startJobChild('job-process.ts', answering, [...inside(right), ...onServer]);
  const config = {
    role: 'client',
    // Reads, and stays open without a timer of its own.
    mode: 'receive',
    targets: Array.from({ length: 20 }, (_, i) => ({ host: `10.99.0.${200 + i}`, port })),
    connections: heldConnections,
    connectTimeoutMs: 300_000,
    load: { rate: openedPerSecond },
  };
  const duration = { mode: 'time', seconds: heldConnections / openedPerSecond + holdSec };
  const asking = { engine: 'tcp', config, duration, stack: client };
  const near = await startJobChild('job-process.ts', asking, [...inside(left), ...onGenerator]);
  const before = [residentBytes(near.child.pid), residentBytes(far.child.pid)];
  const highest = [...before];
  const look = setInterval(() => {
    for (const [index, { child }] of [near, far].entries())
      if (child.exitCode === null) highest[index] = Math.max(highest[index] as number, residentBytes(child.pid));
  }, 500);
  const { summaries } = await near.totals;
  clearInterval(look);
  far.child.stdin.end();
  await far.totals;
  const active = summaries.map(({ series }) =>
    series.reduce((sum, { gauges }) => sum + (gauges['tcp.active'] ?? 0), 0),
  );
  const reached = Math.max(...active);
  console.log(`stack.connections ${reached} at once`);
  if (reached < heldConnections) throw new Error(`only ${reached} of ${heldConnections} connections were open at once`);
  return highest.map((bytes, index) => (bytes - (before[index] as number)) / heldConnections);
};

/** Idle connections between emulated hosts of one client and one server. */
const connections: Contest = {
  name: 'stack.connections',
  better: 'lower',
  rounds: 1,
  async prepare() {
    const cable = createCable();
    let atServer = Number.NaN;
    const client = async () => {
      const [bytes, far] = await holdConnections(cable);
      atServer = far as number;
      return bytes as number;
    };
    return { contenders: { client, server: async () => atServer }, close: async () => cable.remove() };
  },
  goals: [
    { of: 'client', to: 1024, goal: 1 },
    { of: 'server', to: 1024, goal: 1 },
  ],
};

export const stackContests: readonly Contest[] = [
  keepAlive,
  newConnections,
  bulk('stack.bulk', 0),
  bulk('stack.bulkLoss', 1),
  ...(['gre', 'vxlan', 'gtpu'] as const).map(tunnelled),
  connections,
  ...(availableParallelism() < 4 ? [] : [workers]),
];
