import { type UdpValues, udpPlugin } from '@rushhour/contract';
import { type UdpClientConfig, type UdpServerConfig, udpHeaderBytes } from '@rushhour/protocol';
import { type ClientDraft, type ClientPart, maxConcurrent, type Traffic } from '../../core/load/traffic.ts';
import { estimateDatagrams, udpFrameBytes } from '../../core/load/traffic-estimate.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { wantedVersion } from '../../endpoints/resolve-endpoint.ts';
import { drawnTextFor, type PlannedText, planDrawnText } from '../drawn-text.ts';
import { loadOf } from './load-and-tuning.ts';

const ipv6ExtraBytes = 20;
const receiveBufferBytes = 4_194_304;

/** Numbered packets, both sides. */
const planUdp = (scope: PlanScope, values: UdpValues): Traffic => {
  const payloadBytes = payloadBytesOf(scope, values);
  const rate = rateOf(scope, values);
  reportUnmeasured(scope, values);
  const isDrawn = values.payload.type === 'dictionary' && !values.isServer;
  const drawn = isDrawn ? planDrawnText(scope, values.payload, pointerIn(scope, 'payload')) : undefined;
  const server: Omit<UdpServerConfig, 'listen'> = { role: 'server', echoes: values.payload.echo, receiveBufferBytes };
  return {
    engine: 'udp',
    transport: 'udp',
    defaultPorts: '15002',
    takesRanges: true,
    rates: [rate],
    client: (part) => clientOf(scope, { values, rate, payloadBytes, drawn, part }),
    server: () => ({ config: server }),
  };
};

const reportUnmeasured = (scope: PlanScope, { targets, payload, isServer }: UdpValues): void => {
  if (isServer || payload.echo || targets.every(({ agent }) => agent !== undefined)) return;
  const message = 'what arrives at a target without an agent is not counted unless it is sent back';
  scope.issues.info(pointerIn(scope, 'targets'), 'LOSS_UNMEASURED', message);
};

/** Packets a second of the whole entry; undefined: as many as go. */
const rateOf = (scope: PlanScope, values: UdpValues): number | undefined => {
  const { packetsPerSecond, ppsPerConnection, ppsUnlimited, totalSessions, isServer } = values;
  if (ppsUnlimited) return undefined;
  if (packetsPerSecond !== undefined) return packetsPerSecond;
  if (ppsPerConnection !== undefined) return ppsPerConnection * totalSessions;
  if (isServer) return undefined;
  const message = 'is required, or ppsPerConnection, or ppsUnlimited';
  return scope.issues.error(pointerIn(scope, 'packetsPerSecond'), 'RATE_MISSING', message);
};

const payloadBytesOf = (scope: PlanScope, { frameSize, payload }: UdpValues): number => {
  if (frameSize === undefined) return payload.size;
  const bytes = frameSize - udpFrameBytes - (wantedVersion(scope) === 6 ? ipv6ExtraBytes : 0);
  if (bytes >= udpHeaderBytes) return bytes;
  const message = `leaves ${bytes} bytes for the payload, of which the number and the time of a packet need ${udpHeaderBytes}`;
  scope.issues.error(pointerIn(scope, 'frameSize'), 'FRAME_TOO_SMALL', message);
  return udpHeaderBytes;
};

interface ClientWork {
  readonly values: UdpValues;
  readonly rate: number | undefined;
  readonly payloadBytes: number;
  readonly drawn: PlannedText | undefined;
  readonly part: ClientPart;
}

const clientOf = (scope: PlanScope, { values, rate, payloadBytes, drawn, part }: ClientWork): ClientDraft => {
  const flows = part.concurrentShare(values.totalSessions, maxConcurrent.udp);
  const load = loadOf(part, { ...values, rate });
  const config: UdpClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    flows,
    load,
    payloadBytes,
    ...(drawn && { drawn: drawnTextFor(scope, drawn, part, flows) }),
    expectsEcho: values.payload.echo,
    lingerMs: 1000,
  };
  const receivedBytes = values.payload.echo ? payloadBytes : 0;
  const traffic = estimateDatagrams({ rate: load.rate ?? 0, sentBytes: payloadBytes, receivedBytes });
  return { config, hasRate: load.rate !== undefined, estimate: { connections: flows, opens: 0, ...traffic } };
};

export const udpPlanner = planner(udpPlugin, planUdp);
