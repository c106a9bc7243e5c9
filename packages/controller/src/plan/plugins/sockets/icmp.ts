import { type IcmpValues, icmpPlugin } from '@rushhour/contract';
import type { IcmpClientConfig, IcmpServerConfig } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';

/** Ethernet with checksum, IPv4 and ICMP. */
const headerBytes = 18 + 20 + 8;

/** Messages; the agents that are asked answer by their kernel, or by their emulated hosts. */
const planIcmp = (scope: PlanScope, values: IcmpValues): Traffic => {
  const { type, version } = values.icmpParams;
  const wrong = (version === 4 ? ['neighbourSolicitation'] : ['timestamp']).includes(type);
  if (wrong) {
    const message = `ICMP${version === 6 ? 'v6' : ''} has no messages of type ${type}`;
    scope.issues.error(pointerIn(scope, 'icmpParams', 'type'), 'NOT_SUPPORTED', message);
  }
  // Where addresses are chosen only the version of the IP layer is looked at.
  values.ipLayer.version ??= version;
  const server: Omit<IcmpServerConfig, 'listen'> = { role: 'server' };
  return {
    engine: 'icmp',
    transport: 'icmp',
    defaultPorts: '1',
    takesRanges: true,
    rates: [values.packetsPerSecond],
    client: (part) => clientOf(scope, values, part),
    server: () => ({ config: server }),
  };
};

/** Of one agent: its part of the rate, or each target once in an interval. */
const rateOf = ({ packetsPerSecond, icmpParams }: IcmpValues, part: ClientPart): number =>
  part.rate(packetsPerSecond) ?? (part.targetCount * 1000) / icmpParams.intervalMs;

/** On kernel sockets echoes come from one address; emulated hosts take turns. */
const sourceOf = (scope: PlanScope, { sources }: ClientPart): string | undefined => {
  if (scope.stack === undefined && sources.addresses.length > 1) {
    const message = `echoes come from ${sources.addresses[0]} only: give the source a network to use several addresses`;
    scope.issues.caveat(pointerIn(scope, 'sources'), 'NOT_SUPPORTED', message);
  }
  return scope.stack === undefined ? sources.addresses[0] : undefined;
};

const clientOf = (scope: PlanScope, values: IcmpValues, part: ClientPart): ClientDraft => {
  const { icmpParams, ipLayer } = values;
  const rate = rateOf(values, part);
  const sourceAddress = sourceOf(scope, part);
  const config: IcmpClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    messageType: icmpParams.type,
    sourceRotation: part.sources.rotation,
    ...(sourceAddress !== undefined && { sourceAddress }),
    load: { rate },
    ...(icmpParams.count !== undefined && { limit: icmpParams.count * part.targetCount }),
    payloadBytes: icmpParams.size,
    timeoutMs: icmpParams.timeoutMs,
    window: 64,
    identifiers: icmpParams.idMode,
    hasWrongChecksums: values.invalidChecksum,
    ...(ipLayer.ttl !== undefined && { ttl: ipLayer.ttl }),
    socket: 'auto',
  };
  const bps = rate * 8 * (headerBytes + icmpParams.size);
  const estimate = { connections: 0, opens: 0, txPps: rate, rxPps: rate, txBps: bps, rxBps: bps };
  return { config, hasRate: values.packetsPerSecond !== undefined, estimate };
};

export const icmpPlanner = planner(icmpPlugin, planIcmp);
