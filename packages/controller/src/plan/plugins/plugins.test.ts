import { describe, expect, it } from 'vitest';
import { planRun } from '../core/plan-run.ts';
import { agentOf, entryOf, inputOf, sidesOf } from '../testing/plan-fixture.ts';

describe('TCP', () => {
  it.each([
    ['connect', 'sink'],
    ['send', 'sink'],
    ['receive', 'source'],
    ['echo', 'echo'],
  ])('%s is answered by %s', (mode, answer) => {
    const { client, server } = sidesOf(2, { tcpConfiguration: { mode } });
    expect([client['mode'], server['mode']]).toEqual([mode, answer]);
  });

  it('takes rates, payload and socket options', () => {
    const tcpConfiguration = {
      mode: 'send',
      rateBps: 8e6,
      connections: 4,
      closeMode: 'rst',
      noDelay: false,
      holdMs: 9,
    };
    const { client, plan } = sidesOf(2, {
      tcpConfiguration,
      payload: { size: 1000 },
      ppsPerConnection: 3,
      sessionsPerSecond: 7,
    });
    expect(client).toMatchObject({
      ...tcpConfiguration,
      payload: { type: 'zero', size: 1000 },
      messagesPerSecond: 3,
      load: { rate: 7 },
    });
    expect(plan.estimate).toMatchObject({ connections: 4, pps: 2000 });
  });
});

it.each([1, 2])('sockets of plugin %i are tuned on both sides, if that is asked for', (id) => {
  const tuning = { mss: 600, window: 20_000, congestion: 'cubic', synRetries: 3 };
  const rate = id === 1 ? { requestsPerSecond: 1 } : {};
  const sides = sidesOf(id, { ...rate, tcpConfiguration: tuning });
  expect([sides.client['tuning'], sides.server['tuning']]).toEqual([tuning, tuning]);
  expect(sides.issues).toEqual([]);
  expect(sidesOf(id, rate).client).not.toHaveProperty('tuning');
});

describe('UDP', () => {
  it('numbers packets of the ordered size', () => {
    expect(sidesOf(3, { packetsPerSecond: 5, payload: { size: 100 } }).client).toMatchObject({
      payloadBytes: 100,
      load: { rate: 5 },
      expectsEcho: false,
    });
    expect(sidesOf(3, { packetsPerSecond: 5, frameSize: 146 }).client['payloadBytes']).toBe(100);
    const agents = [1, 2].map((id) => agentOf(id, { addresses: [`fd00::${id}`] }));
    const six = sidesOf(3, { packetsPerSecond: 5, frameSize: 146, ipLayer: { version: 6 } }, { agents });
    expect(six.client['payloadBytes']).toBe(80);
    expect(sidesOf(3, { packetsPerSecond: 5, frameSize: 88, ipLayer: { version: 6 } }, { agents }).issues).toEqual([
      'frameSize FRAME_TOO_SMALL',
    ]);
  });

  it('has a rate of each flow, of all, or none', () => {
    expect(sidesOf(3, { ppsPerConnection: 5, totalSessions: 8 }).client).toMatchObject({
      flows: 8,
      load: { rate: 40 },
    });
    expect(sidesOf(3, { ppsUnlimited: true, packetsPerSecond: 4 }).client['load']).toEqual({});
    expect(sidesOf(3, {}).issues).toEqual(['packetsPerSecond RATE_MISSING']);
  });

  it('is sent back where round trips are measured', () => {
    const { client, server } = sidesOf(3, { packetsPerSecond: 1, payload: { echo: true } });
    expect([client['expectsEcho'], server['echoes']]).toEqual([true, true]);
  });
});

describe('DNS', () => {
  const dns = (dnsParams: object, values = {}) => sidesOf(4, { requestsPerSecond: 5, dnsParams, ...values });

  it.each([
    ['udp', 15353],
    ['tcp', 15353],
    ['dot', 15853],
    ['doh', 15443],
  ])('by %s goes to its own port', (transport, port) => {
    const { client, server } = dns({ transport, names: ['a.test'] });
    expect(client).toMatchObject({ transport, targets: [{ host: '10.0.0.2', port }], load: { rate: 5 } });
    expect(server['listen']).toEqual([{ host: '10.0.0.2', port, transport }]);
  });

  it('is answered for every name that is asked, or as the entry says', () => {
    expect(dns({ names: ['a.test', 'a.test'], types: ['A', 'TXT'] }).server['answers']).toEqual([
      { name: 'a.test', type: 'A', ttl: 60, data: '192.0.2.1' },
      { name: 'a.test', type: 'TXT', ttl: 60, data: 'example' },
    ]);
    expect(dns({ names: ['a.test'], randomPrefix: true }).server['answers']).toMatchObject([{ name: '*.a.test' }]);
    const answers = [{ name: 'b.test', type: 'A', data: '10.9.9.9' }];
    expect(dns({ names: ['a.test'], answers }).server['answers']).toMatchObject(answers);
  });

  it('asks a server outside where no target is named', () => {
    const { client, plan, issues } = dns({ names: ['a.test'], server: '10.4.4.4' }, { targets: [] });
    expect(client['targets']).toMatchObject([{ host: '10.4.4.4', port: 15353 }]);
    expect([plan.agents.length, issues]).toEqual([1, []]);
    expect(dns({ names: ['a.test'], server: '9.9.9.9' }, { targets: [] }).issues).toEqual([
      'dnsParams/server TARGET_NOT_ALLOWED',
    ]);
  });

  it('needs names', () => {
    expect(dns({}).issues).toEqual(['dnsParams/names REQUIRED']);
  });
});

describe('TLS', () => {
  it('shakes hands at a rate', () => {
    const { client, server } = sidesOf(11, { sessionsPerSecond: 20, tlsParams: { resumption: 'psk', connections: 3 } });
    expect(client).toMatchObject({ load: { rate: 20 }, connections: 3, tls: { resumption: 'psk' } });
    expect(server).toMatchObject({ listen: [{ host: '10.0.0.2', port: 14433 }], tls: { tickets: true } });
  });
});

describe('a stateless server', () => {
  it('listens on the ports of its target, else on its own', () => {
    const params = { protocol: 'tcp', mode: 'reply', reply: { type: 'text', text: 'hi' }, ports: '7,9' };
    const of = (target: object) => {
      const entry = entryOf(6, { targets: [{ agent: { id: 2 }, ...target }], statelessServerParams: params });
      return planRun(inputOf([entry])).agents[0]?.jobs[0];
    };
    expect(of({})).toMatchObject({
      role: 'server',
      target: '0.0.0.0:7 and 1 more',
      job: { config: { protocol: 'tcp', mode: 'reply', reply: { data: 'hi' } } },
    });
    expect(of({ ports: '11' })?.target).toBe('0.0.0.0:11');
  });
});

describe('members that no engine uses are refused with their pointer', () => {
  it.each([
    [1, { httpParams: { version: '2', followRedirects: 3 }, requestsPerSecond: 1 }, ['httpParams/followRedirects']],
    [1, { httpParams: { version: '2' }, keepAlive: { idleMs: 5 }, requestsPerSecond: 1 }, ['keepAlive/idleMs']],
    [1, { requestsPerSecond: 9, initialTps: 1 }, ['initialTps']],
    [2, { sessionsPerSecond: 9, initialTps: 1 }, ['initialTps']],
    [3, { packetsPerSecond: 9, initialTps: 1 }, ['initialTps']],
    [4, { requestsPerSecond: 9, initialTps: 1, dnsParams: { names: ['a.test'] } }, ['initialTps']],
    [11, { sessionsPerSecond: 9, initialTps: 1 }, ['initialTps']],
    [
      18,
      {
        fuzzingParams: {
          ...{ protocol: 'http', stopOn: ['health'] },
          baseline: { kind: 'request', request: { kind: 'http', path: '/' } },
        },
      },
      ['fuzzingParams/stopOn'],
    ],
    [
      15,
      { wafModules: { modules: [{ name: 'xss' }] }, httpParams: { path: '/shop', host: 'shop.test' } },
      ['httpParams/path', 'httpParams/host'],
    ],
    [
      16,
      { cveReplayParams: { ports: 'list', capture: { maxBytes: 1 } } },
      ['cveReplayParams/ports', 'cveReplayParams/capture/maxBytes'],
    ],
    [
      18,
      {
        fuzzingParams: {
          ...{ protocol: 'tcp', connectionPerCase: false, place: 'replace-regex' },
          mutators: [{ name: 'bit-flip', options: { bits: 3 } }],
          baseline: { kind: 'request', request: { kind: 'raw', data: 'x', port: 8080 } },
        },
      },
      [
        'fuzzingParams/mutators/0/options',
        'fuzzingParams/place',
        'fuzzingParams/connectionPerCase',
        'fuzzingParams/baseline/request/port',
      ],
    ],
    [19, { compromisedHostParams: { hostSelection: 'all' } }, ['compromisedHostParams/hostSelection']],
  ])('plugin %i: %o', (id, values, members) => {
    const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };
    const plan = planRun(inputOf([entryOf(id, { ...ends, ...values })]));
    const refused = plan.issues.filter(({ code }) => code === 'NOT_SUPPORTED').map(({ path }) => path);
    expect(refused.map((path) => path.split('/values/')[1])).toEqual(expect.arrayContaining(members));
  });

  it('are accepted with their defaults, and where they have an effect', () => {
    const http = { requestsPerSecond: 9, initialTps: 1, tpsRampStep: 2, httpParams: { followRedirects: 3 } };
    expect(sidesOf(1, { ...http, keepAlive: { idleMs: 5 } }).issues).toEqual([]);
    expect(sidesOf(5, { ipLayer: { ttl: 3 } }).issues).toEqual([]);
  });
});
