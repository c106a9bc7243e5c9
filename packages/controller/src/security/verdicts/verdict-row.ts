import type { AttackResult } from '@rushhour/contract';
import type { ClientObservation } from '@rushhour/protocol';
import type { Evidence } from './evidence.ts';

export type Observed = Evidence & { readonly client: ClientObservation };
export type Verdict = Pick<AttackResult, 'outcome' | 'mechanism'> & { readonly why?: string };

/** One way to decide; of several the first that fits counts. */
export interface Row {
  readonly row: number;
  fits(observed: Observed): boolean;
  decide(observed: Observed): Verdict;
}

export const blocked = (mechanism: AttackResult['mechanism'], why = ''): Verdict => ({
  outcome: 'blocked',
  mechanism,
  why,
});
export const inconclusive = (why: string): Verdict => ({ outcome: 'inconclusive', mechanism: null, why });

/** Silence and refusal count only if a benign exchange succeeds right afterwards. */
export const ifReachable = ({ controls, client }: Observed, verdict: Verdict): Verdict => {
  if (client.isShunned) return { ...verdict, mechanism: 'silent-drop', why: 'client_shunned' };
  return controls.after === true ? verdict : inconclusive('device_unreachable');
};

/** Without these nothing else is looked at. */
export const firstRows: readonly Row[] = [
  {
    row: 1,
    fits: ({ client }) => client.error !== undefined,
    decide: ({ client }) => ({ outcome: 'error', mechanism: null, why: client.error ?? '' }),
  },
  {
    row: 2,
    fits: ({ client, controls }) => client.skipped === 'path_not_proven' || !controls.before,
    decide: () => inconclusive('path_not_proven'),
  },
];
