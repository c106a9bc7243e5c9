import { type PcapReplayValues, pcapReplayPlugin } from '@rushhour/contract';
import { parseFilter } from '@rushhour/pcap';
import type { FileReference, PcapReplayClientConfig, ReplayPart, Sources } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type Endpoint, endpointsOf } from '../../core/load/traffic-entry.ts';
import { noTraffic } from '../../core/load/traffic-estimate.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { endsByItself, planner } from '../../core/planner.ts';
import { firstAddress, isLoopback, loopbackOf, versionOf } from '../../endpoints/machine-addresses.ts';
import { planSessions } from './pcap-replay-sessions.ts';

type Params = PcapReplayValues['pcapReplayParams'];
type Played<Part> = Omit<Part, 'capture'> & { readonly capture: FileReference };

const firstPort = 16_000;

/** Frames of a capture, those of its clients and those of its servers. */
const planPcapReplay = (scope: PlanScope, values: PcapReplayValues): Traffic => {
  const params = values.pcapReplayParams;
  const capture = captureOf(scope, params);
  reportProblems(scope, values);
  if (params.mode === 'stateful') return planSessions(scope, values, capture);
  reportAddresses(scope, params);
  // Servers are planned when all clients are.
  const parts: Played<ReplayPart>[] = [];
  const client = (part: ClientPart): ClientDraft => {
    const rate = part.rate(params.speed.value);
    const played = { ...playedBy(scope, part, params), capture };
    parts.push({ ...played, startAfterMs: scope.entry.startAfterSec * 1000 });
    const { interface: name } = part;
    const config: Played<PcapReplayClientConfig> = { role: 'client', ...played, ...(name && { interface: name }) };
    const estimate = {
      ...noTraffic,
      txPps: params.speed.mode === 'pps' ? (rate ?? 0) : 0,
      txBps: params.speed.mode === 'bps' ? (rate ?? 0) : 0,
    };
    return { config, estimate, hasRate: false };
  };
  return {
    engine: 'pcap-replay',
    transport: 'udp',
    // Nothing listens: it tells entries with the same target apart, and is a port of packets only where ports are new.
    defaultPorts: String(firstPort + scope.entry.index),
    rates: [params.speed.value],
    client,
    server: () => ({ config: { role: 'server', parts } }),
    isEmulated: true,
  };
};

const captureOf = ({ input, issues, ...scope }: PlanScope, { fileId }: Params): FileReference => {
  const file = input.files.get(fileId);
  if (file?.isReady !== true) {
    const path = pointerIn({ input, issues, ...scope }, 'pcapReplayParams', 'fileId');
    issues.error(path, 'FILE_MISSING', `the capture ${fileId} is not there or not complete`);
  }
  return { $file: file?.sha256 ?? '0'.repeat(64), as: 'path' };
};

const playedBy = (scope: PlanScope, part: ClientPart, params: Params): Omit<ReplayPart, 'capture' | 'startAfterMs'> => {
  const { speed, loop, loopDelayMs, clientIp, rewrite, uniquePerLoop, filter, maxGapMs } = params;
  const { ips, ports, macs, fixChecksums, ...fields } = rewrite;
  const { mode, count = 1 } = scope.entry.values.duration;
  const value = part.rate(speed.value);
  return {
    sources: sourcesOf(scope, part),
    targets: part.targets,
    speed: { mode: speed.mode, multiplier: speed.multiplier, ...(value !== undefined && value > 0 && { value }) },
    loops: loop,
    loopDelayMs,
    renewEvery: uniquePerLoop.enabled ? uniquePerLoop.everyLoops : 0,
    ...(mode === 'count' && { mostFrames: Math.max(1, part.whole(count)) }),
    ...(clientIp !== undefined && { clientIp }),
    ...filter,
    maxGapMs,
    rewrite: {
      ...fields,
      hasNewAddresses: ips === 'networks',
      hasNewPorts: ports === 'networks',
      hasNewMacs: macs === 'networks',
      fixesChecksums: fixChecksums,
    },
  };
};

const endpointOf = ({ entry }: PlanScope, { position }: ClientPart): Endpoint | undefined =>
  endpointsOf(entry, 'sources').filter(({ weight }) => weight > 0)[position.index];

/** The other side must know where the client is: its own address stands for what its machine would choose. */
const sourcesOf = (scope: PlanScope, part: ClientPart): Sources => {
  const { addresses, networks, ranges } = part.sources;
  const target = part.targets[0]?.host ?? '';
  const id = endpointOf(scope, part)?.agent?.id;
  const agent = id === undefined ? undefined : scope.input.agents.get(id);
  if (addresses.length + networks.length + ranges.length > 0 || agent === undefined) return part.sources;
  const version = versionOf(target);
  const own = isLoopback(target) ? loopbackOf(version) : firstAddress(agent, version);
  return { ...part.sources, addresses: own === undefined ? [] : [own] };
};

const reportProblems = (scope: PlanScope, values: PcapReplayValues): void => {
  const { issues } = scope;
  const { speed, filter } = values.pcapReplayParams;
  const at = (...parts: string[]) => pointerIn(scope, 'pcapReplayParams', ...parts);
  if (values.isServer)
    issues.error(pointerIn(scope, 'isServer'), 'NOT_SUPPORTED', 'both sides are needed to play a capture');
  if ((speed.mode === 'pps' || speed.mode === 'bps') && !speed.value) {
    issues.error(at('speed', 'value'), 'REQUIRED', `is required when the mode is ${speed.mode}`);
  }
  for (const member of ['include', 'exclude'] as const) {
    const problem = filterProblem(filter[member]);
    if (problem !== undefined) issues.error(at('filter', member), 'FILTER_INVALID', problem);
  }
};

const reportAddresses = (scope: PlanScope, { rewrite }: Params): void => {
  if (rewrite.ips === 'keep') reportKept(scope);
  else reportOwnAddresses(scope);
};

const filterProblem = (text: string | undefined): string | undefined => {
  try {
    parseFilter(text ?? '');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

/** Recorded addresses say nothing about which of several agents they belong to. */
const reportKept = (scope: PlanScope): void => {
  for (const side of ['sources', 'targets'] as const) {
    if (endpointsOf(scope.entry, side).length <= 1) continue;
    const message = 'with addresses as recorded there can be one agent on each side only';
    scope.issues.error(pointerIn(scope, side), 'ADDRESSES_KEPT', message);
  }
};

/** Systems answer what they do not expect, which devices between them see. */
const reportOwnAddresses = (scope: PlanScope): void => {
  for (const side of ['sources', 'targets'] as const) {
    endpointsOf(scope.entry, side).forEach(({ agent, network }, index) => {
      if (agent === undefined || network !== undefined) return;
      const message = 'packets come to the own address of the machine, which answers them; a network keeps it silent';
      scope.issues.info(pointerIn(scope, side, index), 'SYSTEM_ANSWERS', message);
    });
  }
};

/** A capture ends by itself unless it is looped for ever. */
export const pcapReplayPlanner = planner(pcapReplayPlugin, planPcapReplay, {
  durationOf: (values, ...rest) => (values.pcapReplayParams.loop > 0 ? endsByItself(values, ...rest) : undefined),
});
