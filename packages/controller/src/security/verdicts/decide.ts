import type { AttackResult } from '@rushhour/contract';
import type { ClientObservation } from '@rushhour/protocol';
import { answerDetailOf } from './block-page.ts';
import type { Decision, Evidence } from './evidence.ts';
import { scanRows } from './scan-rows.ts';
import { blocked, firstRows, ifReachable, inconclusive, type Observed, type Row, type Verdict } from './verdict-row.ts';

const hasAnswer = ({ client }: Observed) => client.end === 'response';
/** The bytes received equal the bytes our server sent, including none. */
const isEqual = ({ client, server }: Observed) => client.rxSha256 === server.sentSha256 || client.isAltered === true;
const isForeign = ({ client }: Observed) => !client.responseIsOurs;
const isShort = ({ server: { seen } }: Observed) => seen === 'none' || seen === 'connected' || seen === 'partial';
const hasBroken = ({ client: { end } }: Observed) => end === 'reset' || end === 'fin' || end === 'alert';

/** What the path changed, in words. */
export const changesOf = ({ client, server }: Pick<Evidence, 'client' | 'server'>): string[] =>
  [...(server.changes ?? []), ...(client?.changes ?? [])].map(({ part, kind, detail }) => `${part} ${kind}: ${detail}`);

const maxNamed = 3;
const named = (observed: Observed) => {
  const all = changesOf(observed);
  return `${all.slice(0, maxNamed).join('; ')}${all.length > maxNamed ? `; and ${all.length - maxNamed} more` : ''}`;
};
const detailed = (observed: Observed) => (changesOf(observed).length === 0 ? '' : ` (${named(observed)})`);
const alterations = (observed: Observed) => (changesOf(observed).length === 0 ? '' : `altered (${named(observed)})`);

/** The policy decides whether a partly received request counts as blocked. */
const ifPartial = ({ server, policy }: Observed, verdict: Verdict): Verdict =>
  server.seen === 'partial' && !policy.partialIsBlock ? inconclusive('a part arrived') : verdict;

const rows: readonly Row[] = [
  ...firstRows,
  {
    row: 3,
    fits: (observed) => observed.server.seen === 'full' && observed.client.isComplete && isEqual(observed),
    decide: (observed) => ({ outcome: 'passed', mechanism: null, why: alterations(observed) }),
  },
  {
    row: 4,
    fits: (observed) => observed.server.seen === 'modified' && isEqual(observed),
    decide: (observed) => ({
      outcome: 'modified',
      mechanism: 'content-replaced',
      why: `the request was changed on its way${detailed(observed)}`,
    }),
  },
  {
    row: 14,
    fits: (observed) => observed.server.seen === 'partial' && isEqual(observed) && observed.client.responseIsOurs,
    decide: (observed) =>
      ifPartial(observed, blocked('content-removed', 'the transfer ended as if complete, and not all of it arrived')),
  },
  {
    row: 15,
    fits: (observed) => observed.client.isRateLimited === true && hasAnswer(observed) && isForeign(observed),
    decide: () => ({ ...inconclusive('rate_limited'), mechanism: 'rate-limited' }),
  },
  {
    row: 5,
    fits: (observed) => hasAnswer(observed) && isForeign(observed) && isShort(observed),
    decide: (observed) => {
      const { client, policy } = observed;
      return ifPartial(observed, blocked('block-page', answerDetailOf(client, policy)));
    },
  },
  {
    row: 6,
    fits: (observed) => hasAnswer(observed) && isForeign(observed) && observed.server.seen === 'full',
    decide: ({ client, policy }) => {
      const detail = answerDetailOf(client, policy);
      const why = 'the request got in, its answer was replaced';
      return blocked('response-blocked', detail === '' ? why : `${why} (${detail})`);
    },
  },
  {
    row: 7,
    fits: (observed) => observed.client.end === 'reset' && isShort(observed),
    decide: (observed) =>
      observed.policy.resetIsBlock ? ifPartial(observed, blocked('tcp-reset')) : inconclusive('a reset'),
  },
  {
    row: 8,
    fits: (observed) => (observed.client.end === 'fin' || observed.client.end === 'alert') && isShort(observed),
    decide: (observed) => ifPartial(observed, blocked(observed.client.end === 'fin' ? 'fin' : 'tls-alert')),
  },
  {
    row: 9,
    fits: ({ client: { connect }, server }) =>
      (connect === 'refused' || connect === 'unreachable') && server.seen === 'none',
    decide: (observed) =>
      ifReachable(observed, blocked(observed.client.connect === 'refused' ? 'connect-refused' : 'icmp')),
  },
  {
    row: 10,
    fits: (observed) =>
      (observed.client.connect === 'timeout' || observed.client.end === 'timeout') && isShort(observed),
    decide: (observed) =>
      observed.policy.timeoutIsBlock
        ? ifReachable(observed, ifPartial(observed, blocked('silent-drop')))
        : inconclusive('no answer in time'),
  },
  {
    row: 11,
    fits: (observed) =>
      (observed.client.end === 'timeout' || hasBroken(observed)) &&
      observed.server.seen === 'full' &&
      observed.server.sentSha256 !== '',
    decide: ({ client, attempt }) =>
      client.end === 'timeout' && attempt.direction === 'c2s'
        ? inconclusive('late')
        : blocked('response-blocked', 'the request got in, its answer did not come back'),
  },
  {
    row: 12,
    fits: (observed) =>
      hasAnswer(observed) && !isForeign(observed) && !isEqual(observed) && observed.server.sentSha256 !== '',
    decide: (observed) => ({
      outcome: 'modified',
      mechanism: observed.client.rxBytes < observed.server.sentBytes ? 'content-removed' : 'content-replaced',
      why: `the answer was changed on its way${detailed(observed)}`,
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

const scanSentence = ({ client: { connect, startedMs, endedMs }, server }: Observed, why: string): string => {
  const seen = `server saw ${server.seen === 'none' ? 'nothing' : 'the request to connect'}`;
  const ending = connect === 'ok' ? 'connected' : `could not connect (${connect})`;
  return `${why === '' ? '' : `${why}: `}${seen}; client ${ending} after ${Math.round(endedMs - startedMs)} ms`;
};

const sentence = (observed: Observed, why: string): string => {
  const { attempt, client, server } = observed;
  if (attempt.scan !== undefined) return scanSentence(observed, why);
  const answer = client.end === 'response' ? ` with status ${client.status}` : '';
  const ending = client.connect === 'ok' ? ends[client.end] : `could not connect (${client.connect})`;
  const seen = `server saw ${server.seen === 'none' ? 'nothing' : `${server.seen}, ${server.rxBytes} bytes`}`;
  const took = `after ${Math.round(client.endedMs - client.startedMs)} ms`;
  return `${why === '' ? '' : `${why}: `}${seen} of ${client.sentBytes} bytes sent; client ${ending}${answer} ${took}`;
};

const confidenceOf = ({ server, controls }: Observed, outcome: AttackResult['outcome']): Decision['confidence'] => {
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

/** A device that answers by itself is there; statuses of gateways come from the server behind it being away. */
const isOwnPage = ({ end, status }: ClientObservation) => end === 'response' && ![502, 503, 504].includes(status);

const isStopped = ({ outcome }: Pick<Verdict, 'outcome'>) => outcome === 'blocked' || outcome === 'modified';
const isStoppedBare = ({ bare }: Evidence) => bare !== undefined && isStopped(bare);
const bareReason = ({ bare }: Evidence) => `the same happens without the device (${bare?.outcome} there)`;

/**
 * Decides the outcome of an attempt by the first row that applies. If the device afterwards passes no benign exchange
 * either, nothing counts as blocked: then only attempts that demonstrably passed count.
 */
export const decide = (evidence: Evidence): Decision => {
  const { client, controls } = evidence;
  const isLeftOut = client?.skipped !== undefined && client.skipped !== 'path_not_proven';
  if (client === undefined || isLeftOut) return untried(client);
  const observed = { ...evidence, client };
  const table = evidence.attempt.scan === undefined ? rows : scanRows;
  const { row, decide: verdictOf } = table.find(({ fits }) => fits(observed)) as Row;
  let verdict = verdictOf(observed);
  const isDoubtful = verdict.outcome === 'blocked' && controls.after === false && !client.isShunned;
  if (isDoubtful && !isOwnPage(client)) verdict = inconclusive('device_unreachable');
  if (isStopped(verdict) && isStoppedBare(evidence)) verdict = inconclusive(bareReason(evidence));
  const { outcome, mechanism, why = '' } = verdict;
  return { row, outcome, mechanism, confidence: confidenceOf(observed, outcome), reason: sentence(observed, why) };
};
