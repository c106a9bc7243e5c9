import type { AgentFacts, AgentHealth } from '@rushhour/protocol';
import { flag, integer, json, maybeInteger, maybeText, real, text } from '../engine/column.ts';

export const agents = {
  id: integer,
  uuid: text,
  name: text,
  hostname: text,
  machineId: text,
  version: text,
  publicKey: text,
  bootId: text,
  /** As the interface numbers it; `isBlocked` wins over it. */
  status: integer,
  isBlocked: flag,
  tags: text,
  comment: text,
  addresses: json<string[]>([]),
  os: text,
  kernel: text,
  arch: text,
  cpuCores: integer,
  memoryMb: integer,
  clockOffsetMs: real,
  roundTripMs: real,
  interfaces: json<AgentFacts['interfaces']>([]),
  engines: json<AgentFacts['engines']>([]),
  system: json<AgentFacts['system']>({ caps: [], hugepages: 0, dpdk: false, rdmaDevices: [] }),
  /** 0 = no limit. */
  maxConcurrentTasks: integer,
  maxBps: integer,
  reservedBy: maybeInteger,
  reservedReason: text,
  reservedUntil: maybeText,
  /** Incremented with every reservation; holders of an older number have lost it. */
  fence: integer,
  /** A run was lost on it: it must answer `reset` before new work. */
  needsReset: flag,
  enrolledAt: text,
  lastSeenAt: maybeText,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
  deletedAt: maybeText,
};

export const agentTokens = {
  id: integer,
  name: text,
  hash: text,
  usesLeft: integer,
  expiresAt: text,
  tags: text,
  issuerID: maybeInteger,
  createdAt: text,
};

export const agentHealth = { agentID: integer, at: integer, health: json<AgentHealth>({} as AgentHealth) };

export const agentLogs = {
  id: integer,
  agentID: integer,
  runID: maybeInteger,
  ts: integer,
  level: text,
  source: text,
  message: text,
};

/** Which file is on which agent. */
export const agentFiles = {
  agentID: integer,
  sha256: text,
  state: text,
  bytes: integer,
  error: text,
  updatedAt: text,
};

/** The controller that takes in what an agent measures; of several that share the database. */
export const agentHomes = { agentID: integer, controller: text };
