import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostStack, IpsecSettings, Job } from '@rushhour/protocol';
import { inside } from '../tests/engines/job-child.ts';
import { type Cable, createCable, type Side, startJobIn } from '../tests/engines/namespaces.ts';
import { execute } from '../tests/engines/programs.ts';
import { programAt } from '../tests/process/program.ts';
import { type StrongSwan, startStrongSwan } from '../tests/stack/strongswan.ts';
import type { Row } from './report.ts';

// IPsec of emulated hosts over a veth pair, beside strongSwan on the same pair. All rates are those of one second of
// processor time of the measured processes, so that other work of the machine hardly counts.

const seconds = 6;
const secret = 'a long secret';
const settings = { psk: secret, ikeEncryption: 'aes256gcm16', ikePrf: 'sha256', ikeGroup: 'curve25519' };

/** Counters a second of the steady part of a job; `cpu`: processor seconds of a second. */
interface Rates {
  readonly cpu: number;
  of(counter: string): number;
}

const measureJob = async (side: Side, job: Pick<Job, 'engine' | 'config' | 'stack'>): Promise<Rates> => {
  const argument = JSON.stringify({ ...job, seconds });
  const [program = '', ...args] = [...inside(side), process.execPath, programAt('bench/dataplane-job.ts'), argument];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  for await (const bytes of child.stdout) text += bytes;
  const rates = JSON.parse(text.slice(text.indexOf('{'))) as Record<string, number>;
  const of = (counter: string) => rates[counter] ?? 0;
  return { cpu: (of('userUs') + of('systemUs')) / 1e6, of };
};

const stackOf = ({ device }: Side, hosts: string, more: Partial<HostStack> = {}): HostStack => ({
  interface: device,
  networks: [{ subnet: '10.99.0.0/24', hosts: [hosts] }],
  ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
  ...more,
});

const responder = '10.99.0.21';

const measureInitiator = async ({ left }: Cable): Promise<number> => {
  const rates = await measureJob(left, {
    engine: 'ipsec-load',
    config: {
      ...{ role: 'client', targets: [{ host: responder, port: 500 }], sourceCount: 8, settings },
      ...{ concurrentHandshakes: 32, recycleAfterMs: 0, load: {} },
    },
    stack: stackOf(left, '10.99.0.11-10.99.0.18'),
  });
  return rates.of('ipsec-load.completed') / rates.cpu;
};

const connections = 200;

const initiating = (index: number): string => `
  c${index} {
    version = 2
    local_addrs = 10.99.0.1
    remote_addrs = ${responder}
    unique = never
    proposals = aes256gcm16-prfsha256-x25519
    local { auth = psk }
    remote { auth = psk }
    children { c${index} {
      local_ts = 10.1.0.1/32
      remote_ts = 10.3.${index}.0/24
      esp_proposals = aes256gcm16 } } }`;

const connectionsOf = (all: readonly string[]) =>
  `connections { ${all.join('\n')} } secrets { ike-all { secret = "${secret}" } }`;

/** Handshakes of charon, each of a connection of its own. */
const measureCharon = async ({ left }: Cable): Promise<number> => {
  const charon = await startStrongSwan(left, {
    connections: connectionsOf(Array.from({ length: connections }, (_, index) => initiating(index))),
    insideAddress: '10.1.0.1',
  });
  try {
    const before = charon.cpuSeconds();
    let up = 0;
    for (let index = 0; index < connections; index++) {
      const output = await charon.control('--initiate', '--child', `c${index}`, '--timeout', '10');
      if (output.includes('completed successfully')) up++;
    }
    if (up < connections) throw new Error(`charon has ${up} of ${connections} connections up`);
    return connections / (charon.cpuSeconds() - before);
  } finally {
    await charon.stop();
  }
};

const measureHandshakes = async (): Promise<Row[]> => {
  const cable = createCable();
  try {
    const server = await startJobIn(cable.right, {
      engine: 'ipsec-load',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 500 }], settings, poolCap: 1_000_000 },
      duration: { mode: 'continuous' },
      stack: stackOf(cable.right, responder),
    });
    const charon = await measureCharon(cable);
    const ours = await measureInitiator(cable);
    await server.stop();
    return [
      { name: 'IKE handshakes a second and core, initiator', value: ours, goal: 2000 },
      {
        name: `IKE handshakes against strongSwan, ${charon.toFixed(0)} a second and core`,
        value: ours / charon,
        goal: 5,
      },
    ];
  } finally {
    cable.remove();
  }
};

const ends = { local: '10.99.0.11', remote: responder };
const ipsec: IpsecSettings = {
  ...settings,
  mode: 'tunnel',
  authMethod: 'psk',
  cipher: 'aes256gcm16',
  encrypts: true,
  pfs: false,
  natt: true,
  dpdIntervalSec: 0,
  dpdTimeoutSec: 0,
  rekeySec: 0,
  lifetimeSec: 0,
  uniqueSelectors: false,
  firstIndex: 0,
  children: 1,
};

const insideOf = (side: Side, hosts: string, isServer: boolean): HostStack => {
  const [local, remote] = isServer ? [ends.remote, ends.local] : [ends.local, ends.remote];
  return {
    ...stackOf(side, hosts),
    networks: [{ subnet: '10.50.0.0/16', hosts: [hosts] }],
    tunnel: {
      ...{ type: 'ipsec', params: {}, isServer, ends: [{ local, remote }] },
      ipsec,
      outer: { subnet: '10.99.0.0/24', hosts: [local] },
    },
  };
};

interface Flow {
  readonly engine: string;
  readonly client: object;
  readonly server: object;
  readonly isInside: boolean;
}

/** A client and a server on the pair, through a tunnel or beside it. */
const measureFlow = async ({ engine, client, server, isInside }: Flow): Promise<Rates> => {
  const cable = createCable();
  const { left, right } = cable;
  const host = isInside ? '10.50.1.1' : responder;
  try {
    const far = await startJobIn(right, {
      engine,
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], ...server },
      duration: { mode: 'continuous' },
      stack: isInside ? insideOf(right, host, true) : stackOf(right, host),
    });
    const rates = await measureJob(left, {
      engine,
      config: { role: 'client', targets: [{ host, port: 8080 }], ...client },
      stack: isInside ? insideOf(left, '10.50.0.1-10.50.0.8', false) : stackOf(left, '10.99.0.11-10.99.0.18'),
    });
    await far.stop();
    return rates;
  } finally {
    cable.remove();
  }
};

const measureHttp = async (): Promise<Row[]> => {
  const server = { responses: [{ body: { type: 'zero', size: 1024 } }] };
  const measure = (isInside: boolean) => measureFlow({ engine: 'http', client: { connections: 16 }, server, isInside });
  const outside = await measure(false);
  const within = await measure(true);
  const ratio = within.of('http.ok') / within.cpu / (outside.of('http.ok') / outside.cpu);
  return [{ name: 'HTTP requests of 1 KB inside against outside', value: ratio, goal: 0.6 }];
};

const payloadBytes = 1372;
const gatewayOf = (local: number, remote: number, start: string) =>
  connectionsOf([
    `gw {
    version = 2
    local_addrs = 10.99.0.${local}
    remote_addrs = 10.99.0.${remote}
    proposals = aes256gcm16-prfsha256-x25519
    encap = yes
    local { auth = psk }
    remote { auth = psk }
    children { gw {
      local_ts = 10.2.0.${local}/32
      remote_ts = 10.2.0.${remote}/32
      start_action = ${start}
      esp_proposals = aes256gcm16 } } }`,
  ]);

/** Packets that one charon seals and the other opens, by iperf3, a second of the processor time of both. */
const measureLibipsec = async (): Promise<number> => {
  const cable = createCable();
  const running: StrongSwan[] = [];
  try {
    const [left, right] = [cable.left, cable.right];
    running.push(await startStrongSwan(right, { connections: gatewayOf(2, 1, 'none'), insideAddress: '10.2.0.2' }));
    running.push(await startStrongSwan(left, { connections: gatewayOf(1, 2, 'none'), insideAddress: '10.2.0.1' }));
    const [far, near] = running as [StrongSwan, StrongSwan];
    await near.control('--initiate', '--child', 'gw', '--timeout', '10');
    const server = spawn('ip', ['netns', 'exec', right.namespace, 'iperf3', '-s', '-1'], { stdio: 'ignore' });
    await sleep(1000);
    const before = near.cpuSeconds() + far.cpuSeconds();
    const args = [
      '-c',
      '10.2.0.2',
      '-B',
      '10.2.0.1',
      '-u',
      '-b',
      '0',
      '-l',
      `${payloadBytes}`,
      '-t',
      `${seconds}`,
      '-J',
    ];
    const { stdout } = await execute('ip', ['netns', 'exec', left.namespace, 'iperf3', ...args]);
    const cpu = near.cpuSeconds() + far.cpuSeconds() - before;
    server.kill();
    const { sum } = (JSON.parse(stdout) as { end: { sum: { packets: number; lost_packets: number } } }).end;
    return (sum.packets - sum.lost_packets) / cpu;
  } finally {
    for (const one of running) await one.stop();
    cable.remove();
  }
};

/** Packets through a tunnel of ours, a second of the processor time of both ends. */
const measureEsp = async (): Promise<number> => {
  const cable = createCable();
  const { left, right } = cable;
  try {
    const host = '10.50.1.1';
    const [far, near] = await Promise.all([
      measureJob(right, {
        engine: 'udp',
        config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }] },
        stack: insideOf(right, host, true),
      }),
      measureJob(left, {
        engine: 'udp',
        config: { role: 'client', targets: [{ host, port: 8080 }], load: {}, payloadBytes },
        stack: insideOf(left, '10.50.0.1', false),
      }),
    ]);
    return far.of('udp.received') / (near.cpu + far.cpu);
  } finally {
    cable.remove();
  }
};

/** Rows that need network namespaces and strongSwan, as they are measured. */
export async function* measureNetwork(): AsyncGenerator<Row[]> {
  yield await measureHandshakes();
  yield await measureHttp();
  const libipsec = await measureLibipsec();
  const name = `ESP packets of 1,400 bytes against kernel-libipsec, ${libipsec.toFixed(0)} a second and core`;
  yield [{ name, value: (await measureEsp()) / libipsec, goal: 1.5 }];
}
