import type { AgentInterface, EngineAbility } from '@rushhour/protocol';
import { agents } from '../../store/agents/agents.ts';
import type { Store } from '../../store/store.ts';

const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };

interface AgentOptions {
  name?: string;
  isBlocked?: boolean;
  /** Engines it can run. */
  engines?: readonly string[];
  /** Engines it cannot run, with the reason. */
  lacks?: Readonly<Record<string, string>>;
  interfaces?: readonly number[];
}

const ability = (engine: string, reason = ''): EngineAbility => ({
  ...{ engine, available: reason === '', way: 'sockets', version: '1', missing: [], reason },
});

const interfaceOf = (id: number): AgentInterface => ({
  ...{ id, name: `eth${id}`, mac: '02:00:00:00:00:01', mtu: 1500, speedMbps: 1000, link: 'up', ips: [] },
  ...{ driver: '', role: 'test', usable: true, reason: '' },
});

let count = 0;

/** An agent as enrolment leaves it in the store. */
export const storeAgent = (store: Store, options: AgentOptions = {}): Promise<number> => {
  count += 1;
  const { name = `agent ${count}`, isBlocked = false, engines = ['http', 'tcp', 'udp'], lacks = {} } = options;
  return store.change(origin, (tx) =>
    agents.insert(tx, {
      ...{ uuid: `uuid-${name}-${count}`, name, hostname: name, machineId: name, version: '1.0.0', publicKey: '' },
      ...{ bootId: '', status: 1, isBlocked, tags: '', comment: '', addresses: [], os: '', kernel: '', arch: '' },
      ...{ cpuCores: 1, memoryMb: 1, clockOffsetMs: 0, roundTripMs: 0, maxConcurrentTasks: 0, maxBps: 0 },
      ...{ reservedReason: '', fence: 0, needsReset: false, enrolledAt: tx.now },
      interfaces: (options.interfaces ?? []).map(interfaceOf),
      engines: [
        ...engines.map((engine) => ability(engine)),
        ...Object.entries(lacks).map(([engine, reason]) => ability(engine, reason)),
      ],
      system: { caps: [], hugepages: 0, dpdk: false, rdmaDevices: [] },
    }),
  );
};

export const removeAgent = (store: Store, id: number) => store.change(origin, (tx) => agents.remove(tx, [id]));
