import { Attempt, type HttpExchange } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../../schema-check.ts';
import { completeSignature, madeByUser } from '../../../security/signatures/expressions/complete-signature.ts';
import { agentOf, sidesOf } from '../../testing/plan-fixture.ts';

type Modules = Record<string, unknown>;
const noBenign = { enabled: false };
const waf = (wafModules: Modules, values: Record<string, unknown> = {}, options = {}) => {
  const sides = sidesOf(15, { wafModules, ...values }, options);
  const attempts = (sides.plan.attempts[0]?.text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);
  return { ...sides, attempts };
};
const stored = (id: number, draft: object) => ({
  ...completeSignature({ name: `signature ${id}`, requests: [], ...draft }, madeByUser),
  ...{ id, issuerID: 1, issuer: null, createdAt: '', updatedAt: '' },
});
const requestOf = ({ exchange }: Attempt) => (exchange as HttpExchange).steps[0]?.request;

describe('the plan of a web application firewall test', () => {
  it('refuses patterns of answers that cannot be read', () => {
    const detection = { blockRegex: '(rejected', passRegex: 'welcome' };
    expect(waf({ modules: [{ name: 'ssi' }], detection }).issues).toEqual([
      'wafModules/detection/blockRegex BAD_REGEX',
    ]);
  });

  it('is every payload in every writing and place, and says how many beforehand', () => {
    const placeholders = ['url-param', 'json-body', 'header'];
    const { attempts, plan, issues, client, server } = waf({
      modules: [{ name: 'ssi', encoders: ['plain', 'url'], placeholders }],
      benign: { sample: 50 },
    });
    expect(issues).toEqual([]);
    expect(attempts.filter(({ kind }) => kind === 'waf')).toHaveLength(4 * 2 * 3);
    expect(attempts.filter(({ kind }) => kind === 'benign')).toHaveLength(50);
    expect(plan.estimate.attempts).toBe(74);
    expect(attempts.map(({ id }) => id)).toEqual(attempts.map((_, index) => index));
    const check = createSchemaCheck(Attempt);
    expect(attempts.flatMap((attempt) => check(structuredClone(attempt)))).toEqual([]);
    expect(client).toMatchObject({ attempts: { $file: plan.attempts[0]?.sha256 }, runToken: server['runToken'] });
    expect(client['proofKey']).toBe(server['proofKey']);
    expect(plan.agents.map(({ files }) => files)).toEqual([
      [{ sha256: plan.attempts[0]?.sha256, size: plan.attempts[0]?.size }],
      [{ sha256: plan.attempts[0]?.sha256, size: plan.attempts[0]?.size }],
    ]);
  });

  it('is the same for the same seed, another for another, and sequential when asked for', () => {
    const modules = [{ name: 'xss' }];
    const namesOf = (more: Modules) => waf({ modules, ...more }).attempts.map(({ refName }) => refName);
    expect(namesOf({ seed: 5 })).toEqual(namesOf({ seed: 5 }));
    expect(namesOf({ seed: 5 })).not.toEqual(namesOf({ seed: 6 }));
    expect(namesOf({ order: 'sequential', benign: noBenign }).slice(0, 2)).toEqual(['xss 1', 'xss 2']);
  });

  it('is cut to what is allowed, which is reported', () => {
    const { attempts, issues } = waf({
      modules: [{ name: 'sql-injection', encoders: ['plain', 'url'], maxRequests: 7 }],
      benign: noBenign,
    });
    expect(attempts).toHaveLength(7);
    expect(issues).toEqual(['warning wafModules/modules/0/maxRequests REQUESTS_CUT']);
  });

  it('is refused before it is made when it would be more than a plan can hold', () => {
    const padKb = [1024, 512];
    const modules = [
      { name: 'xss', encoders: ['plain', 'url'], placeholders: ['body', 'form'], padKb, maxRequests: 1e6 },
    ];
    const { attempts, issues } = waf({ modules });
    expect(attempts).toEqual([]);
    expect(issues[0]).toBe('wafModules/modules TOO_MANY_ATTEMPTS');
    expect(waf({ modules: [{ name: 'xss' }], benign: { sample: 1e6 } }).issues[0]).toContain('TOO_MANY_ATTEMPTS');
  });

  it('writes payloads as the place and the encoder want them', () => {
    const dictionaries = new Map([[7, { name: 'own', values: ["a'<b> c"], isCut: false }]]);
    const paths = (encoder: string) =>
      waf(
        { modules: [{ name: 'custom', dictionaryIds: [7], encoders: [encoder] }], benign: noBenign },
        {},
        { dictionaries },
      ).attempts.map((attempt) => requestOf(attempt)?.path);
    expect(paths('plain')).toEqual(["/?q=a'%3Cb%3E%20c"]);
    expect(paths('url')).toEqual(['/?q=%61%27%3C%62%3E%20%63']);
    expect(paths('url-double')).toEqual(['/?q=%25%36%31%25%32%37%25%33%43%25%36%32%25%33%45%25%32%30%25%36%33']);
    expect(paths('base64')).toEqual(['/?q=YSc8Yj4gYw%3D%3D']);
    expect(paths('comment-split')).toEqual(["/?q=a'%3Cb%3E%2F**%2Fc"]);
  });

  it('puts attacks on interfaces of programs where these are read: paths, tokens, whole objects and queries', () => {
    const sentBy = (name: string) => {
      const { attempts, issues } = waf({
        modules: [{ name, maxRequests: 100 }],
        benign: noBenign,
        order: 'sequential',
      });
      expect(issues).toEqual([]);
      return attempts.flatMap((attempt) => requestOf(attempt) ?? []);
    };
    const bodies = (name: string) =>
      sentBy(name).map(({ body }) =>
        JSON.parse(Buffer.from(body !== undefined && 'data' in body ? body.data : '', 'base64').toString()),
      );
    expect(sentBy('access-control').map(({ path }) => path)).toContain('/api/v1/users/me/..%2f2');
    expect(sentBy('exposed-resources').map(({ path }) => path)).toContain('/.git/config');
    for (const { headers } of sentBy('broken-authentication'))
      expect(headers.filter(({ name }) => name === 'Authorization')).toEqual([
        { name: 'Authorization', value: expect.stringMatching(/^Bearer [\w.-]+$/) },
      ]);
    expect(bodies('mass-assignment')).toContainEqual({ name: 'x', isAdmin: true });
    for (const { query } of bodies('resource-consumption')) {
      const count = (mark: string) => (query as string).split(mark).length;
      expect([query, count('{')]).toEqual([query, count('}')]);
    }
  });

  describe('in gRPC calls', () => {
    const calls = (http: object = {}, more: object = {}) =>
      waf({
        modules: [{ name: 'grpc', maxRequests: 5 }],
        benign: { sample: 3, placeholders: ['grpc'] },
        http,
        ...more,
      });
    const bodyOf = (attempt: Attempt) => {
      const body = requestOf(attempt)?.body;
      return Buffer.from(body !== undefined && 'data' in body ? body.data : '', 'base64');
    };

    it('has payloads in fields of messages, over HTTP/2, answered with a status and proven by calls', () => {
      const { attempts, client, issues } = calls({ hosts: ['api.test'] });
      expect(issues).toEqual(['warning wafModules/modules/0/maxRequests REQUESTS_CUT']);
      expect(attempts).toHaveLength(8);
      for (const attempt of attempts) {
        const body = bodyOf(attempt);
        expect(body[0]).toBe(0);
        expect(body.readUInt32BE(1)).toBe(body.length - 5);
        if (attempt.kind === 'waf') expect(body.toString().split(attempt.payload as string)).toHaveLength(3);
        expect(requestOf(attempt)).toMatchObject({
          method: 'POST',
          path: '/search.SearchService/Search',
          version: '2',
        });
        expect((attempt.exchange as HttpExchange).steps[0]?.answer.trailers).toEqual([
          { name: 'grpc-status', value: '0' },
        ]);
      }
      const check = createSchemaCheck(Attempt);
      expect(attempts.flatMap((attempt) => check(structuredClone(attempt)))).toEqual([]);
      expect(client['control']).toMatchObject({ version: '2', grpcPath: '/search.SearchService/Search' });
      expect(waf({ modules: [{ name: 'xss' }] }).client['control']).not.toHaveProperty('grpcPath');
    });

    it('are of the method that a description has', () => {
      const proto =
        'syntax = "proto3"; package shop; message Q { int32 page = 1; repeated string words = 2; } message A {} service Search { rpc Find(Q) returns (A); }';
      const grpc = { method: '/shop.Search/Find', proto, messageJson: '{"page": 2, "words": ["a {{payload}}"]}' };
      const { attempts, issues } = calls(
        { grpc },
        { modules: [{ name: 'xss', placeholders: ['grpc'], maxRequests: 1 }] },
      );
      expect(issues).toEqual(['warning wafModules/modules/0/maxRequests REQUESTS_CUT']);
      const attack = attempts.find(({ kind }) => kind === 'waf') as Attempt;
      const text = `a ${attack.payload}`;
      const message = Buffer.concat([Buffer.of(8, 2, 0x12, Buffer.byteLength(text)), Buffer.from(text)]);
      expect(bodyOf(attack).subarray(5).equals(message)).toBe(true);
      const path = 'wafModules/http/grpc';
      const issuesOf = (more: object) => calls({ grpc: { ...grpc, ...more } }).issues;
      expect(issuesOf({ messageJson: '{"page": 2}' })).toContain(`${path}/messageJson MESSAGE_INVALID`);
      expect(issuesOf({ messageJson: '{"words": "{{payload}}"' })).toContain(`${path}/messageJson MESSAGE_INVALID`);
      expect(issuesOf({ method: '/shop.Search/Other' })).toContain(`${path}/proto PROTO_INVALID`);
      expect(issuesOf({ messageJson: '{"page": "{{payload}}"}' })).toContain(`${path}/proto PROTO_INVALID`);
      expect(calls({ grpc: { messageJson: '{}' } }).issues).toContain(`${path}/messageJson NOT_SUPPORTED`);
    });

    it('say when a device has to take both versions on one port', () => {
      const { issues, client } = waf({ modules: [{ name: 'xss', placeholders: ['grpc', 'form'], maxRequests: 500 }] });
      expect(issues).toContain('warning wafModules/http/versions MIXED_VERSIONS');
      expect(client['control']).not.toHaveProperty('version');
    });
  });

  it('plays the signatures of a module as attempts of that module', () => {
    const http = (path: string, more: object = {}) => ({
      requests: [{ idx: 0, kind: 'http', method: 'GET', path }],
      ...more,
    });
    const all = [
      stored(
        1,
        http('/?x={{p}}', {
          cveIDs: ['CVE-2021-44228'],
          severity: 'critical',
          payloads: [{ name: 'p', values: ['a', 'b'] }],
        }),
      ),
      stored(2, { requests: [{ idx: 0, kind: 'raw', transport: 'tcp', port: 6379, data: 'PING' }] }),
      stored(3, http('/c', { tags: 'intrusive', enabled: true })),
      stored(4, http('/d', { expect: { action: 'allow' } })),
    ];
    const signatures = new Map(all.map((one) => [one.id, one]));
    const play = (module: object) =>
      waf(
        {
          modules: [{ name: 'custom', ...module }],
          benign: noBenign,
          order: 'sequential',
          http: { hosts: ['app.test'] },
        },
        {},
        { signatures },
      );
    const { attempts, issues } = play({ signatureIds: [1, 2, 4] });
    expect(issues).toEqual(['warning wafModules/modules/0/signatureIds/1 SIGNATURE_LEFT_OUT']);
    expect(
      attempts.map(({ kind, refId, refName, variant, category }) => [kind, refId, refName, variant, category]),
    ).toEqual([
      ['waf', 1, 'CVE-2021-44228', 'plain/signature/payload-1', 'custom'],
      ['waf', 1, 'CVE-2021-44228', 'plain/signature/payload-2', 'custom'],
      ['benign', 4, 'signature 4', 'plain/signature', 'custom'],
    ]);
    expect(attempts[0]).toMatchObject({ severity: 'critical', expected: 'block', service: 'http' });
    expect(requestOf(attempts[1] as Attempt)).toMatchObject({
      path: '/?x=b',
      headers: [{ name: 'Host', value: 'app.test' }],
    });
    const check = createSchemaCheck(Attempt);
    expect(attempts.flatMap((attempt) => check(structuredClone(attempt)))).toEqual([]);
    expect(play({ signatureIds: [3] }).issues).toContain('wafModules/modules/0/signatureIds/0 SIGNATURE_INTRUSIVE');
    expect(play({ signatureIds: [9] }).issues).toContain('wafModules/modules/0/signatureIds/0 SIGNATURE_UNKNOWN');
    const cut = play({ name: 'xss', signatureIds: [1], maxRequests: 5 });
    expect(cut.attempts.filter(({ refId }) => refId === 1)).toHaveLength(2);
    expect(cut.attempts).toHaveLength(5);
  });

  it('reads alerts only with a pattern that can be read, and says when no file is named', () => {
    const play = (alerts: object) =>
      waf({ modules: [{ name: 'ssi' }], benign: noBenign, detection: { alerts: { enabled: true, ...alerts } } });
    const pointer = 'wafModules/detection/alerts';
    expect(play({ format: 'syslog-regex', fileID: 5, regex: '(' }).issues).toEqual([`${pointer}/regex BAD_REGEX`]);
    expect(play({}).issues).toEqual([`warning ${pointer}/fileID NO_ALERT_FILE`]);
    const { plan, client, issues } = play({ fileID: 5 });
    expect(issues).toEqual([]);
    expect(plan.attempts[0]?.policy).toMatchObject({ alerts: { fileID: 5 }, runToken: client['runToken'] });
  });

  it('goes only where a server agent of ours can prove the path, and never to foreign addresses', () => {
    const modules = { modules: [{ name: 'ssi' }], benign: noBenign };
    expect(waf(modules, { targets: [{ ip: '10.0.0.2' }] }).issues).toContain('targets/0/agent NO_SERVER_AGENT');
    expect(waf(modules, { targets: [{ agent: { id: 2 }, ip: '198.51.100.7' }] }).issues).toEqual([
      'targets/0 TARGET_NOT_ALLOWED',
    ]);
    const device = waf(modules, { targets: [{ agent: { id: 2 }, ip: '10.9.9.9', ports: '8080' }] });
    expect(device.client['targets']).toMatchObject([{ host: '10.9.9.9', port: 8080, service: 'http' }]);
    expect(device.server['listen']).toMatchObject([{ host: '0.0.0.0', port: 8080, protocol: 'http' }]);
    expect(waf(modules, { isServer: true }).issues).toContain('isServer NOT_SUPPORTED');
  });

  it('is divided among several clients', () => {
    const agents = [agentOf(1), agentOf(2), agentOf(3)];
    const { plan } = waf(
      { modules: [{ name: 'xss' }], ratePerSecond: 20 },
      { sources: [{ agent: { id: 1 } }, { agent: { id: 3 } }] },
      { agents },
    );
    const shares = plan.agents.flatMap(({ jobs }) =>
      jobs.filter(({ role }) => role === 'client').map(({ job }) => (job.config as { share: object }).share),
    );
    expect(shares).toEqual([
      { index: 0, count: 2 },
      { index: 1, count: 2 },
    ]);
    expect(plan.plannedSec).toBeNull();
  });
});
