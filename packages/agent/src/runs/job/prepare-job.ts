import type { HostStack, Job } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { AccessGroups } from '../../access/access-groups.ts';
import { openGatewayNetwork } from '../../access/gateway-network.ts';
import { openSessionNetwork, type SessionDeps } from '../../access/session-network.ts';
import { type Engine, type EngineContext, type Host, isDivisible, type PreparedEngine } from '../../engine.ts';
import { type AddressClaim, claimAddresses } from '../../net/addresses/claim-addresses.ts';
import { resolveTargets } from '../../net/addresses/resolve-targets.ts';
import { expandTargets } from '../../net/addresses/target-ranges.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import type { SampleStore } from '../../samples.ts';
import { openHostNetwork } from '../../stack/host-network.ts';
import { checkStack } from '../../stack/ports/open-stack.ts';
import { shareKindOf, stackWorkers } from '../../stack/ports/stack-share.ts';
import { prepareOnCores } from './cores.ts';

export interface PrepareDeps {
  readonly engines: ReadonlyMap<string, Engine>;
  readonly host: Host;
  /** Sessions that jobs of the same run share. */
  readonly accessGroups?: AccessGroups | undefined;
  readonly store: SampleStore;
  readonly signal: AbortSignal;
  readonly note: (remark: string) => void;
  readonly progress?: (message: string) => void;
}

// TypeBox's own types for a schema known only at run time take half a minute to check and add nothing.
const { Check, Clone, Default, Errors } = value as unknown as {
  Check(schema: TSchema, value: unknown): boolean;
  Clone(value: unknown): unknown;
  Default(schema: TSchema, value: unknown): unknown;
  Errors(schema: TSchema, value: unknown): { instancePath: string; message: string }[];
};

/** The schema of the role in the configuration, so that problems are listed individually. */
const schemaFor = (schema: TSchema, config: unknown): TSchema => {
  const { anyOf } = schema as { anyOf?: (TSchema & { properties: { role: { const: string } } })[] };
  const { role } = (config ?? {}) as { role?: string };
  return anyOf?.find((variant) => variant.properties.role.const === role) ?? schema;
};

/** Applies defaults; throws one error with all problems if the configuration does not match the schema. */
export const parseConfig = (engine: Engine, config: unknown): unknown => {
  const schema = schemaFor(engine.config, config);
  const filled = Default(schema, Clone(config));
  if (Check(schema, filled)) return filled;
  const problems = Errors(schema, filled).map((error) => `${error.instancePath || '/'} ${error.message}`);
  throw new JobRejected('BAD_CONFIGURATION', `bad configuration for ${engine.id}: ${problems.join('; ')}`);
};

/** The agent refuses a job; `code` is the reason. */
export class JobRejected extends Error {
  readonly code: 'BAD_CONFIGURATION' | 'ENGINE_UNKNOWN' | 'ENGINE_UNAVAILABLE' | 'NOT_PERMITTED';
  constructor(code: JobRejected['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** All checks that can refuse a job are here, before a socket is opened. */
export const prepareJob = async (job: Job, deps: PrepareDeps): Promise<PreparedEngine> => {
  const engine = deps.engines.get(job.engine);
  if (engine === undefined) throw new JobRejected('ENGINE_UNKNOWN', `unknown engine ${job.engine}`);
  const { config, names } = expandTargets(parseConfig(engine, job.config));
  deps.store.targetNames = names;
  const availability = await engine.check(deps.host);
  if (!availability.isAvailable) {
    throw new JobRejected('ENGINE_UNAVAILABLE', `${engine.id} cannot run here: ${availability.reason}`);
  }
  const addresses = await resolveTargets(engine.targetsOf(config), job.allowedTargets);
  // Without sessions there are no addresses for the engine: the rest is found out by the run.
  if (deps.host.isDryRun && job.stack?.sessions !== undefined) return idleEngine;
  const cores = coresOf(engine, job, { config, note: deps.note });
  if (job.stack !== undefined) requireStack();
  const hostNetwork = job.stack && cores === 1 ? await openHosts(job.stack, deps) : undefined;
  const context: EngineContext<unknown> = {
    config,
    hostNetwork,
    duration: job.duration,
    samples: deps.store,
    host: deps.host,
    accessGroups: deps.accessGroups,
    core: { index: 0, count: 1 },
    signal: deps.signal,
    note: deps.note,
    progress: deps.progress ?? (() => {}),
    record: (record) => deps.store.records.push(record),
    putRow: (table, row) => deps.store.putRow(table, row),
    addressOf: (host) => addressIn(addresses, host),
  };
  const releaseClaims = await claimAll(job.claims ?? [], deps.host);
  const release = async () => {
    await releaseClaims();
    await hostNetwork?.close();
  };
  try {
    return releasing(await prepareEngine(engine, { cores, stack: job.stack, context, addresses, deps }), release);
  } catch (error) {
    await release();
    throw error;
  }
};

const openNetwork = (stack: HostStack, deps: SessionDeps): HostNetwork | Promise<HostNetwork> => {
  if (stack.sessions === undefined) return openHostNetwork(stack, deps);
  return stack.networks.length === 0 ? openSessionNetwork(stack, deps) : openGatewayNetwork(stack, deps);
};

const idleEngine: PreparedEngine = { start: async () => {}, close: async () => {} };

const requireStack = (): void => {
  const availability = checkStack();
  if (!availability.isAvailable) {
    throw new JobRejected('NOT_PERMITTED', `hosts cannot be emulated here: ${availability.reason}`);
  }
};

const openHosts = async (stack: HostStack, deps: PrepareDeps): Promise<HostNetwork> => {
  const { accessGroups = new AccessGroups() } = deps;
  const putRow: SessionDeps['putRow'] = (table, row) => deps.store.putRow(table, row);
  const stackDeps = { ...deps, samples: deps.store, accessGroups, putRow };
  const network = await openNetwork(stack, stackDeps);
  // Before the engine hears that it has to stop: what has arrived by then counts.
  deps.signal.addEventListener('abort', () => network.poll(), { once: true });
  return network;
};

/** How many workers the job has. A note says why they are fewer than ordered. */
const coresOf = (
  engine: Engine,
  { cpuCores, stack }: Job,
  { config, note }: { readonly config: unknown; readonly note: (remark: string) => void },
): number => {
  if (cpuCores === 1) return 1;
  if (!isDivisible(engine)) {
    note(`${engine.id} uses one core, not ${cpuCores}`);
    return 1;
  }
  if (stack === undefined) return cpuCores;
  const { count, reason } = stackWorkers(stack, shareKindOf(config), cpuCores);
  if (reason !== undefined) note(`emulated hosts use ${count} of ${cpuCores} cores: ${reason}`);
  return count;
};

interface Prepared {
  readonly cores: number;
  readonly stack: HostStack | undefined;
  readonly context: EngineContext<unknown>;
  readonly addresses: ReadonlyMap<string, string>;
  readonly deps: PrepareDeps;
}

const prepareEngine = (
  engine: Engine,
  { cores, stack, context, addresses, deps }: Prepared,
): Promise<PreparedEngine> =>
  cores > 1 && isDivisible(engine)
    ? prepareOnCores(engine, { context, cores, addresses, store: deps.store, stack })
    : engine.prepare(context);

/** Claims all addresses or none. */
const claimAll = async (requests: readonly string[], host: Host): Promise<() => Promise<void>> => {
  const claims: AddressClaim[] = [];
  const release = async () => void (await Promise.all(claims.map((claim) => claim.release())));
  for (const request of requests) {
    const claim = await claimAddresses(request, host);
    claims.push(claim);
    if (claim.isComplete) continue;
    await release();
    throw new JobRejected('NOT_PERMITTED', `not permitted to answer for ${request}`);
  }
  return release;
};

/** Releases the claimed addresses when the engine is closed. */
const releasing = (run: PreparedEngine, release: () => Promise<void>): PreparedEngine => {
  const close = run.close.bind(run);
  run.close = () => close().finally(release);
  return run;
};

export const addressIn = (addresses: ReadonlyMap<string, string>, host: string): string => {
  const address = addresses.get(host);
  if (address === undefined) throw new Error(`${host} was not announced as a target`);
  return address;
};
