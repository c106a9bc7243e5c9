import { type Static, Type } from 'typebox';
import { amount, count, instant, long, ordinal, short } from '../bounds.ts';

const closed = { additionalProperties: false } as const;

/** A network interface of the agent's machine. `id` is derived from MAC and name and is stable across restarts. */
export const AgentInterface = Type.Object(
  {
    id: ordinal(),
    name: short(),
    mac: short(),
    mtu: count(),
    speedMbps: Type.Union([Type.Integer({ minimum: -1, maximum: 1e9 }), Type.Null()]),
    link: Type.Union([Type.Literal('up'), Type.Literal('down'), Type.Literal('unknown')]),
    ips: Type.Array(short(), { maxItems: 100_000, description: 'Addresses with prefix length.' }),
    driver: short(),
    role: Type.Union([Type.Literal('mgmt'), Type.Literal('test')], {
      description: 'mgmt: the interface that reaches the controller.',
    }),
    usable: Type.Boolean(),
    reason: long({ description: 'Reason why it is not usable.' }),
  },
  closed,
);
export type AgentInterface = Static<typeof AgentInterface>;

/** Whether an engine can run on the agent, or the reason why not. */
export const EngineAbility = Type.Object(
  {
    engine: short(),
    available: Type.Boolean(),
    way: short({ description: 'Data path on this machine, such as `node:net`.' }),
    version: short(),
    missing: Type.Array(short(), { maxItems: 64 }),
    reason: long(),
  },
  closed,
);
export type EngineAbility = Static<typeof EngineAbility>;

/** Facts about the agent's machine, sent on connect and after every rescan. */
export const AgentFacts = Type.Object(
  {
    hostname: short(),
    machineId: short({ description: 'The same for all agents on one machine and network namespace.' }),
    version: short(),
    os: short(),
    kernel: short(),
    arch: short(),
    cpuCores: Type.Integer({ minimum: 1, maximum: 65_536 }),
    memoryMb: count(),
    addresses: Type.Array(short(), { maxItems: 100_000 }),
    interfaces: Type.Array(AgentInterface, { maxItems: 10_000 }),
    engines: Type.Array(EngineAbility, { maxItems: 256 }),
    system: Type.Object(
      {
        caps: Type.Array(short(), { maxItems: 64 }),
        hugepages: count(),
        dpdk: Type.Boolean(),
        rdmaDevices: Type.Array(short(), { maxItems: 256 }),
      },
      closed,
    ),
  },
  closed,
);
export type AgentFacts = Static<typeof AgentFacts>;

/** Health of the agent's machine. Rates cover the time since the previous report. */
export const AgentHealth = Type.Object(
  {
    cpuPct: Type.Array(amount(), { maxItems: 65_536, description: 'Utilisation of each core.' }),
    memoryUsedMb: amount(),
    load1: amount(),
    interfaces: Type.Array(
      Type.Object(
        {
          name: short(),
          rxBps: amount(),
          txBps: amount(),
          rxPps: amount(),
          txPps: amount(),
          rxDrops: amount({ description: 'Since the previous report, like `txDrops`.' }),
          txDrops: amount(),
        },
        closed,
      ),
      { maxItems: 10_000 },
    ),
    diskFreeMb: amount(),
  },
  closed,
);
export type AgentHealth = Static<typeof AgentHealth>;

export const LogLine = Type.Object(
  {
    ts: instant({ description: 'Milliseconds since 1970.' }),
    level: Type.Union([Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
    source: short(),
    message: long(),
    runId: Type.Optional(ordinal()),
  },
  closed,
);
export type LogLine = Static<typeof LogLine>;
