import { type StreamValues, streamPlugin } from '@rushhour/contract';
import type { Rfc2544Plan, StreamClientConfig, StreamServerConfig } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { wantedVersion } from '../../endpoints/resolve-endpoint.ts';
import { payloadAt } from '../payloads.ts';
import { headersOf, interfaceFor, minFragmentBytes, minFrameBytes } from './stream-headers.ts';
import { reportManyTargets, trialDurationOf, trialsOf } from './stream-trials.ts';

const maxFrameBytes = 16_000;
const ringBytes = 67_108_864;
/** A trial must not be lost for want of room here. */
const trialRingBytes = 268_435_456;

type Sizes = StreamClientConfig['sizes'];

interface StreamLoad {
  readonly load: number | undefined;
  readonly unit: StreamClientConfig['loadUnit'];
}

/** Frames and what counts them. */
const planStream = (scope: PlanScope, values: StreamValues): Traffic => {
  const trials = trialsOf(scope, values);
  const sizes = sizesOf(scope, values);
  const target = loadOf(scope, values);
  const fill = payloadAt(scope, { ...values.payload, size: maxFrameBytes }, 'payload').payload;
  reportFragments(scope, values);
  reportUnmeasured(scope, values);
  reportTunnel(scope, values);
  const isUdp = values.payload.protocol === 'udp' && values.payload.tunnel === undefined;
  const server: Omit<StreamServerConfig, 'listen'> = {
    role: 'server',
    protocol: isUdp ? 'udp' : 'other',
    ringBytes: trials === undefined ? ringBytes : trialRingBytes,
    countsTrials: trials !== undefined,
  };
  return {
    engine: 'stream',
    transport: 'udp',
    defaultPorts: '15009',
    rates: [target.unit === 'linePct' ? undefined : target.load],
    client(part) {
      if (trials !== undefined) reportManyTargets(scope, part);
      reportSmallFragments(scope, values.ipLayer.fragmentSize, part);
      return clientOf(values, { part, sizes, target, fill, trials });
    },
    server: () => ({ config: server }),
  };
};

/** Fragments are counted as the frames they were cut from, which the last of them names. */
const reportFragments = (scope: PlanScope, { ipLayer: { fragmentSize }, payload }: StreamValues): void => {
  if (fragmentSize === undefined) return;
  const refuse = (message: string) =>
    scope.issues.error(pointerIn(scope, 'ipLayer', 'fragmentSize'), 'NOT_SUPPORTED', message);
  if (payload.tunnel !== undefined) refuse('packets inside a tunnel of payload.tunnel are not cut');
  if (payload.rfc2544 !== undefined) refuse('frames of RFC 2544 are not cut');
};

/** The last fragment holds the whole signature. */
const reportSmallFragments = (scope: PlanScope, fragmentSize: number | undefined, { targets }: ClientPart): void => {
  const min = minFragmentBytes(targets.some(({ host }) => host.includes(':')) ? 6 : 4);
  if (fragmentSize === undefined || fragmentSize >= min) return;
  const message = `fragments of a stream have at least ${min} bytes`;
  scope.issues.error(pointerIn(scope, 'ipLayer', 'fragmentSize'), 'NOT_SUPPORTED', message);
};

const reportUnmeasured = (scope: PlanScope, { targets, isServer }: StreamValues): void => {
  if (isServer || targets.every(({ agent }) => agent !== undefined)) return;
  const message = 'what arrives at a target without an agent is not counted';
  scope.issues.info(pointerIn(scope, 'targets'), 'LOSS_UNMEASURED', message);
};

/** What is inside a tunnel is a target like any other; where the tunnel ends is one, too. */
const reportTunnel = (scope: PlanScope, { payload: { tunnel } }: StreamValues): void => {
  if (tunnel === undefined || scope.guard.allows(tunnel.destination)) return;
  const message = `${tunnel.destination} is neither among the allowed targets nor an address of an agent`;
  scope.issues.error(pointerIn(scope, 'payload', 'tunnel', 'destination'), 'TARGET_NOT_ALLOWED', message);
};

/** The load of the whole entry, or of each agent where it is a part of its line. */
const loadOf = (scope: PlanScope, values: StreamValues): StreamLoad => {
  const { packetsPerSecond, ppsUnlimited, isServer, payload } = values;
  if (ppsUnlimited) return { load: undefined, unit: 'pps' };
  if (packetsPerSecond !== undefined) return { load: packetsPerSecond, unit: 'pps' };
  if (payload.rateBps !== undefined) return { load: payload.rateBps, unit: 'bps' };
  if (payload.linePct !== undefined) return { load: payload.linePct, unit: 'linePct' };
  if (!isServer && payload.rfc2544 === undefined) {
    const message = 'is required, or payload.rateBps, payload.linePct or ppsUnlimited';
    scope.issues.error(pointerIn(scope, 'packetsPerSecond'), 'RATE_MISSING', message);
  }
  return { load: undefined, unit: 'pps' };
};

/** Every size must hold all headers and the signature. */
const sizesOf = (scope: PlanScope, values: StreamValues): Sizes => {
  const { frameSize, payload } = values;
  const min = minFrameBytes(headersOf(values), wantedVersion(scope) ?? 4);
  const refuse = (found: number, ...path: (string | number)[]) => {
    if (found >= min) return;
    const message = `is too small: headers and signature of these frames need ${min} bytes`;
    scope.issues.error(pointerIn(scope, ...path), 'FRAME_TOO_SMALL', message);
  };
  if (payload.sweep !== undefined) {
    refuse(payload.sweep.first, 'payload', 'sweep', 'first');
    if (payload.sweep.last < payload.sweep.first) {
      scope.issues.error(pointerIn(scope, 'payload', 'sweep', 'last'), 'RANGE_EMPTY', 'is below the first size');
    }
    return { mix: [{ frameSize: payload.sweep.first, weight: 1 }], sweep: payload.sweep };
  }
  for (const [index, one] of payload.mix.entries()) refuse(one.frameSize, 'payload', 'mix', index, 'frameSize');
  if (payload.mix.length > 0) return { mix: payload.mix };
  if (frameSize !== undefined) refuse(frameSize, 'frameSize');
  return { mix: [{ frameSize: frameSize ?? Math.max(64, min), weight: 1 }] };
};

const meanBytesOf = ({ mix, sweep }: Sizes): number => {
  if (sweep !== undefined) return (sweep.first + sweep.last) / 2;
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  return mix.reduce((sum, { frameSize, weight }) => sum + (frameSize * weight) / total, 0);
};

interface Work {
  readonly part: ClientPart;
  readonly sizes: Sizes;
  readonly target: StreamLoad;
  readonly fill: object;
  readonly trials: Rfc2544Plan | undefined;
}

const clientOf = (values: StreamValues, { part, sizes, target, fill, trials }: Work): ClientDraft => {
  const { load, unit } = target;
  const rate = unit === 'linePct' ? load : part.rate(load);
  const config: Omit<StreamClientConfig, 'fill'> & { fill: object } = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    ...interfaceFor(part),
    ...(part.hosts !== undefined && { hosts: [...part.hosts] }),
    streams: part.concurrentShare(values.maxStreams, 1_000_000),
    load: rate === undefined ? {} : { rate },
    loadUnit: unit,
    sizes,
    headers: headersOf(values),
    modifiers: values.payload.modifiers,
    fill,
    hasWrongChecksums: values.invalidChecksum,
    ...(trials !== undefined && { rfc2544: trials }),
  };
  const bytes = meanBytesOf(sizes);
  const txPps = rate === undefined || unit === 'linePct' ? 0 : unit === 'bps' ? rate / (8 * bytes) : rate;
  const estimate = { connections: 0, opens: 0, txPps, rxPps: 0, txBps: txPps * 8 * bytes, rxBps: 0 };
  return { config, hasRate: rate !== undefined && unit === 'pps' && trials === undefined, estimate };
};

export const streamPlanner = planner(streamPlugin, planStream, { durationOf: trialDurationOf });
