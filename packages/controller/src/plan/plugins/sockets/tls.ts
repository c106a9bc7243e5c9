import { type TlsValues, tlsPlugin } from '@rushhour/contract';
import type { TlsClientConfig } from '@rushhour/protocol';
import { type ClientDraft, type ClientPart, maxConcurrent, type Traffic } from '../../core/load/traffic.ts';
import { estimateTcp } from '../../core/load/traffic-estimate.ts';
import type { PlanScope } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { clientTls, serverTls } from '../../endpoints/tls-settings.ts';
import { loadOf } from './load-and-tuning.ts';

/** Of a full handshake with one certificate, there and back. */
const handshakeBytes = { sentBytes: 700, receivedBytes: 2500 };

/** Handshakes, both sides. */
const planTls = (scope: PlanScope, values: TlsValues): Traffic => {
  return {
    engine: 'tls',
    transport: 'tcp',
    defaultPorts: '14433',
    takesRanges: true,
    rates: [values.sessionsPerSecond],
    totals: [values.totalSessions],
    client: (part) => clientOf(scope, values, part),
    server: () => ({ config: { role: 'server', tls: serverTls(scope, values.tlsParams) } }),
  };
};

const clientOf = (scope: PlanScope, values: TlsValues, part: ClientPart): ClientDraft => {
  const { tlsParams, totalSessions } = values;
  const { closeNotify, timeoutMs } = tlsParams;
  const connections = part.concurrentShare(tlsParams.connections, maxConcurrent.tcp);
  const load = loadOf(part, { ...values, rate: values.sessionsPerSecond });
  const config: TlsClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    tls: clientTls(scope, tlsParams),
    connections,
    load,
    ...(totalSessions !== undefined && { totalSessions: part.whole(totalSessions) }),
    closeNotify,
    timeoutMs,
  };
  const opens = load.rate ?? 0;
  const estimate = { connections, opens, ...estimateTcp({ rate: opens, ...handshakeBytes }) };
  return { config, hasRate: load.rate !== undefined, estimate };
};

export const tlsPlanner = planner(tlsPlugin, planTls);
