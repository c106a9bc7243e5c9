import type { ApplicationParameter } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import type { PlanApplication, PlanTable } from '../../core/plan-input.ts';
import { configProblems } from '../../testing/engine-check.ts';
import { agentOf, sidesOf } from '../../testing/plan-fixture.ts';

const capture = { name: 'shop.pcap', sha256: 'a'.repeat(64), size: 900, isReady: true };

const sessionOf = (sessionIndex: number, dstPort: number, protocol = 'tcp') => ({
  ...{ id: sessionIndex + 1, applicationId: 1, name: `session ${sessionIndex}`, protocol, sessionIndex, dstPort },
  ...{ srcIp: '10.1.0.1', dstIp: '10.2.0.1', srcPort: 40_000, bytesC2S: 100, bytesS2C: 900, exchangeCount: 1 },
});

const parameterOf = (more: Partial<ApplicationParameter>): ApplicationParameter => ({
  ...{ id: 1, applicationId: 1, name: 'login', description: '', type: 'string', side: 'both', source: 'fixed' },
  ...{ prefix: '', defaultValue: 'anna', min: '', max: '', start: '', step: '', allowedValues: [] },
  ...{ extractSessionIdx: 0, extractStepIdx: 0, extractOffset: 0, extractLength: 0 },
  stepsMappings: [{ sessionIdx: 0, stepIdx: 0, side: 'client', offset: 5, length: 4 }],
  ...more,
});

const applicationOf = (more: Partial<PlanApplication> = {}): PlanApplication =>
  ({
    ...{
      id: 1,
      name: 'shop',
      mode: 'stateful',
      clientIp: '',
      defaultSpeedMode: 'original',
      allowPerSessionSpeed: false,
    },
    ...{
      followTimestamps: true,
      lockParameters: false,
      timingGapThresholdMs: 500,
      defaultTimeout: 4000,
      defaultUsers: 3,
    },
    ...{ baseBps: 1000, basePps: 10, pcapFileId: 5, trimmedPcapFileId: null, parameters: [], capture },
    sessions: [sessionOf(0, 80), sessionOf(1, 443)],
    ...more,
  }) as PlanApplication;

const users: PlanTable = {
  name: 'users',
  draft: {
    id: 3,
    type: 'table',
    selection: 'unique',
    columns: ['login'],
    rows: [['anna'], ['bob'], ['cy']],
    config: { $selection: { onEnd: 'stop' } },
  },
};

interface InputOptions {
  readonly application?: Partial<PlanApplication>;
  readonly played?: object;
  readonly params?: object;
  readonly values?: object;
  readonly input?: object;
}

const planned = ({ application = {}, played = {}, params = {}, values = {}, input = {} }: InputOptions = {}) => {
  const found = applicationOf(application);
  const applicationParams = { applications: [{ applicationId: 1, ...played }], ...params };
  return sidesOf(
    10,
    { duration: { seconds: 10 }, applicationParams, ...values },
    {
      agents: [agentOf(1), agentOf(2), agentOf(4)],
      applications: { byId: new Map([[1, found]]), tables: new Map([[3, users]]) },
      files: new Map([[5, capture]]),
      ...input,
    },
  );
};
const errorsOf = (options: InputOptions) => planned(options).issues.filter((issue) => !issue.startsWith('info '));

describe('applications', () => {
  it('go to both sides with the capture as a file, users and speed as they say themselves', () => {
    const { client, server, plan, issues } = planned();
    expect(issues).toEqual(['info applicationParams/portMode SESSION_KNOWN_BY']);
    const play = {
      ...{ name: 'shop', capture: { $file: capture.sha256, as: 'path' }, users: 3, firstSlot: 0, timeoutMs: 4000 },
      ...{ leastGapMs: 500, sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], seed: 'task 0 application 1' },
      speed: { mode: 'original', value: 0, multiplier: 1 },
    };
    expect(client).toMatchObject({
      role: 'client',
      applications: [play],
      shares: [{ firstUser: 0, users: 3, iterations: 0, load: {} }],
    });
    expect(client['targets']).toEqual([
      {
        host: '10.0.0.2',
        weight: 1,
        ports: [
          { recorded: 80, ports: [80] },
          { recorded: 443, ports: [443] },
        ],
      },
    ]);
    expect(server).toMatchObject({ role: 'server', applications: [play], match: 'exact' });
    expect(server['listen']).toEqual([80, 443].map((port) => ({ host: '10.0.0.2', port, recorded: port })));
    expect(plan.agents.map(({ files }) => files)).toEqual([
      [{ sha256: capture.sha256, size: 900 }],
      [{ sha256: capture.sha256, size: 900 }],
    ]);
    for (const config of [client, server]) expect(configProblems({ engine: 'application', config })).toEqual([]);
  });

  it('are played over TLS where the entry has it', () => {
    const tlsParams = { versions: ['1.3'], sni: 'shop.test', resumption: 'psk', certificateID: 6 };
    const certificate = { name: 'shop', certificate: 'PEM', privateKey: 'KEY' };
    const { client, server, issues } = planned({
      values: { tlsParams },
      input: { certificates: new Map([[6, certificate]]) },
    });
    expect(issues).toEqual(['info applicationParams/portMode SESSION_KNOWN_BY']);
    expect(client['tls']).toEqual({ versions: ['1.3'], alpn: [], sni: 'shop.test', verify: false, resumption: 'psk' });
    expect(server['tls']).toMatchObject({ certificate: 'PEM', privateKey: 'KEY', tickets: true });
    for (const config of [client, server]) expect(configProblems({ engine: 'application', config })).toEqual([]);
    expect(planned().client).not.toHaveProperty('tls');
  });

  it('are shared out: users, rates and the values that are drawn for them', () => {
    const sources = [{ agent: { id: 1 }, weight: 2 }, { agent: { id: 4 } }];
    const { plan } = planned({ played: { users: 9, iterations: 2 }, values: { sources, sessionsPerSecond: 60 } });
    const shares = plan.agents
      .flatMap(({ jobs }) => jobs)
      .filter(({ role }) => role === 'client')
      .map(({ job }) => (job.config as { shares: object[] }).shares[0]);
    expect(shares).toEqual([
      { firstUser: 0, users: 6, iterations: 2, load: { rate: 20 } },
      { firstUser: 6, users: 3, iterations: 2, load: { rate: 10 } },
    ]);
  });

  it('have ports of their own where that is said', () => {
    const to = (ports: string) => ({ targets: [{ agent: { id: 2 }, ports }] });
    const mapped = planned({ params: { portMode: 'mapped' }, values: to('8080,8443') });
    expect(mapped.server['listen']).toEqual([
      { host: '10.0.0.2', port: 8080, recorded: 80 },
      { host: '10.0.0.2', port: 8443, recorded: 443 },
    ]);
    const slots = planned({ played: { users: 2 }, params: { portMode: 'perSlot' }, values: to('9000-9003') });
    expect(slots.client['targets']).toMatchObject([
      {
        ports: [
          { recorded: 80, ports: [9000, 9001] },
          { recorded: 443, ports: [9002, 9003] },
        ],
      },
    ]);
    expect(slots.server['listen']).toContainEqual({ host: '10.0.0.2', port: 9003, recorded: 443, slot: 1 });
    expect(errorsOf({ params: { portMode: 'mapped' }, values: to('8080') })).toEqual(['targets/0/ports PORTS_TOO_FEW']);
    expect(errorsOf({ values: to('8080,8443') })).toEqual(['targets/0/ports PORTS_FIXED']);
  });

  it('take values of the task, fixed or of a dictionary', () => {
    const application = { parameters: [parameterOf({})] };
    const given = planned({ application, played: { parameters: [{ name: 'login', value: 'eve' }] } });
    expect(given.client['applications']).toMatchObject([{ parameters: [{ source: 'fixed', defaultValue: 'eve' }] }]);
    const drawn = planned({
      application,
      played: { users: 3, iterations: 1, parameters: [{ name: 'login', dictionaryId: 3 }] },
    });
    expect(drawn.client['applications']).toMatchObject([
      { parameters: [{ source: 'dictionary', defaultValue: 'dict/3/login' }] },
    ]);
    expect(drawn.server['dictionaries']).toMatchObject([{ id: 3, type: 'table', rows: [['anna'], ['bob'], ['cy']] }]);
    expect(configProblems({ engine: 'application', config: drawn.server })).toEqual([]);
  });
});

const fromUsers = (more: object = {}) => ({ parameters: [{ name: 'login', dictionaryId: 3, ...more }] });
const oneParameter = { parameters: [parameterOf({})] };
const cookie = parameterOf({
  ...{ name: 'cookie', source: 'random' },
  stepsMappings: [{ sessionIdx: 0, stepIdx: 1, side: 'server', offset: 5, length: 4 }],
});

describe('applications that cannot be played are refused', () => {
  it.each<[string, InputOptions, string]>([
    [
      'no session is left',
      { played: { sessions: [0, 1].map((sessionIndex) => ({ sessionIndex, enabled: false })) } },
      'applications/0 NO_SESSIONS',
    ],
    [
      'a session is unknown',
      { played: { sessions: [{ sessionIndex: 7 }] } },
      'applications/0/sessions/0/sessionIndex SESSION_UNKNOWN',
    ],
    ['the capture is gone', { application: { capture: undefined } }, 'applications/0/applicationId FILE_MISSING'],
    ['it sends frames', { application: { mode: 'packet' } }, 'applications/0/applicationId MODE_PACKET'],
    [
      'a parameter has no value',
      { application: oneParameter, played: { parameters: [{ name: 'login' }] } },
      'applications/0/parameters/0/value VALUE_MISSING',
    ],
    [
      'a parameter is unknown',
      { played: { parameters: [{ name: 'x', value: '' }] } },
      'applications/0/parameters/0/name PARAMETER_UNKNOWN',
    ],
    [
      'parameters are locked',
      {
        application: { ...oneParameter, lockParameters: true },
        played: { parameters: [{ name: 'login', value: 'eve' }] },
      },
      'applications/0/parameters/0 PARAMETERS_LOCKED',
    ],
    [
      'a value does not fit',
      {
        application: { parameters: [parameterOf({ type: 'u8', defaultValue: '1' })] },
        played: { parameters: [{ name: 'login', value: '256' }] },
      },
      'applications/0/parameters/0 VALUE_UNFIT',
    ],
    [
      'a dictionary is unknown',
      { application: oneParameter, played: fromUsers({ dictionaryId: 9 }) },
      'applications/0/parameters/0 DICTIONARY_UNKNOWN',
    ],
    [
      'a column is unknown',
      { application: oneParameter, played: fromUsers({ column: 'age' }) },
      'applications/0/parameters/0 COLUMN_UNKNOWN',
    ],
    [
      'a dictionary is too short',
      { application: oneParameter, played: { users: 2, iterations: 2, ...fromUsers() } },
      'applications/0/parameters/0 DICTIONARY_TOO_SHORT',
    ],
    ['the server cannot know the user', { application: { parameters: [cookie] } }, 'applications/0 SESSION_AMBIGUOUS'],
    [
      'a speed is not allowed',
      { played: { sessions: [{ sessionIndex: 0, speed: { mode: 'max' } }] } },
      'applications/0/sessions/0/speed SPEED_LOCKED',
    ],
    [
      'an extract is not played',
      {
        application: { parameters: [parameterOf({ source: 'extract', extractSessionIdx: 1, extractLength: 2 })] },
        played: { sessions: [{ sessionIndex: 1, enabled: false }] },
      },
      'applications/0/sessions EXTRACT_NOT_PLAYED',
    ],
  ])('%s', (_, options, issue) => {
    expect(errorsOf(options)).toContain(`applicationParams/${issue}`);
  });

  it('over TLS without TCP, or with an unknown certificate', () => {
    const application = { sessions: [sessionOf(0, 53, 'udp'), sessionOf(1, 54, 'udp')] };
    expect(errorsOf({ application, values: { tlsParams: {} } })).toEqual(['tlsParams NOT_SUPPORTED']);
    const unknown = errorsOf({ values: { tlsParams: { certificateID: 9 } } });
    expect(unknown).toContain('tlsParams/certificateID CERTIFICATE_UNKNOWN');
  });
});
