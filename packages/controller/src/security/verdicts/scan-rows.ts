import { blocked, firstRows, ifReachable, inconclusive, type Observed, type Row } from './verdict-row.ts';

const hasArrived = ({ server: { seen } }: Observed) => seen !== 'none';
const isAsItIs = ({ attempt: { scan }, client: { connect } }: Observed) =>
  connect === (scan?.isOpen === true ? 'ok' : 'refused');

/**
 * What became of a look at a port. An open one accepts and a closed one refuses: both tell the attacker what is there,
 * unless a device on the path answered.
 */
export const scanRows: readonly Row[] = [
  ...firstRows,
  {
    row: 21,
    fits: (observed) => hasArrived(observed) && isAsItIs(observed),
    decide: ({ attempt: { scan } }) => ({
      outcome: 'passed',
      mechanism: null,
      why: scan?.isOpen === true ? 'found open' : 'found closed',
    }),
  },
  {
    row: 22,
    fits: (observed) => hasArrived(observed) && observed.client.connect === 'ok',
    decide: () => ({ outcome: 'modified', mechanism: 'content-replaced', why: 'a closed port was shown as open' }),
  },
  {
    row: 23,
    fits: hasArrived,
    decide: () => blocked('response-blocked', 'the request got in, its answer did not come back'),
  },
  {
    row: 24,
    fits: ({ client, attempt }) => client.connect === 'ok' && attempt.scan?.isOpen === true,
    decide: () => inconclusive('a device accepted for the server, or changed the addresses'),
  },
  {
    row: 25,
    fits: ({ client }) => client.connect === 'ok',
    decide: () => ({ outcome: 'modified', mechanism: 'content-replaced', why: 'a closed port was shown as open' }),
  },
  {
    row: 26,
    fits: ({ client }) => client.connect === 'refused' || client.connect === 'unreachable',
    decide: (observed) =>
      ifReachable(observed, blocked(observed.client.connect === 'refused' ? 'connect-refused' : 'icmp')),
  },
  {
    row: 27,
    fits: () => true,
    decide: (observed) =>
      observed.policy.timeoutIsBlock
        ? ifReachable(observed, blocked('silent-drop'))
        : inconclusive('no answer in time'),
  },
];
