import { type ConfigurationEntry, plugins } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { type Definition, definitionIssues, issuesOfUnknown } from './check-definition.ts';

type Values = Record<string, unknown>;

const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };
const entry = (id: number, values: Values = {}, more: object = {}) =>
  ({ plugin: { id }, values, ...more }) as ConfigurationEntry;
const http = (values: Values = {}) => entry(1, { ...ends, requestsPerSecond: 10, ...values });

const codes = (...configuration: ConfigurationEntry[]) => codesOf({ configuration });
const codesOf = (definition: Definition) =>
  definitionIssues(definition).map(({ path, code }) => `${path.replace('/configuration/', '')} ${code}`);

describe('a task may be stored', () => {
  it.each(plugins.flatMap(({ id, name, examples }) => examples.map((values) => ({ id, name, values }))))(
    'as the example of $name',
    ({ id, values }) => {
      const children = [{ plugin: { id: 1 }, values: { ...ends, requestsPerSecond: 1 } }];
      const suite = id === 21 ? { subplugins: { subplugins: children } } : {};
      const planes = { accessPlane: [{ agent: { id: 1 } }], controlPlane: [{ agent: { id: 1 } }] };
      expect(codesOf({ configuration: [entry(id, values, suite)], ...planes })).toEqual([]);
    },
  );
});

describe('a task of planes alone', () => {
  it('may be stored, one of nothing may not', () => {
    expect(codesOf({ configuration: [], accessPlane: [{ agent: { id: 1 } }] })).toEqual([]);
    expect(codesOf({ configuration: [], controlPlane: [{ agent: { id: 1 } }] })).toEqual([]);
    expect(codesOf({ configuration: [] })).toEqual(['/configuration REQUIRED']);
  });
});

describe('stages', () => {
  const stages = [
    { seconds: 5, target: 100, shape: 'linear' },
    { seconds: 5, target: 300, shape: 'spike' },
  ];
  const staged = (values: Values = {}, duration: object = {}) =>
    entry(1, { ...ends, duration: { stages, ...duration }, ...values });

  it('take the place of a rate and of the length', () => {
    expect(codes(staged())).toEqual([]);
    expect(codes(staged({ requestsPerSecond: 300 }, { seconds: 10 }))).toEqual([]);
    expect(codes(staged({ rpsUnlimited: true, httpParams: { connections: 300 } }))).toEqual([]);
  });

  it('cannot stand beside other descriptions of load over time', () => {
    const ramps = { rampUpSec: 1, rampDownSec: 1, seconds: 12, mode: 'continuous' };
    expect(codes(staged({ initialTps: 1, tpsRampStep: 1, requestsPerSecond: 5 }, ramps))).toEqual([
      '0/values/initialTps RATE_CONFLICT',
      '0/values/tpsRampStep RATE_CONFLICT',
      '0/values/duration/rampUpSec RATE_CONFLICT',
      '0/values/duration/rampDownSec RATE_CONFLICT',
      '0/values/duration/mode RATE_CONFLICT',
      '0/values/duration/seconds RATE_CONFLICT',
      '0/values/requestsPerSecond RATE_CONFLICT',
    ]);
  });

  it('need a load that can follow them', () => {
    const nothing = [{ seconds: 1, target: 0 }];
    expect(codes(staged({}, { stages: nothing }))).toEqual(['0/values/duration/stages STAGES_WITHOUT_LOAD']);
    expect(codes(staged({ rpsUnlimited: true, httpParams: { connections: 20 } }))).toEqual([
      '0/values/duration/stages RATE_CONFLICT',
    ]);
    expect(codes(entry(3, { ...ends, ppsUnlimited: true, duration: { stages } }))).toEqual([
      '0/values/duration/stages STAGES_WITHOUT_LOAD',
    ]);
    expect(codes(staged({}, { warmUpSec: 10 }))).toEqual(['0/values/duration/seconds DURATION_TOO_SHORT']);
  });
});

it('an empty `subplugins` may stand in any entry', () => {
  for (const subplugins of [{}, { subplugins: [] }, { duration: {}, subplugins: [] }]) {
    expect(codes({ ...http(), subplugins })).toEqual([]);
  }
});

describe('values', () => {
  it('of an unknown plugin are refused with its place', () => {
    expect(codes(entry(77))).toEqual(['0/plugin/id PLUGIN_UNKNOWN']);
  });

  it('are refused with all their problems at once and the place of each', () => {
    const wrong = { httpParams: { method: 'get', version: '4' }, requestsPerSecond: 0, packetsPerSecond: 5 };
    expect(codes(http(), http(wrong))).toEqual([
      '1/values/packetsPerSecond UNKNOWN_MEMBER',
      '1/values/httpParams/version ENUM',
      '1/values/httpParams/method PATTERN',
      '1/values/requestsPerSecond MINIMUM',
    ]);
    const [unknown] = definitionIssues({ configuration: [http({ packetsPerSecond: 5 })] });
    expect(unknown?.message).toBe('is not a member of the plugin http');
  });

  it('beyond a thousand million a second are refused', () => {
    expect(codes(http({ requestsPerSecond: 1_000_000_001 }))).toEqual(['0/values/requestsPerSecond MAXIMUM']);
  });
});

describe('both sides', () => {
  it('must be named', () => {
    expect(codes(entry(1, { rpsUnlimited: true }))).toEqual(['0/values/sources REQUIRED', '0/values/targets REQUIRED']);
    expect(codes(http({ targets: [{ ports: '80' }] }))).toEqual(['0/values/targets/0/agent REQUIRED']);
    expect(codes(http({ targets: [{ ip: '192.0.2.1' }, { network: { id: 3 } }] }))).toEqual([]);
  });

  it('of a server are its agents', () => {
    expect(codes(entry(1, { isServer: true }))).toEqual(['0/values/targets REQUIRED']);
    expect(codes(entry(1, { isServer: true, targets: [{ ip: '192.0.2.1' }] }))).toEqual([
      '0/values/targets/0/agent REQUIRED',
    ]);
    expect(codes(entry(1, { isServer: true, targets: [{ agent: { id: 2 } }] }))).toEqual([]);
  });

  it('have ports that exist', () => {
    expect(codes(http({ targets: [{ agent: { id: 2 }, ports: '80,70000' }], clientPortRange: '2000-1000' }))).toEqual([
      '0/values/targets/0/ports PORTS_INVALID',
      '0/values/clientPortRange PORTS_INVALID',
    ]);
  });
});

describe('a load', () => {
  it('must be said', () => {
    expect(codes(entry(1, ends))).toEqual(['0/values/requestsPerSecond RATE_MISSING']);
    expect(codes(entry(3, ends))).toEqual(['0/values/packetsPerSecond RATE_MISSING']);
    expect(codes(entry(7, ends))).toEqual(['0/values/packetsPerSecond RATE_MISSING']);
    for (const payload of [{ rateBps: 1000 }, { linePct: 5 }, { rfc2544: {} }]) {
      expect(codes(entry(7, { ...ends, payload }))).toEqual([]);
    }
    expect(codes(entry(2, ends))).toEqual([]);
  });

  it('is said in one way', () => {
    expect(codes(http({ rpsUnlimited: true, sessionsPerSecond: 5 }))).toEqual([
      '0/values/requestsPerSecond RATE_CONFLICT',
      '0/values/sessionsPerSecond RATE_CONFLICT',
    ]);
    expect(codes(entry(3, { ...ends, packetsPerSecond: 1, ppsPerConnection: 1 }))).toEqual([
      '0/values/ppsPerConnection RATE_CONFLICT',
    ]);
  });

  it('rises to what is ordered, in a time that ends', () => {
    expect(codes(http({ initialTps: 11, tpsRampStep: 1 }))).toEqual(['0/values/initialTps RATE_CONFLICT']);
    expect(codes(http({ requestsPerSecond: 1e9, initialTps: 0, tpsRampStep: 1 }))).toEqual([
      '0/values/tpsRampStep RAMP_TOO_LONG',
    ]);
    expect(codes(http({ initialTps: 1, tpsRampStep: 1 }))).toEqual([]);
  });

  it('lasts longer than its ramps', () => {
    expect(codes(http({ duration: { seconds: 5, rampUpSec: 3, warmUpSec: 2 } }))).toEqual([
      '0/values/duration/seconds DURATION_TOO_SHORT',
    ]);
    expect(codes(http({ duration: { mode: 'count' } }))).toEqual(['0/values/duration/count REQUIRED']);
  });
});

describe('content', () => {
  it('of a payload is there', () => {
    expect(codes(http({ httpParams: { body: { type: 'file' }, responses: [{ body: { type: 'text' } }] } }))).toEqual([
      '0/values/httpParams/body/fileId REQUIRED',
      '0/values/httpParams/responses/0/body/text REQUIRED',
    ]);
  });

  it('of DNS is asked for and answered rightly', () => {
    const answers = [{ name: 'a.test', type: 'AAAA', data: '192.0.2.1' }];
    expect(codes(entry(4, { ...ends, requestsPerSecond: 1, dnsParams: { answers } }))).toEqual([
      '0/values/dnsParams/names REQUIRED',
      '0/values/dnsParams/answers/0/data ADDRESS_INVALID',
    ]);
  });

  it('of IPsec fits the way of authentication', () => {
    const range = { ipsecTsSrcStart: '10.0.0.9', ipsecTsSrcEnd: '10.0.0.1', ipsecInnerDstStart: '10.1.0.1' };
    expect(codes(entry(12, { ...ends, ipsecAuthMethod: 'manual', ipsecSpi: '0x100', ...range }))).toEqual([
      '0/values/ipsecCipherKey REQUIRED',
      '0/values/ipsecTsSrcEnd RANGE_INVALID',
      '0/values/ipsecInnerDstEnd REQUIRED',
    ]);
  });
});

describe('servers', () => {
  const server = (target: Values, values: Values = {}) => entry(1, { isServer: true, targets: [target], ...values });
  const agent = { id: 2 };

  it('do not listen in the same place twice', () => {
    const overlap = ['1/values/targets/0 ADDRESS_OVERLAP'];
    expect(codes(server({ agent }), server({ agent }))).toEqual(overlap);
    expect(codes(server({ agent, ports: '80-90' }), server({ agent, ip: '10.0.0.1', ports: '85' }))).toEqual(overlap);
    expect(
      codes(server({ agent, ports: '80' }), entry(2, { isServer: true, targets: [{ agent, ports: '80' }] })),
    ).toEqual(overlap);
  });

  it('may share an agent at other addresses, ports, transports or times', () => {
    expect(codes(server({ agent, ports: '80' }), server({ agent, ports: '81' }))).toEqual([]);
    expect(codes(server({ agent }), server({ agent }, { tlsParams: {} }))).toEqual([]);
    expect(codes(server({ agent, ip: '10.0.0.1' }), server({ agent, ip: '10.0.0.2' }))).toEqual([]);
    expect(
      codes(server({ agent, ports: '80' }), entry(3, { isServer: true, targets: [{ agent, ports: '80' }] })),
    ).toEqual([]);
    const stages = [server({ agent }), server({ agent })].map((child, order) => ({ ...child, order }));
    expect(codes(entry(21, {}, { subplugins: { subplugins: stages } }))).toEqual([]);
  });
});

describe('a suite', () => {
  const suite = (...subplugins: object[]) => entry(21, {}, { subplugins: { subplugins } });

  it('holds something, and nobody else does', () => {
    expect(codes(suite())).toEqual(['0/subplugins/subplugins REQUIRED']);
    expect(codes({ ...http(), subplugins: { subplugins: [http()] } } as ConfigurationEntry)).toEqual([
      '0/subplugins SUBPLUGINS_NOT_ALLOWED',
    ]);
    expect(codes({ ...http(), subplugins: {} })).toEqual([]);
  });

  it('holds neither suites nor planes, and its entries are checked like others', () => {
    expect(codes(suite(entry(21), entry(101), http({ requestsPerSecond: 0 })))).toEqual([
      '0/subplugins/subplugins/0/plugin/id SUBPLUGIN_NOT_ALLOWED',
      '0/subplugins/subplugins/1/plugin/id SUBPLUGIN_NOT_ALLOWED',
      '0/subplugins/subplugins/2/values/requestsPerSecond MINIMUM',
    ]);
  });

  it('has a limit that is one', () => {
    const limited = { ...suite(http()), subplugins: { duration: { seconds: 0 }, subplugins: [http()] } };
    expect(codes(limited as ConfigurationEntry)).toEqual(['0/subplugins/duration/seconds EXCLUSIVE_MINIMUM']);
  });

  it('ends each stage but the last by time', () => {
    const byHand = { ...http({ duration: { mode: 'continuous' } }), order: 0 };
    expect(codes(suite(byHand, { ...http(), order: 1 }))).toEqual([
      '0/subplugins/subplugins/0/values/duration/mode STAGE_UNBOUNDED',
    ]);
    expect(codes(suite({ ...http(), order: 0 }, { ...byHand, order: 1 }))).toEqual([]);
  });
});

it('an entry of a plane needs the plane', () => {
  expect(codes(entry(101))).toEqual(['0/plugin/id PLANE_MISSING']);
  expect(codesOf({ configuration: [entry(102)], controlPlane: [{ agent: { id: 1 } }] })).toEqual([]);
});

it('what comes from elsewhere is checked for its shape first', () => {
  expect(issuesOfUnknown({ configuration: [], noSuchMember: 1 }).map(({ path, code }) => [path, code])).toEqual([
    ['/noSuchMember', 'UNKNOWN_MEMBER'],
  ]);
  expect(issuesOfUnknown({ configuration: [] }).map(({ path, code }) => [path, code])).toEqual([
    ['/configuration', 'REQUIRED'],
  ]);
  expect(issuesOfUnknown({ configuration: [http()] })).toEqual([]);
});
