import { describe, expect, it } from 'vitest';
import { agentOf, ends, entryOf, inputOf, interfaceOf, issueCodes, networkOf } from '../testing/plan-fixture.ts';
import { planRun } from './plan-run.ts';

type Values = Record<string, unknown>;
type InputOptions = Parameters<typeof inputOf>[1];

const http = (values: Values = {}) => entryOf(1, { ...ends, requestsPerSecond: 100, ...values });
const issuesOf = (values: Values, options: InputOptions = {}) => issueCodes(planRun(inputOf([http(values)], options)));
const target = (endpoint: Values) => ({ targets: [endpoint] });
const source = (endpoint: Values) => ({ sources: [{ agent: { id: 1 }, ...endpoint }] });
const twoNetworks = [networkOf(1, '10.20.0.0/24'), networkOf(2, '10.20.0.128/25')];

describe('a plan tells', () => {
  it.each<[string, Values, InputOptions, string[]]>([
    ['a target outside', target({ ip: '8.8.8.8' }), {}, ['targets/0 TARGET_NOT_ALLOWED']],
    [
      'a public network',
      target({ network: { id: 1 } }),
      { networks: [networkOf(1, '8.8.8.8/32')] },
      ['targets/0 TARGET_NOT_ALLOWED'],
    ],
    ['an IPv4 address in disguise', target({ ip: '::ffff:808:808' }), {}, ['targets/0 TARGET_NOT_ALLOWED']],
    [
      'loopback where it is not allowed',
      target({ ip: '127.0.0.1' }),
      { allowedTargets: ['10.0.0.0/8'] },
      ['targets/0 TARGET_NOT_ALLOWED'],
    ],
    [
      'a link-local target, whatever is allowed',
      target({ ip: '169.254.169.254' }),
      { allowedTargets: ['0.0.0.0/0'] },
      ['targets/0 TARGET_NOT_ALLOWED'],
    ],
    [
      'a public address that an agent claims to have',
      target({ ip: '8.8.8.8' }),
      { agents: [agentOf(1), { ...agentOf(2), addresses: ['8.8.8.8'] }] },
      ['targets/0 TARGET_NOT_ALLOWED'],
    ],
    [
      'a server at an address that is not allowed',
      { isServer: true, ...target({ agent: { id: 2 }, network: { id: 1 } }) },
      { networks: [networkOf(1, '8.8.8.8/32')] },
      ['targets/0 TARGET_NOT_ALLOWED'],
    ],
    ['an agent that is not there', target({ agent: { id: 9 } }), {}, ['targets/0/agent/id AGENT_UNKNOWN']],
    ['no source', { sources: [] }, {}, ['sources NO_SOURCE']],
    ['no target', { targets: [] }, {}, ['targets NO_TARGET']],
    ['a target that says nothing', target({ ports: '80' }), {}, ['targets/0 NO_TARGET']],
    ['a network that is not there', source({ network: { id: 7 } }), {}, ['sources/0/network/id NETWORK_UNKNOWN']],
    [
      'a network without addresses',
      source({ network: { id: 1 } }),
      { networks: [networkOf(1, '10.0.0.0/30', { excludes: ['10.0.0.0/30'] })] },
      ['sources/0/network/id NETWORK_EMPTY'],
    ],
    ['ports that do not exist', target({ agent: { id: 2 }, ports: '70000' }), {}, ['targets/0/ports PORTS_INVALID']],
    ['a port range that is none', { clientPortRange: '9-1' }, {}, ['clientPortRange PORTS_INVALID']],
    [
      'an address of the wrong version',
      { ...target({ ip: '10.0.0.2' }), ipLayer: { version: 6 } },
      {},
      ['targets/0/ip IP_VERSION_MISMATCH'],
    ],
    [
      'sources that cannot reach the target',
      { ...source({ ip: 'fd00::1' }), ...target({ ip: '10.0.0.2' }) },
      {},
      ['targets/0 IP_VERSION_MISMATCH'],
    ],
    ['an agent without an address', { ipLayer: { version: 6 } }, {}, ['targets/0/agent/id NO_ADDRESS']],
    ['an interface that is not there', source({ interfaceId: 3 }), {}, ['sources/0/interfaceId INTERFACE_UNKNOWN']],
    [
      'too many targets',
      target({ network: { id: 1 } }),
      { networks: [networkOf(1, '10.64.0.0/14')] },
      ['targets TOO_MANY_TARGETS'],
    ],
    [
      'too many ports of too many targets',
      target({ agent: { id: 2 }, network: { id: 1 }, ports: '1-65535' }),
      { networks: [networkOf(1, '10.64.0.0/16')] },
      ['targets TOO_MANY_TARGETS'],
    ],
    [
      'a certificate that is not there',
      { tlsParams: { certificateID: 4 } },
      {},
      ['tlsParams/certificateID CERTIFICATE_UNKNOWN'],
    ],
    [
      'a file that is not there',
      { httpParams: { body: { type: 'file', fileId: 4 } } },
      {},
      ['httpParams/body/fileId FILE_MISSING'],
    ],
    [
      'a dictionary that is not there',
      { httpParams: { body: { type: 'dictionary', dictionaryId: 4 } } },
      {},
      ['httpParams/body/dictionaryId DICTIONARY_UNKNOWN'],
    ],
    [
      'a member that no engine does',
      { tcpConfiguration: { closeMode: 'rst', noDelay: false }, tlsParams: { closeNotify: false } },
      {},
      [
        'tcpConfiguration/closeMode NOT_SUPPORTED',
        'tcpConfiguration/noDelay NOT_SUPPORTED',
        'tlsParams/closeNotify NOT_SUPPORTED',
      ],
    ],
    [
      'nothing of members that no engine does and that have their default',
      { tcpConfiguration: { closeMode: 'fin', noDelay: true }, tlsParams: { closeNotify: true } },
      {},
      [],
    ],
    ['a version of HTTP that no engine speaks', { httpParams: { version: '4' } }, {}, ['httpParams/version ENUM']],
    ['nothing of HTTP/3', { httpParams: { version: '3' } }, {}, []],
    [
      'what HTTP/3 cannot do',
      {
        httpParams: { version: '3', followRedirects: 3, altSvc: true, pipelining: 2 },
        tlsParams: { versions: ['1.2'], earlyData: true, recordSizeLimit: 1000 },
      },
      {},
      [
        'httpParams/followRedirects NOT_SUPPORTED',
        'httpParams/pipelining NOT_SUPPORTED',
        'tlsParams/earlyData NOT_SUPPORTED',
        'tlsParams/recordSizeLimit NOT_SUPPORTED',
        'httpParams/altSvc NOT_SUPPORTED',
        'tlsParams/versions NOT_SUPPORTED',
      ],
    ],
    [
      'other ports than HTTP/3 changes',
      { httpParams: { version: '2', portChangeMs: 500 } },
      {},
      ['httpParams/portChangeMs NOT_SUPPORTED'],
    ],
    ['HTTP/3 beside HTTP in the clear', { httpParams: { altSvc: true } }, {}, ['httpParams/altSvc NOT_SUPPORTED']],
    ['time that ramps use up', { duration: { seconds: 5, rampUpSec: 5 } }, {}, ['duration/seconds DURATION_TOO_SHORT']],
    [
      'more connections than ports',
      { clientPortRange: '2000-2009', httpParams: { connections: 11 } },
      {},
      ['sources/0 RATE_IMPOSSIBLE'],
    ],
    [
      'more connections than an engine keeps',
      { httpParams: { connections: 200_000 } },
      {},
      ['sources/0 RATE_IMPOSSIBLE', 'sources/0 RATE_IMPOSSIBLE'],
    ],
    [
      'ports that run out',
      { keepAlive: { enabled: false }, requestsPerSecond: 3000 },
      {},
      ['warning sources/0 PORTS_SCARCE'],
    ],
  ])('%s', (_, values, options, expected) => {
    expect(issuesOf(values, options)).toEqual(expected);
  });

  it.each<[string, Parameters<typeof agentOf>[1], string[]]>([
    ['is offline', { status: 4 }, ['warning targets/0/agent/id AGENT_OFFLINE']],
    ['was never seen', { status: 0, engines: [] }, ['warning targets/0/agent/id AGENT_OFFLINE']],
    ['is blocked', { isBlocked: true }, ['targets/0/agent/id AGENT_BLOCKED']],
    ['is too old', { status: 7 }, ['targets/0/agent/id AGENT_INCOMPATIBLE']],
    ['lacks the engine', { engines: [] }, ['targets/0/agent/id ENGINE_MISSING']],
    ['has fewer cores', { cpuCores: 1 }, ['warning targets/0/agent/id CPU_CORES']],
    ['may not carry so much', { maxBps: 10_000 }, ['sources/0 RATE_IMPOSSIBLE']],
  ])('an agent that %s', (_, more, expected) => {
    const agents = [agentOf(1), agentOf(2, more)];
    expect(issuesOf({ cpuCores: 2 }, { agents })).toEqual(expected);
  });

  it('why an engine is missing', () => {
    const engines = [{ engine: 'http', available: false, way: '', version: '', missing: [], reason: 'no sockets' }];
    const { issues } = planRun(inputOf([http()], { agents: [agentOf(1), agentOf(2, { engines })] }));
    expect(issues).toMatchObject([
      { code: 'ENGINE_MISSING', agentId: 2, message: 'agent agent2 cannot run http: no sockets' },
    ]);
  });

  it('addresses that two machines send from', () => {
    const both = (first: Values, second: Values) => ({
      sources: [
        { agent: { id: 1 }, ...first },
        { agent: { id: 2 }, ...second },
      ],
      targets: [{ ip: '10.0.0.2' }],
    });
    const overlap = ['sources/1 ADDRESS_OVERLAP'];
    const options = { networks: twoNetworks };
    expect(issuesOf(both({ ip: '10.1.1.1' }, { ip: '10.1.1.1' }))).toEqual(overlap);
    expect(issuesOf(both({ network: { id: 1 } }, { network: { id: 2 } }), options)).toEqual(overlap);
    expect(issuesOf(both({ network: { id: 1 } }, { ip: '10.20.0.9' }), options)).toEqual(overlap);
    expect(issuesOf(both({ network: { id: 1 } }, { network: { id: 1 } }), options)).toEqual([]);
    expect(issuesOf(both({ network: { id: 1 } }, { ip: '10.21.0.9' }), options)).toEqual([]);
    expect(issuesOf(both({ ip: '127.0.0.1' }, { ip: '127.0.0.1' }))).toEqual([]);
    const near = [agentOf(1), agentOf(2, { machineId: 'machine1' })];
    expect(issuesOf(both({ ip: '10.1.1.1' }, { ip: '10.1.1.1' }), { agents: near })).toEqual([]);
  });

  it('none of ten thousand agents in one entry', () => {
    const addressOf = (id: number) => `10.2.${id >> 8}.${id & 255}`;
    const agents = Array.from({ length: 10_001 }, (_, i) => agentOf(i + 1, { addresses: [addressOf(i)] }));
    const sources = agents.slice(1).map(({ id }) => ({ agent: { id } }));
    const entry = http({ sources, targets: [{ agent: { id: 1 } }], requestsPerSecond: 100_000 });
    const { issues, agents: planned } = planRun(inputOf([entry], { agents }));
    expect([issues, planned.length]).toEqual([[], 10_001]);
    const rates = planned.flatMap(({ jobs }) =>
      jobs.flatMap(({ job }) => (job.config as { load?: { rate: number } }).load?.rate ?? []),
    );
    expect([rates.length, rates.reduce((sum, rate) => sum + rate, 0)]).toEqual([10_000, 100_000]);
  });

  it('a task that would fill the memory', () => {
    const sources = Array.from({ length: 1000 }, (_, i) => ({ agent: { id: 1 }, ip: `10.2.${i >> 8}.${i & 255}` }));
    const targets = Array.from({ length: 1000 }, (_, i) => ({ ip: `10.3.${i >> 8}.${i & 255}` }));
    const entries = Array.from({ length: 30 }, () => http({ sources, targets }));
    const { issues, agents } = planRun(inputOf(entries));
    expect(issues).toContainEqual(expect.objectContaining({ code: 'PLAN_TOO_LARGE' }));
    expect(agents[0]?.jobs).toHaveLength(200);
  });

  it('addresses an agent has no right to', () => {
    const agents = [1, 2].map((id) => agentOf(id, { system: { caps: [] } }));
    const options = { agents, networks: twoNetworks };
    expect(issuesOf(source({ network: { id: 1 } }), options)).toEqual(['warning sources/0 ADDRESS_NOT_OWN']);
    expect(issuesOf(target({ agent: { id: 2 }, network: { id: 1 } }), options)).toEqual(['targets/0 ADDRESS_NOT_OWN']);
    expect(issuesOf(source({ ip: '10.0.0.1' }), options)).toEqual([]);
  });

  it('MAC policies that replayed packets do not follow, and policies that have changed', () => {
    const networks = [networkOf(1, '10.20.0.0/24', { macPolicy: { mode: 'perIp' }, l2PolicyVersion: 4 })];
    const frames = entryOf(20, { ...ends, ...source({ network: { id: 1 } }), ppsUnlimited: true, l2PolicyVersion: 3 });
    expect(issueCodes(planRun(inputOf([frames], { networks })))).toEqual([
      'warning sources/0/network/id MAC_POLICY_IGNORED',
      'warning sources/0/network/id L2_POLICY_CHANGED',
    ]);
  });

  it('interfaces that sockets do not choose', () => {
    const agents = [1, 2].map((id) => agentOf(id, { interfaces: [interfaceOf(7, `10.0.0.${id}/24`)] }));
    const options = { agents, networks: [networkOf(1, '10.20.0.0/24')] };
    const hosts = { network: { id: 1 }, interfaceId: 7 };
    expect(issuesOf(source(hosts), options)).toEqual(['warning sources/0/interfaceId INTERFACE_NOT_USED']);
    expect(issuesOf(source({ ip: '10.0.0.1', interfaceId: 7 }), options)).toEqual([]);
    expect(issuesOf(source({ interfaceId: 7 }), options)).toEqual([]);
    const emulated = { ...options, networks: [networkOf(1, '10.20.0.0/24', { macPolicy: { mode: 'derived' } })] };
    const ends = { ...source(hosts), ...target({ agent: { id: 2 }, ...hosts }) };
    expect(issuesOf(ends, emulated)).toEqual([]);
  });

  it('what will not be measured or captured', () => {
    const packets = entryOf(3, { ...ends, targets: [{ ip: '10.0.0.2' }], packetsPerSecond: 1 });
    const agents = [agentOf(1, { system: { caps: ['cap_net_admin'] } }), agentOf(2)];
    expect(issueCodes(planRun(inputOf([packets], { agents, definition: { dumps: { enabled: true } } })))).toEqual([
      'info targets LOSS_UNMEASURED',
      'warning /dumps/enabled CANNOT_CAPTURE',
    ]);
  });

  it('what no agent can run', () => {
    const planes = { accessPlane: [{ agent: { id: 1 } }], controlPlane: [{ agent: { id: 1 } }] };
    expect(issueCodes(planRun(inputOf([entryOf(77, {})], { definition: planes })))).toEqual([
      '/configuration/0/plugin/id PLUGIN_UNKNOWN',
      '/accessPlane/0 NOT_SUPPORTED',
      '/accessPlane/0/interfaces INTERFACE_NEEDED',
      '/controlPlane/0/interfaces/0 INTERFACE_NEEDED',
    ]);
  });
});
