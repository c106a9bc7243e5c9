import type { Duration } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import type { EngineRecord, Samples } from './samples.ts';

export type { Counter, EngineRecord, Gauge, Samples } from './samples.ts';

/** What an engine may know about the machine before it says whether it can run there. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly cpuCores: number;
  /** True when routes and addresses may be set. */
  readonly isNetAdmin: boolean;
  /** The addresses of the machine's own interfaces. */
  readonly addresses: readonly string[];
  /** Packets of the run are captured here: what is sent must pass where captures look. */
  readonly isCaptured?: boolean;
}

/** Whether an engine can run on a machine, which way it would take, and if it cannot, why. */
export type Availability =
  | { readonly isAvailable: true; readonly path: string }
  | { readonly isAvailable: false; readonly missing: readonly string[]; readonly reason: string };

export interface EngineContext<Config> {
  readonly config: Config;
  /** Engines obey `count` and shape their load by the ramps; the planned end itself comes by `signal`. */
  readonly duration: Duration;
  readonly samples: Samples;
  readonly host: Host;
  /** Which of how many cores this is. Servers on several cores listen with `reusePort`. */
  readonly core: { readonly index: number; readonly count: number };
  /**
   * Aborted when the run is stopped, fails or reaches its end.
   * An engine then winds down and returns from `start`; it does not throw.
   */
  readonly signal: AbortSignal;
  /** The address of a host named in `targetsOf`, resolved and found allowed. Engines never resolve names themselves. */
  addressOf(host: string): string;
  /** Tells what was seen of one attempt or trial; it travels with the summaries and arrives exactly once. */
  record(record: EngineRecord): void;
  /** Says how far it has come, for those who watch the run. */
  progress(message: string): void;
  /** Records what the reader of the result must know, such as fewer source addresses than ordered. */
  note(remark: string): void;
}

/** A prepared engine: sockets are open and files are read, but no packet has been sent. */
export interface PreparedEngine {
  /** Resolves when the engine has done what was ordered or has wound down after the signal. */
  start(): Promise<void>;
  /** Always called, exactly once, after `start` has ended or instead of it. */
  close(): Promise<void>;
}

/** A run that can cease sending and go on later, keeping its sessions. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** New values of the load; what is left out stays as it is. */
export interface LoadChange {
  readonly requestsPerSecond?: number;
  readonly packetsPerSecond?: number;
  readonly sessionsPerSecond?: number;
}

/** A run whose load can be changed while it runs. */
export interface LoadChangeable {
  /** Says why, when this run has no such load. */
  changeLoad(change: LoadChange): { readonly rejected?: string };
}

/** A run that itself tells where the generator was the limit: its strain says nothing about the whole. */
export interface SelfJudging {
  readonly judgesItself: true;
}

export const isSelfJudging = (run: PreparedEngine): run is PreparedEngine & SelfJudging =>
  'judgesItself' in run && run.judgesItself === true;
export const isPausable = (run: PreparedEngine): run is PreparedEngine & Pausable => 'pause' in run && 'resume' in run;
export const isLoadChangeable = (run: PreparedEngine): run is PreparedEngine & LoadChangeable => 'changeLoad' in run;

/** One way of generating traffic. `prepare` may be slow; `start` must not be. */
export interface Engine<Config = unknown> {
  readonly id: string;
  /** Describes `Config`; what comes from outside is checked against it. */
  readonly config: TSchema;
  /** Every host this configuration would send to, so that the agent can refuse it before anything is sent. */
  targetsOf(config: Config): readonly string[];
  check(host: Host): Promise<Availability>;
  prepare(context: EngineContext<Config>): Promise<PreparedEngine>;
}

/** An engine whose load several cores can share. */
export interface Divisible<Config = unknown> {
  /** The share of one of `count` cores; the shares together are the whole. */
  divide(config: Config, index: number, count: number): Config;
}

export const isDivisible = (candidate: Engine): candidate is Engine & Divisible => 'divide' in candidate;
