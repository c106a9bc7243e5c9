import type {
  Attempt,
  ClientObservation,
  ControlObservation,
  FindingObservation,
  ServerObservation,
} from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csvReport } from '../../metrics/report/csv-report.ts';
import { findingsSection } from '../../metrics/report/html-report.ts';
import type { ReportData } from '../../metrics/report/report-data.ts';
import { securitySection } from '../../metrics/report/security-section.ts';
import { storeRun } from '../../metrics/testing/stored-run.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { insertRunRecords, setRunAttempts } from '../../store/runs/run-attempts.ts';
import { runs } from '../../store/runs/runs.ts';
import { attackResultsOf } from '../../store/security/attack-results.ts';
import { insertSignature } from '../../store/security/cve.ts';
import type { Store } from '../../store/store.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { completeSignature, madeByUser } from '../signatures/expressions/complete-signature.ts';
import { readSecurityReport } from './security-report.ts';
import { settleAttacks } from './settle-run.ts';

const origin = { userId: null, address: '', requestId: 'test', operation: 'test' };
let controller: TestController;
let store: Store;
let files: SignedIn['client']['files'];

beforeAll(async () => {
  controller = await startTestController();
  store = controller.store;
  files = (await controller.signIn()).client.files;
});
afterAll(() => controller.close());

/** A storage that is gone. */
const blobs: Pick<Blobs, 'read'> = { read: () => Promise.reject(new Error('the storage is gone')) };
const t0 = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const same = 'a'.repeat(64);
const target = '10.0.0.2:80';

const attemptOf = (id: number, more: Partial<Attempt> = {}): Attempt => ({
  ...{ id, kind: 'cve', refId: 1, refName: `name ${id}`, variant: 'plain', category: 'rce', expected: 'block' },
  ...{ severity: 'high', techniques: [], direction: 'c2s', service: 'http' },
  exchange: {
    protocol: 'http',
    steps: [
      {
        request: { method: 'GET', path: `/${id}`, version: '1.1', headers: [] },
        answer: { mode: 'canned', status: 200, headers: [] },
      },
    ],
  },
  ...more,
});
const clientSaw = (attempt: number): ClientObservation => ({
  ...{ side: 'client', attempt, target, ip: '10.0.0.1', port: 40_000 + attempt, connect: 'ok', isComplete: true },
  ...{ sentBytes: 10, sentSha256: same, end: 'response', status: 200, rxBytes: 5, rxSha256: same },
  ...{ responseIsOurs: true, ttfbMs: 1, startedMs: 1000 + attempt * 1000, endedMs: 1010 + attempt * 1000 },
  isShunned: false,
});
const serverSaw = (attempt: number): ServerObservation => ({
  ...{ side: 'server', attempt, step: 0, correlation: 'token', ip: '10.0.0.2', port: 80, peerIp: '10.0.0.1' },
  ...{ peerPort: 40_000 + attempt, seen: 'full', rxBytes: 10, rxSha256: same, sentBytes: 5, sentSha256: same },
  ...{ end: 'none', atMs: 1005 + attempt * 1000 },
});
const proven: ControlObservation = {
  ...{ side: 'control', reason: 'path', service: 'http', target, ip: '10.0.0.1', isGood: true, detail: '' },
  ...{ startedMs: 0, endedMs: 10 },
};

/** A run that has ended, in which every attempt came through. */
const storePassed = async (attempts: readonly Attempt[], policy: Record<string, unknown> = {}) => {
  const { runId } = await storeRun(store, { t0, status: 7, agents: {} });
  const text = attempts.map((attempt) => `${JSON.stringify(attempt)}\n`).join('');
  await store.database.transaction(async (tx) => {
    await setRunAttempts(tx, runId, [
      {
        sha256: 'e'.repeat(64),
        orders: [
          [1, 0, 0],
          [2, 0, 0],
        ],
        policy,
        text,
      },
    ]);
    await insertRunRecords(tx, [
      {
        runID: runId,
        agentID: 1,
        orderIndex: 0,
        seq: 1,
        records: [proven, ...attempts.map(({ id }) => clientSaw(id))],
      },
      { runID: runId, agentID: 2, orderIndex: 0, seq: 1, records: attempts.map(({ id }) => serverSaw(id)) },
    ]);
  });
  const run = await runs.find(store.read, runId);
  if (run === undefined) throw new Error('the run was not stored');
  return run;
};

const storeSignature = (draft: object) =>
  store.change(origin, (tx) =>
    insertSignature(
      tx,
      completeSignature(
        { name: 'a signature', requests: [{ idx: 0, kind: 'http', method: 'GET', path: '/' }], ...draft } as never,
        madeByUser,
      ),
      '',
    ),
  );

const fileBytes = 4096;
const openFile = async () =>
  (await files.create({ body: { name: 'eve.json', category: 'other', size: fileBytes } })).data;
/** What is left of the announced size is filled with empty lines. */
const complete = (id: number, content: string) =>
  files.content(
    { params: { id }, chunk: Buffer.from(content.padEnd(fileBytes, '\n')) },
    { headers: { 'content-range': `bytes 0-${fileBytes - 1}/${fileBytes}` } },
  );

describe('attacks that passed', () => {
  it('are shown worst first with the facts of their signatures', async () => {
    const known = {
      ...{ cveIDs: ['CVE-2021-44228'], cweIDs: ['CWE-502'], cvssVersion: '3.1', cvssScore: 10 },
      ...{ cvssVector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', epssScore: 0.975, kev: true },
      remediation: 'update <it>, "now"',
    };
    const bad = await storeSignature(known);
    const lesser = await storeSignature({ name: 'another', cveIDs: ['CVE-2020-0001'] });
    const run = await storePassed([
      attemptOf(0, { refId: lesser }),
      attemptOf(1, { kind: 'waf', refId: bad, variant: 'plain/url-param' }),
      attemptOf(2, { refId: bad }),
      attemptOf(3, { kind: 'waf', refId: bad, variant: 'plain/signature' }),
      attemptOf(4, { refId: 999_999 }),
    ]);
    await settleAttacks({ store, blobs }, run);
    const security = await readSecurityReport(store.read, run, []);
    if (security === undefined) throw new Error('there is no report');
    expect(security.passed.map(({ refName }) => refName)).toEqual(['name 2', 'name 3', 'name 0', 'name 1', 'name 4']);
    const { cvssVersion: _, ...facts } = known;
    expect(security.passed[0]?.signature).toEqual(facts);
    expect(security.passed[1]?.signature).toEqual(facts);
    expect(security.passed.slice(3).map(({ signature }) => signature)).toEqual([undefined, undefined]);
    const lines = csvReport({ security } as ReportData).split('\r\n');
    expect(lines[0]).toMatch(
      /,cve,cwe,cvss,cvssVector,epss,kev,remediation,encoder,position,payload,changes,curl,ja4,owasp$/,
    );
    expect(lines[3]).toMatch(/,CVE-2021-44228,CWE-502,10,CVSS:3\.1[^,]*,0\.975,true,"update <it>, ""now""",/);
    expect(lines[5]).toMatch(/,,,,,,,,/);
    // What a payload exploits follows from its module.
    expect(security.attempts.map(({ weakness }) => weakness !== undefined)).toEqual([false, true, false, false, false]);
    expect(lines[2]).toMatch(/,,CWE-94 CWE-1395,,,,,.*,A03:2021 A06:2021$/);
    expect(security.owasp).toMatchObject([
      { name: 'A03:2021', attempts: 1, passed: 1 },
      { name: 'A06:2021', attempts: 1, passed: 1 },
    ]);
    const html = securitySection(security);
    for (const text of [
      'CVE-2021-44228',
      'CWE-502',
      '10.0',
      '0.975',
      '<td>yes</td>',
      'update &#60;it&#62;',
      '>A06:2021</a>',
    ]) {
      expect(html).toContain(text);
    }
  });
});

it('findings of fuzzing are in the report with their reproducer, and are no attempts', async () => {
  const run = await storePassed([attemptOf(0, { kind: 'fuzz' })]);
  const finding: FindingObservation = {
    ...{ side: 'finding', kind: 'health-lost', attempt: 0, name: 'case 0 of seed <1>', target, atMs: 2000 },
    ...{ detail: 'stops the target', reproducer: attemptOf(0).exchange },
  };
  const { reproducer: _known, ...plain } = finding;
  const again: FindingObservation = { ...plain, attempt: 5, name: 'case 5 of seed <1>', atMs: 3000, repeats: 0 };
  await store.database.transaction((tx) =>
    insertRunRecords(tx, [{ runID: run.id, agentID: 1, orderIndex: 0, seq: 2, records: [finding, again] }]),
  );
  await settleAttacks({ store, blobs }, run);
  const security = await readSecurityReport(store.read, run, []);
  expect(security?.attempts).toHaveLength(1);
  const at = new Date(t0 + 2000).toISOString();
  const cases = ['case 0 of seed <1>', 'case 5 of seed <1>'];
  expect(security?.findings).toEqual([{ ...finding, at, count: 2, cases }]);
  const html = security === undefined ? '' : findingsSection(security);
  expect(html).toContain('case 0 of seed &#60;1&#62;');
  expect(html).toContain('&#34;path&#34;:&#34;/0&#34;');
});

describe('alerts of the device', () => {
  const alert = (port: number, more: object = {}) =>
    JSON.stringify({
      ...{ timestamp: new Date(t0 + 1500).toISOString(), event_type: 'alert', src_ip: '10.0.0.1', src_port: port },
      ...{ dest_ip: '10.0.0.2', dest_port: 80, verdict: { action: 'alert' } },
      alert: { action: 'blocked', signature_id: 7, signature: 'seen' },
      ...more,
    });
  const policyOf = (fileID: number, more: object = {}) => ({
    runToken: 'token',
    alerts: { enabled: true, format: 'suricata-eve', fileID, windowMs: 5000, matchOn: ['tuple'], ...more },
  });
  const detectedIn = async (runId: number) =>
    (await attackResultsOf(store.read, runId)).map(({ detected }) => detected);

  it('are read once their file is complete, and until then nothing is known', async () => {
    const file = await openFile();
    const run = await storePassed([attemptOf(0), attemptOf(1)], policyOf(file));
    await settleAttacks({ store, blobs }, run);
    expect(await detectedIn(run.id)).toEqual(['unknown', 'unknown']);
    await complete(file, `not json\n${alert(40_001)}\n`);
    expect(await detectedIn(run.id)).toEqual(['no', 'yes']);
    const [, second] = await attackResultsOf(store.read, run.id);
    expect(second).toMatchObject({ outcome: 'passed' });
    expect(second?.alerts).toEqual([
      { time: new Date(t0 + 1500).toISOString(), rule: '7', message: 'seen', action: 'alert' },
    ]);
    const security = await readSecurityReport(store.read, run, []);
    expect(security?.rates.detectionRate.value).toBe(0.5);
  });

  it('settle only the runs that name their file', async () => {
    const [own, other] = [await openFile(), await openFile()];
    const run = await storePassed([attemptOf(0)], policyOf(other));
    await settleAttacks({ store, blobs }, run);
    await complete(own, alert(40_000));
    expect(await detectedIn(run.id)).toEqual(['unknown']);
  });

  it('are found by the rules and the CVE of a signature', async () => {
    const signature = await storeSignature({ name: 'third', expect: { action: 'block', ruleIDs: ['7'] } });
    const file = await openFile();
    const attempts = [attemptOf(0, { refId: signature }), attemptOf(1, { refId: 999_999 })];
    const run = await storePassed(attempts, policyOf(file, { matchOn: ['signature'] }));
    await complete(file, alert(1));
    expect(await detectedIn(run.id)).toEqual(['yes', 'no']);
  });

  it('leave everything else as it is when they cannot be read', async () => {
    const file = await openFile();
    await complete(file, alert(40_000));
    const run = await storePassed([attemptOf(0)], policyOf(file));
    await settleAttacks({ store, blobs }, run);
    expect(await attackResultsOf(store.read, run.id)).toMatchObject([{ outcome: 'passed', detected: 'unknown' }]);
  });
});
