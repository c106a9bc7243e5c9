import { describe, expect, it } from 'vitest';
import { Introduction } from './handshake.ts';
import type { Identity } from './identity.ts';

const refusal = (code: string, retry = false) => ({ type: 'refused' as const, code, reason: 'no', retry });
const of = (isEnrolled: boolean, hasToken: boolean) => new Introduction({ isEnrolled } as Identity, hasToken);

describe('greeting', () => {
  it('sends hello once enrolled and enrol before', () => {
    expect(of(true, true).next).toBe('hello');
    expect(of(false, true).next).toBe('enrol');
  });

  it('uses the token when the controller has forgotten the agent, and gives up when that fails too', () => {
    const greeting = of(true, true);
    expect(greeting.refused(refusal('UNKNOWN_AGENT'))).toBeUndefined();
    expect(greeting.next).toBe('enrol');
    expect(greeting.refused(refusal('TOKEN_SPENT'))).toMatchObject({ code: 'UNKNOWN_AGENT' });
    expect(of(true, false).refused(refusal('UNKNOWN_AGENT'))).toMatchObject({ code: 'UNKNOWN_AGENT' });
  });

  it('says hello when the token is used up: the welcome may have been lost', () => {
    const greeting = of(false, true);
    expect(greeting.refused(refusal('TOKEN_SPENT'))).toBeUndefined();
    expect(greeting.next).toBe('hello');
    greeting.welcomed();
    expect(greeting.next).toBe('enrol');
  });

  it('does not give up where a retry may succeed', () => {
    const greeting = of(true, true);
    for (let i = 0; i < 5; i++) expect(greeting.refused(refusal('BLOCKED', true))).toBeUndefined();
    expect(greeting.next).toBe('hello');
    expect(greeting.refused(refusal('BAD_SIGNATURE'))).toMatchObject({ code: 'BAD_SIGNATURE' });
  });
});
