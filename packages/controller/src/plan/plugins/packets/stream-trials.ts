import { type StreamValues, standardFrameSizes } from '@rushhour/contract';
import { longestRfc2544Sec, type Rfc2544Plan } from '@rushhour/protocol';
import type { ClientPart } from '../../core/load/traffic.ts';
import type { DurationRule } from '../../core/load/traffic-entry.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { wantedVersion } from '../../endpoints/resolve-endpoint.ts';
import { headersOf, minFrameBytes } from './stream-headers.ts';

type Trials = NonNullable<StreamValues['payload']['rfc2544']>;

/** Standard sizes that are too small for the headers give way to the smallest that is not. */
const sizesOf = ({ frameSizes }: Trials, min: number): number[] =>
  frameSizes ?? [...new Set(standardFrameSizes.map((size) => Math.max(size, min)))];

const planOf = (trials: Trials, min: number): Rfc2544Plan => ({ ...trials, frameSizes: sizesOf(trials, min) });

/** Trials last as long as their longest search: a duration given by the task is ignored. */
export const trialDurationOf: DurationRule<StreamValues> = ({ payload: { rfc2544 } }, { path, values }, issues) => {
  if (rfc2544 === undefined) return undefined;
  const seconds = longestRfc2544Sec(planOf(rfc2544, 0));
  const message = `the trials decide how long they take: ${seconds} seconds at most`;
  if (values['duration'] !== undefined) issues.warning(`${path}/values/duration`, 'MEMBER_IGNORED', message);
  return { mode: 'time', seconds, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0, stages: [] };
};

/** The trials of an entry; problems are reported as issues. */
export const trialsOf = (scope: PlanScope, values: StreamValues): Rfc2544Plan | undefined => {
  const { rfc2544 } = values.payload;
  if (rfc2544 === undefined) return undefined;
  const plan = planOf(rfc2544, minFrameBytes(headersOf(values), wantedVersion(scope) ?? 4));
  reportSizes(scope, values, rfc2544);
  if (!values.isServer) reportEnds(scope, values);
  reportHeaders(scope, values);
  reportIgnored(scope, values);
  return plan;
};

const reportSizes = (scope: PlanScope, values: StreamValues, { frameSizes = [], tests }: Trials): void => {
  const min = minFrameBytes(headersOf(values), wantedVersion(scope) ?? 4);
  for (const [index, size] of frameSizes.entries()) {
    if (size >= min) continue;
    const message = `is too small: headers and signature of these frames need ${min} bytes`;
    scope.issues.error(pointerIn(scope, 'payload', 'rfc2544', 'frameSizes', index), 'FRAME_TOO_SMALL', message);
  }
  if (tests.length === 0)
    scope.issues.error(pointerIn(scope, 'payload', 'rfc2544', 'tests'), 'REQUIRED', 'names no test');
  const { packetsPerSecond, payload } = values;
  const hasRate = [packetsPerSecond, payload.rateBps, payload.linePct].some((rate) => rate !== undefined);
  if (!tests.includes('latency') || tests.includes('throughput') || hasRate) return;
  const message = 'latency is measured at the throughput: name that test as well, or a rate';
  scope.issues.error(pointerIn(scope, 'payload', 'rfc2544', 'tests'), 'RATE_MISSING', message);
};

/** Two senders at once would measure each other, and only an agent can tell what arrived. */
const reportEnds = (scope: PlanScope, { sources, targets }: StreamValues): void => {
  for (const [name, ends] of [['sources', sources] as const, ['targets', targets] as const]) {
    if (ends.length <= 1) continue;
    scope.issues.error(pointerIn(scope, name), 'ONE_PAIR', 'trials by RFC 2544 go from one source to one target');
  }
  if (targets[0] === undefined || targets[0].agent !== undefined) return;
  const message = 'names no agent: only an agent can count what arrives';
  scope.issues.error(pointerIn(scope, 'targets', 0, 'agent'), 'NO_SERVER_AGENT', message);
};

/** One target may stand for many: ports, or addresses of a network. */
export const reportManyTargets = (scope: PlanScope, { targets }: ClientPart): void => {
  if (targets.length <= 1) return;
  const message = `stands for ${targets.length} addresses and ports; trials by RFC 2544 go to one`;
  scope.issues.error(pointerIn(scope, 'targets', 0), 'ONE_PAIR', message);
};

/** The receiver answers by turning the headers round, which it cannot do with these. */
const reportHeaders = (scope: PlanScope, { payload: { mpls, tunnel, protocol } }: StreamValues): void => {
  const refuse = (isGiven: boolean, member: string) => {
    if (!isGiven) return;
    const message = 'is not possible with trials by RFC 2544: the receiver could not answer what arrived';
    scope.issues.error(pointerIn(scope, 'payload', member), 'NOT_SUPPORTED', message);
  };
  refuse(mpls.length > 0, 'mpls');
  refuse(tunnel !== undefined, 'tunnel');
  refuse(protocol === 'icmp', 'protocol');
};

const reportIgnored = (scope: PlanScope, { frameSize, payload: { mix, sweep } }: StreamValues): void => {
  const given = [
    [frameSize !== undefined, 'frameSize'],
    [mix.length > 0, 'payload/mix'],
    [sweep !== undefined, 'payload/sweep'],
  ] as const;
  for (const [isGiven, member] of given) {
    if (isGiven) scope.issues.caveat(pointerIn(scope, member), 'MEMBER_IGNORED', 'sizes are those of rfc2544');
  }
};
