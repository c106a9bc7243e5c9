import { type Static, Type } from 'typebox';
import { Timestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf } from '../../schema.ts';

const MaybeNumber = (description: string) => Nullable(Type.Number({ description }));

const Limits = Component('CapabilityLimits', {
  maxPps: MaybeNumber('Packets a second; null: not known'),
  maxBps: MaybeNumber('Bits a second; null: not limited'),
  maxSessions: MaybeNumber('Sessions at once; null: not known'),
});

const ability = {
  name: Type.String(),
  available: Type.Boolean(),
  engine: Type.String({ description: 'The engine that would be used; empty when there is none' }),
  engineVersion: Type.String(),
  limits: Limits,
  missing: Type.Array(Type.String(), { description: 'Programs and rights that are missing' }),
  reason: Type.String({ description: 'Why it is not available' }),
};

const PluginCapability = Component('PluginCapability', { id: Type.Integer(), ...ability });
const PlaneCapability = Type.Object(
  { plane: OneOf(['access', 'control']), ...ability },
  { title: 'PlaneCapability', description: 'One protocol of a plane' },
);

/** Capabilities of an agent, and why others are missing. */
export const AgentCapabilities = Component('AgentCapabilities', {
  plugins: Type.Array(PluginCapability),
  planes: Type.Array(PlaneCapability),
  stack: Type.Object(ability, {
    title: 'StackCapability',
    description: 'Emulated hosts with addresses, MACs and tunnels of their own',
  }),
  system: Type.Object({
    caps: Type.Array(Type.String(), { description: 'Capabilities of its process, such as CAP_NET_RAW' }),
    hugepages: Type.Integer(),
    dpdk: Type.Boolean(),
    rdmaDevices: Type.Array(Type.String()),
  }),
});
export type AgentCapabilities = Static<typeof AgentCapabilities>;

/** Health of an agent's machine: one sample, or the average of an interval. */
export const AgentHealthPoint = Component('AgentHealthPoint', {
  ts: Timestamp,
  cpuPct: Type.Array(Type.Number(), { description: 'Of each core' }),
  memoryUsedMb: Type.Number(),
  load1: Type.Number(),
  diskFreeMb: Type.Number(),
  interfaces: Type.Array(
    Type.Object({
      name: Type.String(),
      rxBps: Type.Number(),
      txBps: Type.Number(),
      rxPps: Type.Number(),
      txPps: Type.Number(),
      rxDrops: Type.Number({ description: 'Sum over the span, like `txDrops`' }),
      txDrops: Type.Number(),
    }),
  ),
});
export type AgentHealthPoint = Static<typeof AgentHealthPoint>;

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export const AgentLogLine = Component('AgentLogLine', {
  ts: Timestamp,
  level: OneOf(logLevels),
  source: Type.String(),
  message: Type.String(),
});
