import type { AttackResult } from '@rushhour/contract';
import type { ClientObservation } from '@rushhour/protocol';
import type { Decision, Evidence } from './evidence.ts';

type Told = Evidence & { readonly client: ClientObservation };
type Verdict = Pick<AttackResult, 'outcome' | 'mechanism'> & { readonly why?: string };

interface Row {
  readonly row: number;
  fits(told: Told): boolean;
  decide(told: Told): Verdict;
}

const blocked = (mechanism: AttackResult['mechanism'], why = ''): Verdict => ({ outcome: 'blocked', mechanism, why });
const inconclusive = (why: string): Verdict => ({ outcome: 'inconclusive', mechanism: null, why });

const hasAnswer = ({ client }: Told) => client.end === 'response';
/** Byte for byte what our server sent; of nothing sent, nothing received. */
const isEqual = ({ client, server }: Told) => client.rxSha256 === server.sentSha256;
const isForeign = ({ client }: Told) => !client.responseIsOurs;
const isShort = ({ server: { seen } }: Told) => seen === 'none' || seen === 'connected' || seen === 'partial';
const hasBroken = ({ client: { end } }: Told) => end === 'reset' || end === 'fin' || end === 'alert';

/** A part of a request that arrives may be no block, where the policy says so. */
const ifPartial = ({ server, policy }: Told, verdict: Verdict): Verdict =>
  server.seen === 'partial' && !policy.partialIsBlock ? inconclusive('a part arrived') : verdict;

/** Silence and refusal say something only when a harmless exchange works right after. */
const ifReachable = ({ controls, client }: Told, verdict: Verdict): Verdict => {
  if (client.isShunned) return { ...verdict, mechanism: 'silent-drop', why: 'client_shunned' };
  return controls.after === true ? verdict : inconclusive('device_unreachable');
};

const rows: readonly Row[] = [
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
  {
    row: 3,
    fits: (told) => told.server.seen === 'full' && told.client.isComplete && isEqual(told),
    decide: () => ({ outcome: 'passed', mechanism: null }),
  },
  {
    row: 4,
    fits: (told) => told.server.seen === 'modified' && isEqual(told),
    decide: () => ({ outcome: 'modified', mechanism: 'content-replaced', why: 'the request was changed on its way' }),
  },
  {
    row: 5,
    fits: (told) => hasAnswer(told) && isForeign(told) && isShort(told),
    decide: (told) => ifPartial(told, blocked(told.client.status === 429 ? 'rate-limited' : 'block-page')),
  },
  {
    row: 6,
    fits: (told) => hasAnswer(told) && isForeign(told) && told.server.seen === 'full',
    decide: () => blocked('response-blocked', 'the request got in, its answer was replaced'),
  },
  {
    row: 7,
    fits: (told) => told.client.end === 'reset' && isShort(told),
    decide: (told) => (told.policy.resetIsBlock ? ifPartial(told, blocked('tcp-reset')) : inconclusive('a reset')),
  },
  {
    row: 8,
    fits: (told) => (told.client.end === 'fin' || told.client.end === 'alert') && isShort(told),
    decide: (told) => ifPartial(told, blocked(told.client.end === 'fin' ? 'fin' : 'tls-alert')),
  },
  {
    row: 9,
    fits: ({ client: { connect }, server }) =>
      (connect === 'refused' || connect === 'unreachable') && server.seen === 'none',
    decide: (told) => ifReachable(told, blocked(told.client.connect === 'refused' ? 'connect-refused' : 'icmp')),
  },
  {
    row: 10,
    fits: (told) => (told.client.connect === 'timeout' || told.client.end === 'timeout') && isShort(told),
    decide: (told) =>
      told.policy.timeoutIsBlock
        ? ifReachable(told, ifPartial(told, blocked('silent-drop')))
        : inconclusive('no answer in time'),
  },
  {
    row: 11,
    fits: (told) =>
      (told.client.end === 'timeout' || hasBroken(told)) &&
      told.server.seen === 'full' &&
      told.server.sentSha256 !== '',
    decide: () => blocked('response-blocked', 'the request got in, its answer did not come back'),
  },
  {
    row: 12,
    fits: (told) => hasAnswer(told) && !isForeign(told) && !isEqual(told) && told.server.sentSha256 !== '',
    decide: ({ client, server }) => ({
      outcome: 'modified',
      mechanism: client.rxBytes < server.sentBytes ? 'content-removed' : 'content-replaced',
    }),
  },
  { row: 13, fits: () => true, decide: () => inconclusive('neither end explains it') },
];

const ends: Readonly<Record<ClientObservation['end'], string>> = {
  response: 'got an answer',
  reset: 'got a reset',
  fin: 'saw the connection closed',
  timeout: 'heard nothing',
  alert: 'got a TLS alert',
  none: 'got nothing',
};

const sentence = ({ client, server }: Told, why: string): string => {
  const answer = client.end === 'response' ? ` with status ${client.status}` : '';
  const way = client.connect === 'ok' ? ends[client.end] : `could not connect (${client.connect})`;
  const seen = `server saw ${server.seen === 'none' ? 'nothing' : `${server.seen}, ${server.rxBytes} bytes`}`;
  const took = `after ${Math.round(client.endedMs - client.startedMs)} ms`;
  return `${why === '' ? '' : `${why}: `}${seen} of ${client.sentBytes} bytes sent; client ${way}${answer} ${took}`;
};

const confidenceOf = ({ server, controls }: Told, outcome: AttackResult['outcome']): Decision['confidence'] => {
  if (outcome === 'inconclusive' || outcome === 'error') return 'low';
  if (server.correlation === 'order') return 'medium';
  return server.seen === 'none' && controls.after !== true ? 'medium' : 'high';
};

const untried = (client: ClientObservation | undefined): Decision => ({
  row: 0,
  outcome: 'skipped',
  mechanism: null,
  confidence: 'low',
  reason: client?.skipped ?? 'not tried before the run ended',
});

/**
 * Says what became of an attempt, by the first row that fits. A device that afterwards lets nothing harmless through
 * either has blocked nothing: then only what demonstrably came through counts.
 */
export const decide = (evidence: Evidence): Decision => {
  const { client, controls } = evidence;
  const isLeftOut = client?.skipped !== undefined && client.skipped !== 'path_not_proven';
  if (client === undefined || isLeftOut) return untried(client);
  const told = { ...evidence, client };
  const { row, decide: verdictOf } = rows.find(({ fits }) => fits(told)) as Row;
  let verdict = verdictOf(told);
  const isDoubtful = verdict.outcome === 'blocked' && controls.after === false && !client.isShunned;
  if (isDoubtful) verdict = inconclusive('device_unreachable');
  const { outcome, mechanism, why = '' } = verdict;
  return { row, outcome, mechanism, confidence: confidenceOf(told, outcome), reason: sentence(told, why) };
};
