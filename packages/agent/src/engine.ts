import type { Duration, PlaneCommand, ResultRow, ResultTable } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import type { AccessGroups } from './access/access-groups.ts';
import type { HostNetwork } from './net/host-network.ts';
import type { EngineRecord, Samples } from './samples.ts';

export type { Counter, EngineRecord, Gauge, Samples } from './samples.ts';

/** Facts about the machine that an engine uses to decide whether it can run. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly cpuCores: number;
  /** The process may change routes and addresses. */
  readonly isNetAdmin: boolean;
  /** The addresses of the machine's own interfaces. */
  readonly addresses: readonly string[];
  /** The run is captured on this machine: packets must pass the capture point of the kernel. */
  readonly isCaptured?: boolean;
  /** The run reports the keys of what it encrypts, so that its captures can be decrypted. */
  readonly writesKeys?: boolean;
  /** Jobs are prepared only to find out whether they could run: nothing may be sent. */
  readonly isDryRun?: boolean;
}

/** Whether an engine can run on a machine: its data path, or the reason why not. */
export type Availability =
  | { readonly isAvailable: true; readonly path: string }
  | { readonly isAvailable: false; readonly missing: readonly string[]; readonly reason: string };

export interface EngineContext<Config> {
  readonly config: Config;
  /** Engines apply `count` and the ramps; the planned end arrives through `signal`. */
  readonly duration: Duration;
  readonly samples: Samples;
  readonly host: Host;
  /** Emulated hosts to use instead of the sockets of the kernel. */
  readonly hostNetwork?: HostNetwork | undefined;
  /** Sessions of this run that carry traffic of its other jobs. */
  readonly accessGroups?: AccessGroups | undefined;
  /** Index and number of cores. Servers on several cores listen with SO_REUSEPORT. */
  readonly core: { readonly index: number; readonly count: number };
  /**
   * Aborted when the run is stopped, fails or ends.
   * The engine then winds down and resolves `start` without throwing.
   */
  readonly signal: AbortSignal;
  /** The resolved and permitted address of a host from `targetsOf`. Engines never resolve names themselves. */
  addressOf(host: string): string;
  /** Reports one attempt or trial. Records are sent with the summaries and arrive exactly once. */
  record(record: EngineRecord): void;
  /** Adds or replaces a row of a table of the run, such as a session with its state. */
  putRow(table: ResultTable, row: ResultRow): void;
  /** Shows progress in the live view of the run. */
  progress(message: string): void;
  /** Adds a remark to the result, such as fewer source addresses than requested. */
  note(remark: string): void;
}

/** A prepared engine: sockets are open and files are read, but no packet has been sent. */
export interface PreparedEngine {
  /** Resolves when the job is done or the engine has wound down after the signal. */
  start(): Promise<void>;
  /** Called exactly once, after `start` has ended or instead of it. */
  close(): Promise<void>;
}

/** An engine that can stop sending and continue later with the same sessions. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** New rates; omitted members stay unchanged. */
export interface LoadChange {
  readonly requestsPerSecond?: number;
  readonly packetsPerSecond?: number;
  readonly sessionsPerSecond?: number;
  /** Connections to keep open. */
  readonly concurrentSessions?: number;
}

/** An engine whose load can change during a run. */
export interface LoadChangeable {
  /** `rejected`: why the load cannot be changed. */
  changeLoad(change: LoadChange): { readonly rejected?: string };
}

/** An engine with emulated sessions, routers or links that obey commands during a run. */
export interface Commandable {
  /** `rejected`: why the command cannot be carried out. */
  command(command: PlaneCommand): { readonly rejected?: string };
}

/** An engine that reports generator limits itself; generator load metrics do not invalidate its run. */
export interface SelfJudging {
  readonly judgesItself: true;
}

export const isSelfJudging = (run: PreparedEngine): run is PreparedEngine & SelfJudging =>
  'judgesItself' in run && run.judgesItself === true;
export const isPausable = (run: PreparedEngine): run is PreparedEngine & Pausable => 'pause' in run && 'resume' in run;
export const isCommandable = (run: PreparedEngine): run is PreparedEngine & Commandable => 'command' in run;
export const isLoadChangeable = (run: PreparedEngine): run is PreparedEngine & LoadChangeable => 'changeLoad' in run;

/** A traffic generator. `prepare` may be slow; `start` must be fast. */
export interface Engine<Config = unknown> {
  readonly id: string;
  /** Schema of `Config`; every configuration is validated against it. */
  readonly config: TSchema;
  /** All hosts this configuration sends to. The agent checks them before anything is sent. */
  targetsOf(config: Config): readonly string[];
  check(host: Host): Promise<Availability>;
  prepare(context: EngineContext<Config>): Promise<PreparedEngine>;
}

/** An engine whose load can be divided among cores. */
export interface Divisible<Config = unknown> {
  /** The share of core `index` of `count`; all shares add up to the whole load. */
  divide(config: Config, index: number, count: number): Config;
}

export const isDivisible = (candidate: Engine): candidate is Engine & Divisible => 'divide' in candidate;
