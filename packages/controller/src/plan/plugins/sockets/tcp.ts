import { type TcpValues, tcpPlugin } from '@rushhour/contract';
import type { TcpClientConfig, TcpServerConfig } from '@rushhour/protocol';
import { searchedSessions } from '../../core/load/load-stages.ts';
import { type ClientDraft, type ClientPart, maxConcurrent, type Traffic } from '../../core/load/traffic.ts';
import { estimateTcp, type TrafficEstimate } from '../../core/load/traffic-estimate.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { drawnTextFor, type PlannedText, planDrawnText, servedText } from '../drawn-text.ts';
import { type MeasuredPayload, payloadAt } from '../payloads.ts';
import { loadOf, tuningOf } from './load-and-tuning.ts';

type Unsized<Config> = Omit<Config, 'payload' | 'listen'> & { readonly payload: object };

/** Bytes of a drawn message are known to agents only: an estimate. */
const drawnPayload: MeasuredPayload = { payload: { type: 'zero', size: 0, data: '' }, bytes: 64 };

/** What the other side does for each mode of the client. */
const serverModes = { connect: 'sink', send: 'sink', receive: 'source', echo: 'echo' } as const;

/** TCP connections and bytes, both sides. */
const planTcp = (scope: PlanScope, values: TcpValues): Traffic => {
  const isDrawn = values.payload.type === 'dictionary';
  const drawn = isDrawn ? planDrawnText(scope, values.payload, pointerIn(scope, 'payload')) : undefined;
  const measured = isDrawn ? drawnPayload : payloadAt(scope, values.payload, 'payload');
  const { mode, closeMode, noDelay } = values.tcpConfiguration;
  const server: Unsized<TcpServerConfig> = {
    role: 'server',
    mode: serverModes[mode],
    payload: measured.payload,
    ...(drawn && { drawn: servedText(scope, drawn) }),
    closeMode,
    noDelay,
    ...tuningOf(scope, values),
  };
  return {
    engine: 'tcp',
    transport: 'tcp',
    defaultPorts: '15001',
    takesRanges: true,
    rates: [values.sessionsPerSecond, values.tcpConfiguration.rateBps],
    totals: [values.totalSessions],
    client: (part) => clientOf(scope, { values, measured, drawn, part }),
    server: () => ({ config: server }),
  };
};

interface ClientWork {
  readonly values: TcpValues;
  readonly measured: MeasuredPayload;
  readonly drawn: PlannedText | undefined;
  readonly part: ClientPart;
}

const clientOf = (scope: PlanScope, { values, measured, drawn, part }: ClientWork): ClientDraft => {
  const { connections, mode, holdMs, connectTimeoutMs, closeMode, noDelay, keepAliveSec } = values.tcpConfiguration;
  const { totalSessions, ppsPerConnection } = values;
  const load = loadOf(part, { ...values, rate: values.sessionsPerSecond });
  const { first, max = connections } = searchedSessions(values);
  const [openSessions, users] = [
    part.rate(first),
    part.concurrentShare(max, scope.stack === undefined ? maxConcurrent.tcp : maxConcurrent.emulatedTcp),
  ];
  const rateBps = mode === 'send' ? part.rate(values.tcpConfiguration.rateBps) : undefined;
  const config: Unsized<TcpClientConfig> = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    connections: users,
    ...(drawn && { drawn: drawnTextFor(scope, drawn, part, users) }),
    ...(openSessions !== undefined && { openSessions }),
    load,
    ...(totalSessions !== undefined && { totalSessions: part.whole(totalSessions) }),
    reopenSessionMs: values.reopenSessionTime,
    mode,
    payload: measured.payload,
    ...(ppsPerConnection !== undefined && { messagesPerSecond: ppsPerConnection }),
    ...(rateBps !== undefined && { rateBps }),
    ...{ holdMs, closeMode, noDelay, keepAliveSec, connectTimeoutMs },
    ...tuningOf(scope, values),
  };
  return { config, hasRate: (load.rate ?? openSessions) !== undefined, estimate: estimateOf(config, measured.bytes) };
};

const estimateOf = (
  { mode, connections, load, messagesPerSecond = 0, rateBps }: Unsized<TcpClientConfig>,
  bytes: number,
): TrafficEstimate => {
  const messages = rateBps !== undefined && bytes > 0 ? rateBps / 8 / bytes : messagesPerSecond * connections;
  const isSent = mode === 'send' || mode === 'echo';
  const traffic = estimateTcp({
    rate: isSent ? messages : 0,
    sentBytes: bytes,
    receivedBytes: mode === 'echo' ? bytes : 0,
  });
  return { connections, opens: load.rate ?? 0, ...traffic };
};

export const tcpPlanner = planner(tcpPlugin, planTcp);
