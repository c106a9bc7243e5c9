import { describe, expect, it } from 'vitest';
import type { Identity } from './identity.ts';
import { Introduction } from './introduction.ts';

const refusal = (code: string, retry = false) => ({ type: 'refused' as const, code, reason: 'no', retry });
const of = (isEnrolled: boolean, hasToken: boolean) => new Introduction({ isEnrolled } as Identity, hasToken);

describe('introduction', () => {
  it('begins with hello once enrolled and with the token before', () => {
    expect(of(true, true).next).toBe('hello');
    expect(of(false, true).next).toBe('enrol');
  });

  it('uses the token when the controller has forgotten the agent, and gives up when that fails too', () => {
    const introduction = of(true, true);
    expect(introduction.refused(refusal('UNKNOWN_AGENT'))).toBeUndefined();
    expect(introduction.next).toBe('enrol');
    expect(introduction.refused(refusal('TOKEN_SPENT'))).toMatchObject({ code: 'UNKNOWN_AGENT' });
    expect(of(true, false).refused(refusal('UNKNOWN_AGENT'))).toMatchObject({ code: 'UNKNOWN_AGENT' });
  });

  it('says hello when the token is used up: the welcome may have been lost', () => {
    const introduction = of(false, true);
    expect(introduction.refused(refusal('TOKEN_SPENT'))).toBeUndefined();
    expect(introduction.next).toBe('hello');
    introduction.welcomed();
    expect(introduction.next).toBe('enrol');
  });

  it('does not give up where trying again makes sense', () => {
    const introduction = of(true, true);
    for (let i = 0; i < 5; i++) expect(introduction.refused(refusal('BLOCKED', true))).toBeUndefined();
    expect(introduction.next).toBe('hello');
    expect(introduction.refused(refusal('BAD_SIGNATURE'))).toMatchObject({ code: 'BAD_SIGNATURE' });
  });
});
