import type { ClientObservation } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { defaultPolicy, type Evidence, type ServerSeen } from './evidence.ts';

const ourHash = 'a'.repeat(64);
const otherHash = 'b'.repeat(64);

const client = (more: Partial<ClientObservation> = {}): ClientObservation => ({
  side: 'client',
  attempt: 1,
  target: '10.0.0.1:80',
  ip: '10.0.0.2',
  port: 40_000,
  connect: 'ok',
  isComplete: true,
  sentBytes: 214,
  sentSha256: 'c'.repeat(64),
  end: 'response',
  status: 200,
  rxBytes: 300,
  rxSha256: ourHash,
  responseIsOurs: true,
  ttfbMs: 3,
  startedMs: 100,
  endedMs: 103,
  isShunned: false,
  ...more,
});

const server = (seen: ServerSeen['seen'], more: Partial<ServerSeen> = {}): ServerSeen => ({
  agentId: 2,
  ip: '10.0.0.1',
  port: 80,
  seen,
  rxBytes: seen === 'full' ? 214 : 0,
  rxSha256: '',
  sentBytes: seen === 'full' || seen === 'modified' ? 300 : 0,
  sentSha256: seen === 'full' || seen === 'modified' ? ourHash : '',
  end: 'none',
  correlation: 'token',
  ...more,
});

const judge = (seen: ClientObservation | undefined, saw: ServerSeen, more: Partial<Evidence> = {}) =>
  decide({
    attempt: { kind: 'waf', direction: 'c2s' },
    client: seen,
    server: saw,
    controls: { before: true, after: true },
    policy: defaultPolicy,
    ...more,
  });

const nothing = { status: 0, rxBytes: 0, rxSha256: '', responseIsOurs: false };
const page = { status: 403, rxSha256: otherHash, responseIsOurs: false };

describe('what became of an attempt', () => {
  it('row 1: an agent that could not do it is an error', () => {
    expect(judge(client({ ...nothing, error: 'EMFILE', connect: 'none', end: 'none' }), server('none'))).toMatchObject({
      row: 1,
      outcome: 'error',
    });
  });

  it('row 2: without a proof of the path nothing can be said', () => {
    const skipped = client({ ...nothing, connect: 'none', end: 'none', skipped: 'path_not_proven' });
    expect(judge(skipped, server('none'))).toMatchObject({ row: 2, outcome: 'inconclusive' });
    const lost = { controls: { before: false, after: true } };
    expect(judge(client(), server('full'), lost)).toMatchObject({
      row: 2,
      reason: expect.stringContaining('path_not_proven'),
    });
  });

  it('row 3: what arrived whole and was answered byte for byte has passed', () => {
    expect(judge(client(), server('full'))).toMatchObject({ row: 3, outcome: 'passed', confidence: 'high' });
    const silent = client({ ...nothing, end: 'timeout' });
    expect(judge(silent, server('full', { sentBytes: 0, sentSha256: '' }))).toMatchObject({
      row: 3,
      outcome: 'passed',
    });
  });

  it('row 4: what arrived changed is modified', () => {
    expect(judge(client(), server('modified'))).toMatchObject({ row: 4, outcome: 'modified' });
  });

  it('row 3: harmless changes of request and answer are named, and the attempt has passed', () => {
    const changes = [{ part: 'response body', kind: 'compressed', detail: 'gzip' }] as const;
    const compressed = client({ rxSha256: otherHash, isAltered: true, changes: [...changes] });
    const decision = judge(compressed, server('full'));
    expect(decision).toMatchObject({ row: 3, outcome: 'passed' });
    expect(decision.reason).toContain('altered (response body compressed: gzip)');
  });

  it('an upload that ended as if complete and of which nothing arrived is blocked', () => {
    expect(judge(client(), server('partial', { sentSha256: ourHash, sentBytes: 12 }))).toMatchObject({
      outcome: 'blocked',
      mechanism: 'content-removed',
    });
  });

  it('what happens without the device too is not credited to the device', () => {
    const bare = { outcome: 'blocked' } as const;
    expect(judge(client(page), server('none'), { bare })).toMatchObject({ outcome: 'inconclusive' });
    expect(judge(client(page), server('none'), { bare: { outcome: 'passed' } })).toMatchObject({ outcome: 'blocked' });
    expect(judge(client(), server('full'), { bare })).toMatchObject({ outcome: 'passed' });
  });

  it('row 5: an answer that is not ours while nothing arrived is a block page, whatever its status', () => {
    for (const status of [200, 403, 503]) {
      expect(judge(client({ ...page, status }), server('none'))).toMatchObject({
        row: 5,
        outcome: 'blocked',
        mechanism: 'block-page',
      });
    }
    const limited = client({ ...page, status: 429, isRateLimited: true });
    expect(judge(limited, server('connected'))).toMatchObject({
      outcome: 'inconclusive',
      mechanism: 'rate-limited',
    });
    expect(judge(client({ ...page, status: 429, tries: 4 }), server('none'))).toMatchObject({
      mechanism: 'block-page',
    });
    const policy = { ...defaultPolicy, partialIsBlock: false };
    expect(judge(client(page), server('partial'), { policy })).toMatchObject({ outcome: 'inconclusive' });
  });

  it('row 5: statuses and patterns of the policy say what the answer was', () => {
    const excerpt = Buffer.from('<h1>Request rejected</h1>').toString('base64');
    const policy = { ...defaultPolicy, blockRegex: 'rejected|denied', passRegex: 'welcome' };
    const reasonOf = (status: number, more: Partial<Evidence> = {}) =>
      judge(client({ ...page, status, excerpt }), server('none'), { policy, ...more }).reason;
    expect(reasonOf(403)).toContain('status 403 is one of blockStatus, its text fits blockRegex: ');
    expect(reasonOf(200)).toContain('its text fits blockRegex, status 200 is one of passStatus: ');
    expect(reasonOf(503, { policy: defaultPolicy })).not.toMatch(/Status|Regex/);
    expect(judge(client({ ...page, excerpt }), server('full'), { policy }).reason).toContain('fits blockRegex');
  });

  it('row 6: a request that got in and an answer that is not ours is a blocked response', () => {
    expect(judge(client(page), server('full'))).toMatchObject({
      row: 6,
      outcome: 'blocked',
      mechanism: 'response-blocked',
    });
  });

  it('row 7: a reset before all arrived is a reset, unless the policy counts none', () => {
    const reset = client({ ...nothing, end: 'reset' });
    expect(judge(reset, server('partial'))).toMatchObject({ row: 7, outcome: 'blocked', mechanism: 'tcp-reset' });
    const policy = { ...defaultPolicy, resetIsBlock: false };
    expect(judge(reset, server('none'), { policy })).toMatchObject({ row: 7, outcome: 'inconclusive' });
  });

  it('row 8: an early end or a TLS alert is a block', () => {
    expect(judge(client({ ...nothing, end: 'fin' }), server('connected'))).toMatchObject({ row: 8, mechanism: 'fin' });
    const alert = client({ ...nothing, connect: 'tls-failed', end: 'alert' });
    expect(judge(alert, server('none'))).toMatchObject({ row: 8, mechanism: 'tls-alert' });
  });

  it('row 9: a refusal counts only when a harmless exchange works right after', () => {
    const refused = client({ ...nothing, connect: 'refused', end: 'none' });
    expect(judge(refused, server('none'))).toMatchObject({ row: 9, outcome: 'blocked', mechanism: 'connect-refused' });
    const unreachable = client({ ...nothing, connect: 'unreachable', end: 'none' });
    expect(judge(unreachable, server('none'))).toMatchObject({ row: 9, mechanism: 'icmp' });
    for (const after of [false, undefined]) {
      const controls = { before: true, after };
      expect(judge(refused, server('none'), { controls })).toMatchObject({ row: 9, outcome: 'inconclusive' });
    }
  });

  it('row 10: silence is a silent drop only when a harmless exchange works right after', () => {
    const silence = client({ ...nothing, end: 'timeout' });
    expect(judge(silence, server('none'))).toMatchObject({ row: 10, outcome: 'blocked', mechanism: 'silent-drop' });
    expect(judge(silence, server('none'), { controls: { before: true, after: false } })).toMatchObject({
      outcome: 'inconclusive',
      reason: expect.stringContaining('device_unreachable'),
    });
    const shunned = judge({ ...silence, isShunned: true }, server('none'), {
      controls: { before: true, after: false },
    });
    expect(shunned).toMatchObject({ outcome: 'blocked', mechanism: 'silent-drop' });
    expect(shunned.reason).toContain('client_shunned');
    const policy = { ...defaultPolicy, timeoutIsBlock: false };
    expect(judge(silence, server('none'), { policy })).toMatchObject({ outcome: 'inconclusive' });
  });

  it('row 11: a request that got in and whose answer never came back is a blocked response', () => {
    const responseBlocked = { row: 11, outcome: 'blocked', mechanism: 'response-blocked' };
    expect(judge(client({ ...nothing, end: 'reset' }), server('full'))).toMatchObject(responseBlocked);
    const late = client({ ...nothing, end: 'timeout' });
    expect(judge(late, server('full'))).toMatchObject({ row: 11, outcome: 'inconclusive' });
    expect(judge(late, server('full')).reason).toMatch(/^late: /);
    const attempt = { kind: 'malware', direction: 's2c' } as const;
    expect(judge(late, server('full'), { attempt })).toMatchObject(responseBlocked);
  });

  it('row 12: an answer of ours with less or other content is modified', () => {
    const less = client({ rxSha256: otherHash, rxBytes: 200 });
    expect(judge(less, server('full'))).toMatchObject({ row: 12, outcome: 'modified', mechanism: 'content-removed' });
    const other = client({ rxSha256: otherHash, rxBytes: 400 });
    expect(judge(other, server('full'))).toMatchObject({ row: 12, mechanism: 'content-replaced' });
  });

  it('row 13: everything else says nothing', () => {
    expect(judge(client(), server('none'))).toMatchObject({ row: 13, outcome: 'inconclusive', confidence: 'low' });
  });

  it('what was never tried is skipped', () => {
    expect(judge(undefined, server('none'))).toMatchObject({ outcome: 'skipped' });
    expect(judge(client({ skipped: 'channel_left' }), server('none'))).toMatchObject({ outcome: 'skipped' });
  });

  it('a block page of a device behind which nothing answers any more is no block', () => {
    const controls = { before: true, after: false };
    expect(judge(client({ ...page, status: 502 }), server('none'), { controls })).toMatchObject({
      outcome: 'inconclusive',
    });
    expect(judge(client(), server('full'), { controls })).toMatchObject({ outcome: 'passed' });
    // It answered by itself, and then banned the sender.
    expect(judge(client(page), server('none'), { controls })).toMatchObject({ outcome: 'blocked' });
  });
});
