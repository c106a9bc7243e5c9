import { describe, expect, it } from 'vitest';
import { planRun } from '../../core/plan-run.ts';
import { entryOf, inputOf, sidesOf } from '../../testing/plan-fixture.ts';

const issuesOf = (httpParams: object, more: object = { rpsUnlimited: true }) => {
  const values = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }], httpParams, ...more };
  return planRun(inputOf([entryOf(1, values)]))
    .issues.filter(({ severity }) => severity === 'error')
    .map(({ path, code }) => `${path.replace('/configuration/0/values/', '')} ${code}`);
};

describe('WebSocket', () => {
  it('has the same settings on both sides', () => {
    const webSocket = { kind: 'binary', message: { type: 'text', text: 'hi' }, compression: true, subprotocol: 'chat' };
    const { client, server } = sidesOf(1, { rpsUnlimited: true, httpParams: { webSocket } });
    const expected = {
      mode: 'echo',
      isText: false,
      isCompressed: true,
      subprotocol: 'chat',
      message: { type: 'text', data: 'hi' },
    };
    expect(client).toMatchObject({ webSocket: expected });
    expect(server).toMatchObject({ webSocket: expected });
  });

  it.each([
    ['random text', { message: { type: 'random', size: 10 } }, 'message/type NOT_SUPPORTED'],
    ['a message over its limit', { message: { size: 2000 }, maxMessageBytes: 1000 }, 'maxMessageBytes RANGE_INVALID'],
    ['a code that is never sent', { closeCode: 1005 }, 'closeCode RANGE_INVALID'],
    ['a code between the ranges', { closeCode: 2000 }, 'closeCode RANGE_INVALID'],
    ['a rate of the server where it only answers', { pushPerSecond: 5 }, 'pushPerSecond NOT_SUPPORTED'],
  ])('refuses %s', (_, webSocket, issue) => {
    expect(issuesOf({ webSocket })).toEqual([`httpParams/webSocket/${issue}`]);
  });

  it('refuses what requests have, and a count where clients do not send', () => {
    expect(issuesOf({ webSocket: {}, version: '2', method: 'POST', responseSize: 5 })).toEqual([
      'httpParams/version NOT_SUPPORTED',
      'httpParams/method NOT_SUPPORTED',
      'httpParams/responseSize NOT_SUPPORTED',
    ]);
    const counted = { rpsUnlimited: true, duration: { mode: 'count', count: 5 } };
    expect(issuesOf({ webSocket: { mode: 'receive' } }, counted)).toEqual(['duration/mode NOT_SUPPORTED']);
  });
});
