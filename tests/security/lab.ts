import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SecurityReport } from '../../packages/controller/src/security/verdicts/security-report.ts';
import { requireProgram } from '../engines/programs.ts';
import { type AgentProcess, type System, startSystem, until, untilStatus } from '../system/system.ts';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** The addresses of the device under test on both sides. */
export const addresses = { client: '10.97.1.1', device: '10.97.1.2', deviceInside: '10.97.2.1', server: '10.97.2.2' };

/** A client agent, a device and a server agent, each in its own network namespace; the agents reach the controller out of band. */
export interface Lab {
  readonly system: System;
  readonly client: AgentProcess;
  readonly server: AgentProcess;
  /** Runs a program in the namespace of the device and waits for its end. */
  inDevice(program: string, ...args: string[]): string;
  /** The same in the namespace of the client, without waiting in the way of others. */
  inClient(program: string, ...args: string[]): Promise<string>;
  /** Starts a daemon there; it ends with the device. */
  startInDevice(program: string, ...args: string[]): () => Promise<void>;
  /** Writes a file for programs of the device; returns its path. */
  file(name: string, text: string): string;
  readonly folder: string;
  close(): Promise<void>;
}

interface Link {
  readonly from: readonly [namespace: string | undefined, device: string, address: string];
  readonly to: readonly [namespace: string, device: string, address: string];
}

const cable = ({ from, to }: Link) => {
  const netnsOf = (namespace: string | undefined) => (namespace === undefined ? [] : ['netns', namespace]);
  ip('link', 'add', from[1], ...netnsOf(from[0]), 'type', 'veth', 'peer', 'name', to[1], ...netnsOf(to[0]));
  for (const [namespace, device, address] of [from, to]) {
    const inside = namespace === undefined ? [] : ['-n', namespace];
    ip(...inside, 'addr', 'add', `${address}/24`, 'dev', device);
    ip(...inside, 'link', 'set', device, 'up');
  }
};

interface LabNetwork {
  readonly namespaces: Record<'client' | 'device' | 'server', string>;
  /** Addresses of the controller, as the client, the server and an agent of the device reach it. */
  readonly controllers: readonly [client: string, server: string, device: string];
  remove(): void;
}

/** Names of agents and of their interfaces in the test; the device has an agent of its own if it has a name. */
export interface LabNames {
  readonly client: string;
  readonly server: string;
  readonly clientInterface: string;
  readonly serverInterface: string;
  readonly deviceInterfaces: readonly [outer: string, inner: string];
  readonly device?: string;
}

const defaultNames: LabNames = {
  ...{ client: 'outside', server: 'inside', clientInterface: 'out', serverInterface: 'in' },
  deviceInterfaces: ['outer', 'inner'],
};

const connectNamespaces = ({ client, device, server }: LabNetwork['namespaces'], names: LabNames) => {
  for (const namespace of [client, device, server]) {
    ip('netns', 'add', namespace);
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
  }
  const [outer, inner] = names.deviceInterfaces;
  cable({ from: [client, names.clientInterface, addresses.client], to: [device, outer, addresses.device] });
  cable({ from: [server, names.serverInterface, addresses.server], to: [device, inner, addresses.deviceInside] });
  ip('-n', client, 'route', 'add', '10.97.2.0/24', 'via', addresses.device);
  ip('-n', server, 'route', 'add', '10.97.1.0/24', 'via', addresses.deviceInside);
  ip('netns', 'exec', device, 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
};

/** Several labs may exist at once, and all of them share the controller's namespace: a number that no other lab has. */
const freeNumber = (): number => {
  const taken = ip('-o', '-4', 'addr').toString();
  const numbers = Array.from({ length: 250 }, (_, i) => (process.pid + i) % 250);
  const free = numbers.find((number) => !taken.includes(` 10.98.${number}.`));
  if (free === undefined) throw new Error('250 labs exist: some of them were not removed');
  return free;
};

const createNetwork = (names: LabNames): LabNetwork => {
  const id = `rs${process.pid % 100_000}`;
  const free = freeNumber();
  const [first, second, third] = [`10.98.${free}`, `10.96.${free}`, `10.95.${free}`] as const;
  const namespaces = { client: `${id}c`, device: `${id}d`, server: `${id}s` };
  const remove = () => {
    for (const namespace of Object.values(namespaces)) {
      try {
        ip('netns', 'del', namespace);
      } catch {
        // It was never created.
      }
    }
  };
  try {
    connectNamespaces(namespaces, names);
    cable({ from: [undefined, `${id}m1`, `${first}.1`], to: [namespaces.client, 'manage', `${first}.2`] });
    cable({ from: [undefined, `${id}m2`, `${second}.1`], to: [namespaces.server, 'manage', `${second}.2`] });
    if (names.device !== undefined)
      cable({ from: [undefined, `${id}m3`, `${third}.1`], to: [namespaces.device, 'manage', `${third}.2`] });
  } catch (error) {
    remove();
    throw error;
  }
  return { namespaces, controllers: [`${first}.1`, `${second}.1`, `${third}.1`], remove };
};

/** A controller with the two agents of the lab. */
const startAgents = async ({ namespaces, controllers }: LabNetwork, names: LabNames) => {
  const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
  const at = (address: string) => system.url.replace('0.0.0.0', address);
  try {
    const [client, server] = await Promise.all([
      system.addAgent(names.client, { namespace: namespaces.client, url: at(controllers[0]) }),
      system.addAgent(names.server, { namespace: namespaces.server, url: at(controllers[1]) }),
      names.device && system.addAgent(names.device, { namespace: namespaces.device, url: at(controllers[2]) }),
    ]);
    return { system, client, server };
  } catch (error) {
    await system.close();
    throw error;
  }
};

const startIn = (namespace: string, program: string, args: readonly string[]) => {
  const child = spawn('ip', ['netns', 'exec', namespace, program, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  return async () => {
    child.kill('SIGTERM');
    await gone;
  };
};

export const createLab = async (names: LabNames = defaultNames): Promise<Lab> => {
  for (const program of ['ip', 'nft', 'nginx', 'haproxy']) requireProgram(program);
  const network = createNetwork(names);
  const { device } = network.namespaces;
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-lab-'));
  const remove = () => {
    network.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  const stops: (() => Promise<void>)[] = [];
  const agents = await startAgents(network, names).catch((error) => {
    remove();
    throw error;
  });
  return {
    ...agents,
    folder,
    inDevice: (program, ...args) =>
      execFileSync('ip', ['netns', 'exec', device, program, ...args], { encoding: 'utf8', timeout: 120_000 }),
    inClient: async (program, ...args) => {
      const { client } = network.namespaces;
      const options = { maxBuffer: 1 << 28 };
      return (await promisify(execFile)('ip', ['netns', 'exec', client, program, ...args], options)).stdout;
    },
    startInDevice: (program, ...args) => {
      const stop = startIn(device, program, args);
      stops.push(stop);
      return stop;
    },
    file: (name, text) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    close: async () => {
      for (const stop of stops) await stop();
      await agents.system.close();
      remove();
    },
  };
};

/** Waits until a program in the device listens on the port. */
export const untilListening = (lab: Lab, port: number) =>
  until(`port ${port} of the device`, async () => lab.inDevice('ss', '-ltnH', `sport = :${port}`).trim() !== '');

/** The result of one attempt. */
type AttackRow = SecurityReport['attempts'][number];

interface Attacked {
  readonly values: object;
  /** The target of the client: the device itself, or the server behind it. */
  readonly to: string;
  readonly port: number;
  readonly thresholds?: readonly object[];
  readonly plugin?: number;
  /** An existing task, to run it again. */
  readonly task?: number;
  /** Further members of the start request. */
  readonly start?: object;
  /** Runs during the test. */
  readonly during?: () => Promise<void>;
}

/** Runs a security test between the two agents and returns the result of each attempt. */
export const attack = async (
  lab: Lab,
  { values, to, port, thresholds = [], plugin = 15, start = {}, during, task: again }: Attacked,
) => {
  const task = {
    comment: 'security test',
    configuration: [
      {
        plugin: { id: plugin },
        values: {
          sources: [{ agent: { id: lab.client.id } }],
          targets: [{ agent: { id: lab.server.id }, ip: to, ports: String(port) }],
          ...values,
        },
      },
    ],
  };
  const { client } = lab.system;
  const { data: id } = again === undefined ? await client.tasks.create({ body: task as never }) : { data: again };
  const { data: started } = await client.tasks.start({ params: { id }, body: { thresholds, ...start } as never });
  await during?.();
  await untilStatus(client, id, [7, 8, 9]);
  const { data: result } = await client.tasks.run({ params: { id, runId: started.runId }, query: { full: true } });
  const report = await reportOf(lab, id, result.id, 'json');
  const { security } = JSON.parse(report) as { security: SecurityReport };
  return { id, runId: result.id, result, security, attempts: security.attempts, rates: security.rates };
};

/** A downloaded report. */
export const reportOf = async (lab: Lab, id: number, runId: number, format: 'json' | 'csv' | 'junit' | 'html') => {
  const answer = await lab.system.client.tasks.report({ params: { id, runId }, query: { format } });
  return answer.text();
};

/** Counts by outcome and mechanism. */
export const tally = (attempts: readonly AttackRow[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind, outcome, mechanism } of attempts) {
    const key = `${kind === 'benign' ? 'benign ' : ''}${outcome}${mechanism === null ? '' : ` ${mechanism}`}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};
