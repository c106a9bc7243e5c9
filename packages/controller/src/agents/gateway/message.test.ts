import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadMessage, parseMessage } from './session.ts';

const heartbeat = { type: 'heartbeat', sentAt: 1, clockOffsetMs: 0, roundTripMs: 0 };
const types = ['enrol', 'hello', 'heartbeat', 'facts', 'logs', 'answer', 'needFile', 'prepared', 'summaries', 'ended'];

/** Parses, and fails the test when anything but a message or a `BadMessage` comes out. */
const outcomeOf = (text: string) => {
  try {
    return parseMessage(text).type;
  } catch (error) {
    expect(error).toBeInstanceOf(BadMessage);
    return (error as Error).message;
  }
};

describe('a message', () => {
  it('of the protocol is what it is', () => {
    expect(parseMessage(JSON.stringify(heartbeat))).toEqual(heartbeat);
    const report = { type: 'ended', runId: 1, epoch: 0, endedByDeadMan: false };
    expect(parseMessage(JSON.stringify(report))).toEqual(report);
  });

  it('with something missing, wrong or unknown says where', () => {
    expect(outcomeOf(JSON.stringify({ ...heartbeat, sentAt: '1' }))).toBe('heartbeat/sentAt must be number');
    expect(outcomeOf(JSON.stringify({ ...heartbeat, more: 1 }))).toBe('heartbeat/more is not known here');
    expect(outcomeOf(JSON.stringify({ type: 'needFile', sha256: '0'.repeat(64), offset: -1 }))).toMatch(
      /^needFile\/offset /,
    );
  });

  it('with a time that no date of the API can represent is refused', () => {
    const logsAt = (ts: number) =>
      outcomeOf(JSON.stringify({ type: 'logs', lines: [{ ts, level: 'info', source: 'x', message: 'x' }] }));
    expect(logsAt(Date.UTC(10_000, 0) - 1)).toBe('logs');
    expect(logsAt(Date.UTC(10_000, 0))).toMatch(/^logs\/lines\/0\/ts /);
  });

  it('of whatever form never does anything but be refused or understood', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof outcomeOf(text) === 'string'));
    fc.assert(fc.property(fc.json(), (text) => typeof outcomeOf(text) === 'string'));
    const nearly = fc
      .tuple(fc.constantFrom(...types), fc.object({ maxDepth: 3 }))
      .map(([type, members]) => JSON.stringify({ ...members, type }));
    fc.assert(fc.property(nearly, (text) => typeof outcomeOf(text) === 'string'));
    expect(outcomeOf('['.repeat(100_000))).toBe('not JSON');
    expect(outcomeOf(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)).toBe('no message of type undefined is known');
  });
});
