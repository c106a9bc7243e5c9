import { type Static, Type } from 'typebox';

const closed = { additionalProperties: false } as const;

/** A network interface of the agent's machine. `id` is derived from MAC and name and is stable across restarts. */
export const AgentInterface = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    name: Type.String(),
    mac: Type.String(),
    mtu: Type.Integer(),
    speedMbps: Type.Union([Type.Integer(), Type.Null()]),
    link: Type.Union([Type.Literal('up'), Type.Literal('down'), Type.Literal('unknown')]),
    ips: Type.Array(Type.String(), { description: 'Addresses with prefix length.' }),
    driver: Type.String(),
    role: Type.Union([Type.Literal('mgmt'), Type.Literal('test')], {
      description: 'mgmt: the interface that reaches the controller.',
    }),
    usable: Type.Boolean(),
    reason: Type.String({ description: 'Reason why it is not usable.' }),
  },
  closed,
);
export type AgentInterface = Static<typeof AgentInterface>;

/** Whether an engine can run on the agent, or the reason why not. */
export const EngineAbility = Type.Object(
  {
    engine: Type.String(),
    available: Type.Boolean(),
    way: Type.String({ description: 'Data path on this machine, such as `node:net`.' }),
    version: Type.String(),
    missing: Type.Array(Type.String()),
    reason: Type.String(),
  },
  closed,
);
export type EngineAbility = Static<typeof EngineAbility>;

/** Facts about the agent's machine, sent on connect and after every rescan. */
export const AgentFacts = Type.Object(
  {
    hostname: Type.String(),
    machineId: Type.String({ description: 'The same for all agents on one machine and network namespace.' }),
    version: Type.String(),
    os: Type.String(),
    kernel: Type.String(),
    arch: Type.String(),
    cpuCores: Type.Integer({ minimum: 1 }),
    memoryMb: Type.Integer({ minimum: 0 }),
    addresses: Type.Array(Type.String()),
    interfaces: Type.Array(AgentInterface),
    engines: Type.Array(EngineAbility),
    system: Type.Object(
      {
        caps: Type.Array(Type.String()),
        hugepages: Type.Integer({ minimum: 0 }),
        dpdk: Type.Boolean(),
        rdmaDevices: Type.Array(Type.String()),
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
    cpuPct: Type.Array(Type.Number(), { description: 'Utilisation of each core.' }),
    memoryUsedMb: Type.Number(),
    load1: Type.Number(),
    interfaces: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          rxBps: Type.Number(),
          txBps: Type.Number(),
          rxPps: Type.Number(),
          txPps: Type.Number(),
          rxDrops: Type.Number({ description: 'Since the previous report, like `txDrops`.' }),
          txDrops: Type.Number(),
        },
        closed,
      ),
    ),
    diskFreeMb: Type.Number(),
  },
  closed,
);
export type AgentHealth = Static<typeof AgentHealth>;

export const LogLine = Type.Object(
  {
    ts: Type.Number({ description: 'Milliseconds since 1970.' }),
    level: Type.Union([Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
    source: Type.String(),
    message: Type.String(),
    runId: Type.Optional(Type.Integer()),
  },
  closed,
);
export type LogLine = Static<typeof LogLine>;
