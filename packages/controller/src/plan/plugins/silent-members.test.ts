import { findPlugin } from '@rushhour/contract';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../schema-check.ts';
import type { RunPlan } from '../core/agent-plan.ts';
import { planRun } from '../core/plan-run.ts';
import { captureRequests } from '../load/capture-sessions.ts';
import { recordingRequests } from '../load/recordings.ts';
import { sampleRequest } from '../load/samples.ts';
import { knownRecords } from '../testing/known-records.ts';
import { agentOf, entryOf, inputOf, interfaceOf, networkOf } from '../testing/plan-fixture.ts';
import { changesOf, isFixed, type Member, membersOf, nameOf, type Values } from '../testing/schema-walk.ts';
import { planners } from './planners.ts';

const agents = [1, 2, 3, 4].map((id) => agentOf(id, { interfaces: [interfaceOf(id, `10.0.0.${id}/24`)] }));
const networks = [networkOf(1, '10.20.0.0/24'), networkOf(2, '10.30.0.0/29')];
const ends = {
  sources: [{ agent: { id: 1 } }, { agent: { id: 3 } }],
  targets: [{ agent: { id: 2 } }, { agent: { id: 4 } }],
};

/** IPsec is of emulated hosts, which have addresses of their own. */
const emulated = {
  sources: [1, 3].map((id) => ({ agent: { id }, network: { id: 1 } })),
  targets: [2, 4].map((id) => ({ agent: { id }, network: { id: 2 } })),
  ipsecPsk: 'a long secret',
};

/** The smallest values of each plugin that make a plan. */
const bases: Readonly<Record<number, Values>> = {
  1: { requestsPerSecond: 100 },
  2: {},
  3: { packetsPerSecond: 100 },
  4: { requestsPerSecond: 100, dnsParams: { names: ['a.test'] } },
  5: {},
  6: {},
  7: { packetsPerSecond: 100 },
  8: { pcapReplayParams: { fileId: 1 } },
  9: { harReplayParams: { fileId: 1 } },
  10: { applicationParams: { applications: [{ applicationId: 1, users: 4 }] } },
  11: { sessionsPerSecond: 100 },
  12: { ...emulated, ipsecTunnelCount: 10 },
  13: { ...emulated, ipsecLoadHsRatePps: 100 },
  14: { rocev2Params: { rateGbps: 1 } },
  15: { wafModules: { modules: [{ name: 'xss' }] } },
  16: { cveReplayParams: { signatureIds: [1] } },
  17: { malwareFiles: [1] },
  18: {
    fuzzingParams: {
      protocol: 'http',
      baseline: { request: { kind: 'http', method: 'GET', path: '/?a=1' } },
      maxCases: 20,
    },
  },
  19: { compromisedHostParams: { campaignIds: [1] } },
  20: { packetsPerSecond: 100 },
};

const inNetworks = {
  sources: [{ agent: { id: 1 }, network: { id: 1 } }],
  targets: [{ agent: { id: 2 }, network: { id: 2 } }],
};

/** A step that names the commanding host. */
const beacon = {
  ...{ idx: 0, name: 'beacon', tactic: 'command-and-control', technique: 'T1071.001', action: 'http-beacon' },
  ...{ direction: 'outbound', protocol: 'http', port: 8081, params: {}, delayMs: 0, jitterPct: 0, repeat: 1 },
  ...{ requires: [], onBlocked: 'stop', expect: 'block', remediation: '' },
};

/** Further values, for members that matter only there. */
const variants: Readonly<Record<number, Values[]>> = {
  1: [
    { httpParams: { journeys: [{ steps: [{ path: '/a' }] }] } },
    { httpParams: { webSocket: {} } },
    { httpParams: { version: '2', path: '/a.B/C', grpc: { call: 'bidirectional' } } },
    { httpParams: { version: '2', path: '/a.B/C', grpc: { call: 'serverStreaming' } } },
    { requestsPerSecond: undefined, rpsUnlimited: true, httpParams: { webSocket: { mode: 'receive' } } },
  ],
  2: [{ sessionsPerSecond: 100 }],
  3: [{ packetsPerSecond: undefined }],
  4: [{ targets: [], dnsParams: { names: ['a.test'], server: '10.0.0.9' } }],
  7: [{ packetsPerSecond: undefined }],
  9: [{ harReplayParams: { fileId: 1, users: 10 } }],
  10: [
    { sessionsPerSecond: 10, applicationParams: { applications: [1, 1].map((applicationId) => ({ applicationId })) } },
  ],
  12: [
    { ipsecPsk: undefined, ipsecAuthMethod: 'cert', ipsecCert: '1' },
    { ipsecPsk: undefined, ipsecAuthMethod: 'manual', ipsecSpi: '0x1000', ipsecCipherKey: '11'.repeat(36) },
    { targets: [], ipsecPeerBase: '10.0.9.1' },
  ],
  13: [
    { ipsecPsk: undefined, ipsecAuthMethod: 'cert', ipsecCert: '1' },
    { targets: [], ipsecLoadPeerBaseIp: '10.0.9.1' },
    { sources: [{ agent: { id: 1 } }], ipsecLoadLocalBaseIp: '10.0.0.101', ipsecLoadSrcIpCount: 5 },
    { targets: [], ipsecLoadRole: 'responder', ipsecLoadHsRatePps: undefined },
  ],
  15: [{ wafModules: { modules: [{ name: 'xss' }], calibration: { ip: '10.0.0.9' } } }],
  16: [
    { cveReplayParams: { signatureIds: [1], repeat: 20, variants: { enabled: true } } },
    { cveReplayParams: { signatureIds: [1], calibration: { ip: '10.0.0.9' } } },
  ],
  19: [
    { compromisedHostParams: { campaignIds: [1], hosts: 2 } },
    { compromisedHostParams: { campaign: { name: 'Own', parameters: [], steps: [beacon] } } },
  ],
};

/** Members that neither change these plans nor are reported, and why. They are not walked. */
const exceptions: Readonly<Record<number, readonly string[]>> = {
  // A server has no sources and divides no load.
  6: ['targets.[].weight', 'ipLayer.srcMode'],
  // Matters where the application has the parameter, and that draws from a dictionary.
  10: ['applicationParams.applications.[].parameters.[].column'],
  // Matters for signatures that may do harm; the one here does not.
  15: ['wafModules.allowIntrusive'],
  16: [
    // Resolved into signatureIds before a plan is made.
    ...['resolvedFrom', 'retest.fromTaskId', 'retest.outcomes'].map((name) => `cveReplayParams.${name}`),
    // Matter for signatures with payloads, answers or intrusive content; the one here has none.
    ...['enabled', 'encoders', 'limit', 'shuffle', 'seed'].map((name) => `cveReplayParams.variants.${name}`),
    ...['order', 'serverMode', 'allowIntrusive'].map((name) => `cveReplayParams.${name}`),
  ],
  // Matters for several samples.
  17: ['payload.order'],
  18: [
    // Matter for requests with a body or raw bytes.
    ...['bodyEncoding', 'encoding'].map((name) => `fuzzingParams.baseline.request.${name}`),
    // Matters for several mutators.
    'fuzzingParams.mutators.[].weight',
  ],
  19: [
    // Describe the campaign for people, or matter where its steps use the parameter.
    ...['name', 'description', 'tags'].map((name) => `compromisedHostParams.campaign.${name}`),
    ...['name', 'type', 'default', 'min', 'max', 'description'].map(
      (name) => `compromisedHostParams.campaign.parameters.[].${name}`,
    ),
    ...['direction', 'remediation', 'requires'].map((name) => `compromisedHostParams.campaign.steps.[].${name}`),
    'compromisedHostParams.parameters',
  ],
};

const planOf = (id: number, values: Values) =>
  planRun(inputOf([entryOf(id, values)], { ...knownRecords, agents, networks }));

/** What a plan depends on: itself, and what is read from files for it. */
const fingerprint = (id: number, values: Values) => {
  const configuration = [entryOf(id, values)];
  const { agents: plans, issues, plannedSec, estimate, attempts }: RunPlan = planOf(id, values);
  const read = [
    recordingRequests(configuration, knownRecords.files),
    captureRequests(configuration, knownRecords.files),
    // The scope is a hash of the whole configuration.
    { ...sampleRequest(configuration, [1]), scope: '' },
  ];
  return { text: JSON.stringify([plans, issues, plannedSec, estimate, attempts, read]), issues };
};
type Fingerprint = ReturnType<typeof fingerprint>;

/** Whether the member, or an object that it is in, is reported. */
const isReported = ({ issues }: Fingerprint, { path: member }: Member): boolean =>
  issues.some(({ path }) => {
    const reported = path.replace('/configuration/0/values/', '');
    return reported.includes('/') && `${member.join('/')}/`.startsWith(`${reported}/`);
  });

const schemaOf = (id: number): TSchema => findPlugin(id)?.schema as TSchema;

const silentMembers = (id: number, base: Values, members: readonly Member[]): Member[] => {
  const check = createSchemaCheck(schemaOf(id));
  const known = new Map<string, Fingerprint | undefined>();
  /** Undefined for values that do not fit. */
  const resultOf = (values: Values): Fingerprint | undefined => {
    const key = JSON.stringify(values);
    if (!known.has(key))
      known.set(key, check(structuredClone(values)).length > 0 ? undefined : fingerprint(id, values));
    return known.get(key);
  };
  const isHeard = (member: Member): boolean => {
    for (const [one, other] of changesOf(member, base)) {
      const [before, after] = [resultOf(one), resultOf(other)];
      if (before === undefined || after === undefined) continue;
      if (before.text !== after.text || isReported(after, member)) return true;
    }
    return false;
  };
  return members.filter((member) => !isHeard(member));
};

const baseOf = (id: number, more: Values = {}): Values => {
  const known = (schemaOf(id) as { properties?: object }).properties ?? {};
  const given = Object.entries({ ...ends, ...bases[id], ...more });
  return Object.fromEntries(given.filter(([name, value]) => name in known && value !== undefined));
};

/** The controller searches; plans have only the first load and the length of the search. */
const isSearched = (member: Member) =>
  /^duration\.goal\.(metric|while|maxFailedPct|order|rfc9411)/.test(nameOf(member));

const membersOfPlugin = (id: number): Member[] =>
  membersOf(schemaOf(id)).filter(
    (member) => !isFixed(member) && !isSearched(member) && !exceptions[id]?.includes(nameOf(member)),
  );

describe('every member of the values of a plugin changes its plan, or is reported', () => {
  it.each([...planners.keys()])('plugin %i', (id) => {
    expect(planOf(id, baseOf(id)).issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(fingerprint(id, baseOf(id))).toEqual(fingerprint(id, baseOf(id)));
    const known = new Set(membersOf(schemaOf(id)).map(nameOf));
    expect(exceptions[id]?.filter((name) => !known.has(name)) ?? []).toEqual([]);
    const silent = [{}, inNetworks, ...(variants[id] ?? [])].reduce<readonly Member[]>(
      (members, more) => silentMembers(id, baseOf(id, more), members),
      membersOfPlugin(id),
    );
    expect(silent.map(nameOf)).toEqual([]);
  });

  it.each([1, 2, 3, 4, 11, 12, 13])('plugin %i, where it only answers: what changes the server of a client', (id) => {
    const serversOf = (values: Values) =>
      planOf(id, values).agents.flatMap(({ jobs }) => jobs.filter(({ role }) => role === 'server'));
    const check = createSchemaCheck(schemaOf(id));
    const isValid = (values: Values) => check(structuredClone(values)).length === 0;
    const base = baseOf(id, inNetworks);
    const isOfServer = (member: Member): boolean => {
      for (const [one, other] of changesOf(member, base)) {
        if (!isValid(one) || !isValid(other)) continue;
        const [before, after] = [serversOf(one), serversOf(other)];
        if (before.length > 0 && after.length > 0 && JSON.stringify(before) !== JSON.stringify(after)) return true;
      }
      return false;
    };
    // Sources and journeys are the other side, and the load of clients says how long they are answered.
    const members = membersOfPlugin(id).filter(
      ({ path: [first, second] }) => first !== 'sources' && first !== 'isServer' && second !== 'journeys',
    );
    const answering = baseOf(id, { ...inNetworks, sources: [], isServer: true });
    const silent = silentMembers(id, answering, members.filter(isOfServer));
    expect(silent.map(nameOf)).toEqual([]);
  });
});
