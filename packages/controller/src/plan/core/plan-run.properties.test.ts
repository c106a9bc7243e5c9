import { type ConfigurationEntry, findPlugin } from '@rushhour/contract';
import { findAddress, readRange } from '@rushhour/pools';
import { Job, type Sources } from '@rushhour/protocol';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../schema-check.ts';
import { planners } from '../plugins/planners.ts';
import { configProblems } from '../testing/engine-check.ts';
import { knownRecords } from '../testing/known-records.ts';
import { agentOf, entryOf, inputOf, interfaceOf, networkOf } from '../testing/plan-fixture.ts';
import { arbitraryOf } from '../testing/schema-arbitrary.ts';
import type { RunPlan } from './agent-plan.ts';
import { planRun } from './plan-run.ts';

const agents = [1, 2, 3, 4].map((id) =>
  agentOf(id, { interfaces: [interfaceOf(id === 1 ? 7 : 10 + id, `10.9.0.${id}/24`)] }),
);
const networks = [
  networkOf(1, '10.20.0.0/24'),
  networkOf(2, '10.21.0.0/16', { excludes: ['10.21.0.64/26'], pattern: '10.21.*.1-50', ports: '2000-3000' }),
  networkOf(3, 'fd00:20::/64'),
  networkOf(4, '10.20.0.128/25'),
];
const ids = {
  agent: [1, 2, 3, 4],
  network: [1, 2, 3, 4],
  interface: [7],
  certificate: [1],
  file: [1],
  dictionary: [1],
};
const records = {
  agents,
  networks,
  ...knownRecords,
};

const checkJob = createSchemaCheck(Job);
const jobsOf = ({ agents: plans }: RunPlan) =>
  plans.flatMap(({ agentId, jobs }) => jobs.map((planned) => ({ agentId, ...planned })));

const valuesOfPlugin = (id: number) => {
  const plugin = findPlugin(id);
  if (plugin === undefined) throw new Error(`no plugin ${id}`);
  return arbitraryOf(plugin.schema, ids) as fc.Arbitrary<Record<string, unknown>>;
};
const anyValues = new Map([...planners.keys()].map((id) => [id, valuesOfPlugin(id)]));
const entriesOf = (id: number, more: fc.Arbitrary<object>): fc.Arbitrary<ConfigurationEntry> =>
  fc
    .tuple(anyValues.get(id) as fc.Arbitrary<object>, more)
    .map(([chosen, valid]) => entryOf(id, only(id, withinReach({ ...chosen, ...valid }))));
const entriesWith = (more: fc.Arbitrary<object>) => fc.oneof(...[...planners.keys()].map((id) => entriesOf(id, more)));
/** Requests of a WAF test are built by its modules, which leaves them few members of `httpParams`. */
const ofWaf = ({ host: _, headers: __, cookies: ___, ...http }: Record<string, unknown>) => http;
/** Few cases show as much as ten thousand, and signatures, samples and campaigns are those that are there. */
const withinReach = (values: Record<string, unknown>) => {
  const given = values as Record<string, Record<string, unknown>>;
  const { fuzzingParams: fuzzing, cveReplayParams: replay, compromisedHostParams: host, harReplayParams: har } = given;
  const { applicationParams: played, pcapReplayParams: frames, payload, wafModules: waf, httpParams: http } = given;
  return {
    ...values,
    ...(values['malwareFiles'] !== undefined && { malwareFiles: [1] }),
    ...(frames && { pcapReplayParams: { ...frames, filter: {} } }),
    ...(payload && 'tunnel' in payload && { payload: { ...payload, tunnel: undefined } }),
    ...(har && { harReplayParams: { ...har, hostMap: [{ from: '*', to: 'server' }], users: 9 } }),
    ...(played && {
      applicationParams: { ...played, applications: [{ applicationId: 1, users: 9 }], portMode: 'mapped' },
    }),
    ...(waf && { wafModules: { ...waf, modules: [{ name: 'xss' }], detection: {} } }),
    ...(waf && http && { httpParams: ofWaf(http) }),
    ...(host && { compromisedHostParams: { campaignIds: [1] } }),
    ...(fuzzing && {
      fuzzingParams: {
        ...fuzzing,
        baseline: {
          ...(fuzzing['baseline'] as object),
          kind: 'request',
          request: { kind: 'http', method: 'GET', path: '/?id=1' },
        },
        ...{ maxCases: 20, protocol: 'http', place: 'infix' },
        targets: [{ part: 'query', keys: ['id'] }],
        mutators: [{ name: 'bit-flip' }, { name: 'repeat' }],
      },
    }),
    ...(replay && { cveReplayParams: { ...replay, signatureIds: [1], filter: undefined, repeat: 1 } }),
  };
};
/** What the plugin takes and its engine does; members that choose the stack are given by sides on the stack. */
const only = (id: number, all: Record<string, unknown>) => {
  const values = id === 12 || id === 13 ? withKeys(all) : all;
  const { properties } = findPlugin(id)?.schema ?? { properties: {} };
  const { tcpConfiguration, invalidChecksum, tunnelID, ...rest } = values;
  const given = Object.entries({ ...rest, ...(id > 3 && { invalidChecksum }) });
  return supported({ properties } as TSchema, Object.fromEntries(given.filter(([name]) => !name.startsWith('tunnel'))));
};
/** IPsec with keys, algorithms and addresses that fit each other; IKE has no other ports. */
const withKeys = ({ clientPortRange: _, targets, ...rest }: Record<string, unknown>): Record<string, unknown> => {
  const kept =
    /^(sources|isServer|duration|ipLayer|rotationMode|ipsec(Pfs|Natt|Dpd|Rekey|Sa|.*HsRate|.*Keepalive|.*Recycle))/;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => kept.test(name))),
    targets: ((targets ?? []) as { ports?: string }[]).map(({ ports: __, ...target }) => target),
    ipsecPsk: 'a long secret',
    ipsecTunnelCount: 50,
  };
};
const supported = (schema: TSchema, value: unknown): Record<string, unknown> => {
  const { properties = {}, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  if (Array.isArray(value)) return (items ? value.map((part) => supported(items, part)) : value) as never;
  if (typeof value !== 'object' || value === null || Object.keys(properties).length === 0) return value as never;
  const known = Object.entries(value).filter(([name]) => properties[name] && !('x-ignored' in properties[name]));
  return Object.fromEntries(known.map(([name, part]) => [name, supported(properties[name] as TSchema, part)]));
};

const agent = fc.constantFrom(1, 2, 3, 4).map((id) => ({ agent: { id } }));
const network = fc.constantFrom(1, 2).map((id) => ({ network: { id } }));
const ports = fc.constantFrom({}, { ports: '80' }, { ports: '8000-8003,9000' });
const merged = (...parts: fc.Arbitrary<object>[]) => fc.tuple(...parts).map((all) => Object.assign({}, ...all));
const kernelSides = fc.record({
  sources: fc.array(merged(agent, fc.oneof(fc.constant({}), network)), { minLength: 1, maxLength: 3 }),
  targets: fc.array(
    fc.oneof(
      merged(agent, ports),
      merged(agent, ports, fc.constant({ network: { id: 4 } })),
      merged(
        fc.constantFrom('10.20.3.4', '10.0.0.3').map((ip) => ({ ip })),
        ports,
      ),
    ),
    { minLength: 1, maxLength: 3 },
  ),
  duration: fc.constantFrom({}, { mode: 'count', count: 100 }, { mode: 'continuous' }, { seconds: 60, rampUpSec: 5 }),
  ipLayer: fc.constantFrom({}, { srcMode: 'random' }),
  isServer: fc.constantFrom(false, false, true),
  clientPortRange: fc.constant('2000-60000'),
  frameSize: fc.constantFrom(128, 1518),
});
/** Every agent has addresses of its own, and a header field that the kernel does not set. */
const stackSides = kernelSides.chain((sides) =>
  fc.record({
    ...Object.fromEntries(Object.entries(sides).map(([name, value]) => [name, fc.constant(value)])),
    sources: fc.array(merged(agent, fc.constant({ network: { id: 2 } })), { minLength: 1, maxLength: 3 }),
    targets: fc.array(
      fc.oneof(
        merged(agent, ports, fc.constant({ network: { id: 4 } })),
        merged(agent, ports, fc.constant({ ip: '10.22.3.4' })),
        merged(fc.constant({ ip: '10.20.3.4' }), ports),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    ipLayer: fc.constantFrom({ ttl: 9 }, { vlan: [{ id: 5 }, { id: 6, pcp: 1 }] }),
  }),
);
const validSides = fc.oneof(kernelSides, stackSides);
const validEntries = entriesWith(validSides);
const anyEntries = entriesWith(fc.constant({}));

const isCovered = (host: string, allowed: readonly string[]): boolean => {
  const address = findAddress(host);
  return allowed.some((text) => {
    const range = readRange(text);
    if (address === undefined || 'code' in range || range.version !== address.version) return false;
    return address.value >= range.first && address.value <= range.last;
  });
};

/** They build frames without the stack. */
const framePlugins = [7, 8, 14, 20];

describe('any plan', () => {
  it('is made of whatever fits its plugin, with pointers to what is wrong', () => {
    fc.assert(
      fc.property(fc.array(anyEntries, { minLength: 1, maxLength: 2 }), (configuration) => {
        for (const { path, code } of planRun(inputOf(configuration, records)).issues) {
          expect(path).toMatch(code === 'TOO_MANY_ISSUES' ? /^$/ : /^\/configuration\/[01]\//);
          expect(code).toMatch(/^[A-Z][A-Z0-9_]+$/);
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });

  it.each([...planners.keys()])('gives engines only what they take, and agents only orders: plugin %i', (id) => {
    const planned = new Set<string>();
    const checkPlan = (entry: ConfigurationEntry) => {
      const plan = planRun(inputOf([entry], records));
      if (plan.issues.some(({ severity }) => severity === 'error')) return;
      for (const { job, role } of jobsOf(plan)) {
        planned.add(role);
        if (job.stack !== undefined) planned.add(`${role} on the stack`);
        expect(configProblems(job)).toEqual([]);
        expect(checkJob({ runId: 1, epoch: 0, ...structuredClone(job) })).toEqual([]);
      }
    };
    for (const sides of [kernelSides, stackSides]) {
      fc.assert(fc.property(entriesOf(id, sides), checkPlan), { numRuns: 60, endOnFailure: true });
    }
    const both = (role: string) => (framePlugins.includes(id) ? [role] : [role, `${role} on the stack`]);
    expect([...planned].sort()).toEqual(id === 6 ? both('server') : [...both('client'), ...both('server')]);
  });

  it('sends only to what it allows, and allows only settings and agents', () => {
    const allowedTargets = ['10.20.0.0/16', 'fd00::/8'];
    let judged = 0;
    fc.assert(
      fc.property(validEntries, (entry) => {
        for (const { role, job } of jobsOf(planRun(inputOf([entry], { ...records, allowedTargets })))) {
          if (role === 'server') continue;
          const { targets } = job.config as { targets: { host: string }[] };
          expect(targets.filter(({ host }) => !isCovered(host, job.allowedTargets ?? []))).toEqual([]);
          const singles = (job.allowedTargets ?? []).filter((text) => !allowedTargets.includes(text));
          for (const text of singles)
            expect(text).toMatch(
              /^(10\.0\.0\.[1-4]\/32|10\.9\.0\.[1-4]\/32|10\.22\.3\.4\/32|127\.0\.0\.1\/32|::1\/128)$/,
            );
          judged += targets.length;
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
    expect(judged).toBeGreaterThan(100);
  });

  it('divides rates and numbers so that they add up', () => {
    const sources = fc.array(
      fc.record({
        agent: fc.record({ id: fc.constantFrom(1, 2, 3) }),
        weight: fc.double({ min: 0.5, max: 100, noNaN: true }),
      }),
      { minLength: 1, maxLength: 12 },
    );
    const amount = fc.integer({ min: 200, max: 1_000_000 });
    fc.assert(
      fc.property(sources, amount, amount, (from, rate, total) => {
        const load = { requestsPerSecond: rate, sessionsPerSecond: rate, totalSessions: total };
        const duration = { mode: 'count', count: total };
        const entry = entryOf(1, { sources: from, targets: [{ agent: { id: 4 } }], ...load, duration });
        const clients = jobsOf(planRun(inputOf([entry], records))).filter(({ role }) => role === 'client');
        const sum = (of: (job: (typeof clients)[number]) => number) => clients.reduce((all, one) => all + of(one), 0);
        type Config = { load: { rate: number }; sessionsPerSecond: number; totalSessions: number };
        expect(sum(({ job }) => (job.config as Config).load.rate)).toBe(rate);
        expect(sum(({ job }) => (job.config as Config).sessionsPerSecond)).toBe(rate);
        expect(sum(({ job }) => (job.config as Config).totalSessions)).toBe(total);
        expect(sum(({ job }) => job.duration.count)).toBe(total);
        expect(sum(({ share }) => share)).toBeCloseTo(1, 9);
      }),
      { endOnFailure: true },
    );
  });

  it('gives no address of a network to two agents, and every one to some agent', () => {
    const shape = fc.record({
      prefix: fc.integer({ min: 22, max: 29 }),
      excluded: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 5 }),
      users: fc.uniqueArray(fc.constantFrom(1, 2, 3, 4), { minLength: 1 }),
    });
    fc.assert(
      fc.property(shape, ({ prefix, excluded, users }) => {
        const size = 2 ** (32 - prefix);
        const excludes = excluded.filter((host) => host < size).map((host) => `10.30.0.${host}`);
        const network = networkOf(9, `10.30.0.0/${prefix}`, { excludes });
        const sources = users.map((id) => ({ agent: { id }, network: { id: 9 } }));
        const plan = planRun(
          inputOf([entryOf(2, { sources, targets: [{ ip: '10.0.0.4' }] })], { ...records, networks: [network] }),
        );
        const seen = new Map<bigint, number>();
        for (const { agentId, job, role } of jobsOf(plan)) {
          if (role === 'server') continue;
          const own = addressesOf((job.config as { sources: Sources }).sources);
          expect(own.filter((value) => (seen.get(value) ?? agentId) !== agentId)).toEqual([]);
          for (const value of own) seen.set(value, agentId);
        }
        const edges = new Set([`10.30.0.0`, ...excludes]);
        const last = (10n << 24n) + (30n << 16n) + BigInt(size - 1);
        const expected = size - new Set([...edges].map((text) => findAddress(text)?.value)).add(last).size;
        expect(seen.size).toBe(expected);
      }),
    );
  });
});

/** As an agent expands them. */
const addressesOf = ({ addresses, networks: cidrs, ranges }: Sources): bigint[] => {
  const wholes = [...addresses, ...ranges].flatMap((text) => valuesOf(text));
  const hosts = cidrs.flatMap((cidr) => valuesOf(cidr).slice(1, -1));
  return [...wholes, ...hosts];
};

const valuesOf = (text: string): bigint[] => {
  const range = readRange(text);
  if ('code' in range) throw new Error(range.message);
  return Array.from({ length: Number(range.last - range.first) + 1 }, (_, i) => range.first + BigInt(i));
};
