import { createHash } from 'node:crypto';
import type { AttackResult } from '@rushhour/contract';
import type {
  Attempt,
  AttemptRecord,
  ClientObservation,
  ControlObservation,
  ScanExchange,
  ServerObservation,
  TlsFingerprint,
} from '@rushhour/protocol';
import { changesOf, decide } from './decide.ts';
import type { BlockPolicy, ControlsAround, Decision, ServerSeen } from './evidence.ts';

/** The attempt records of one job. */
export interface JobRecords {
  readonly agentId: number;
  readonly orderIndex: number;
  readonly startAfterMs: number;
  readonly records: readonly AttemptRecord[];
}

export type JoinedResult = Omit<AttackResult, 'id' | 'taskID' | 'iteration'> & {
  readonly category: string;
  readonly excerpt: string;
};

export interface Joining {
  readonly attempts: readonly Attempt[];
  readonly policy: BlockPolicy;
  readonly jobRecords: readonly JobRecords[];
  /** Common start, milliseconds since 1970. */
  readonly t0: number;
  /** Prefix of attempt names. */
  readonly name: string;
}

type Owned<T> = T & { readonly agentId: number; readonly orderIndex: number; readonly startAfterMs: number };

const stepsOf = ({ exchange }: Attempt): number => {
  if (exchange.protocol === 'http') return exchange.steps.length;
  return exchange.protocol === 'raw' && exchange.transport === 'udp' ? exchange.sends.length : 1;
};

const nothingSeen: ServerSeen = {
  agentId: 0,
  ip: '',
  port: 0,
  seen: 'none',
  rxBytes: 0,
  rxSha256: '',
  sentBytes: 0,
  sentSha256: '',
  end: 'none',
  correlation: 'none',
};

const joinedHash = (hashes: readonly string[]): string =>
  hashes.length <= 1 ? (hashes[0] ?? '') : createHash('sha256').update(hashes.join('')).digest('hex');

const rank = { none: 0, connected: 1, partial: 2, modified: 3, full: 4 } as const;

/** Of several observations of one step, the most complete one. */
const bestOf = (sights: readonly Owned<ServerObservation>[]) =>
  sights.toSorted((a, b) => rank[b.seen] - rank[a.seen])[0] as Owned<ServerObservation>;

const seenOf = (steps: readonly Owned<ServerObservation>[], wanted: number): ServerSeen['seen'] => {
  const isWhole = steps.length === wanted && steps.every(({ seen }) => seen === 'full' || seen === 'modified');
  if (isWhole) return steps.every(({ seen }) => seen === 'full') ? 'full' : 'modified';
  return steps.every(({ seen }) => seen === 'connected') ? 'connected' : 'partial';
};

/** The server's observations of an attempt, for all steps. */
const gather = (
  attempt: Attempt,
  sights: readonly Owned<ServerObservation>[],
  correlation?: ServerSeen['correlation'],
): ServerSeen => {
  if (sights.length === 0) return nothingSeen;
  const byStep = [...Map.groupBy(sights, ({ step }) => step)].toSorted(([a], [b]) => a - b);
  const steps = byStep.map(([, all]) => bestOf(all));
  const last = steps.at(-1) as Owned<ServerObservation>;
  const sum = (of: (step: ServerObservation) => number) => steps.reduce((total, step) => total + of(step), 0);
  const answered = steps.filter(({ sentSha256 }) => sentSha256 !== '');
  return {
    agentId: last.agentId,
    ip: last.ip,
    port: last.port,
    seen: seenOf(steps, stepsOf(attempt)),
    rxBytes: sum(({ rxBytes }) => rxBytes),
    rxSha256: joinedHash(steps.map(({ rxSha256 }) => rxSha256)),
    sentBytes: sum(({ sentBytes }) => sentBytes),
    sentSha256: joinedHash(answered.map(({ sentSha256 }) => sentSha256)),
    end: last.end,
    correlation: correlation ?? last.correlation,
    changes: steps.flatMap(({ changes = [] }) => changes),
    tls: last.tls,
  };
};

const isAsGood = (control: ControlObservation, next: ControlObservation | undefined): boolean =>
  control.isGood || (next?.reason === 'other-address' && next.isGood);

/** The benign exchanges of one client with one target, in order of time. */
class Timeline {
  readonly #controls: readonly { startedMs: number; endedMs: number; isGood: boolean }[];

  constructor(controls: readonly ControlObservation[]) {
    const sorted = controls.toSorted((a, b) => a.startedMs - b.startedMs);
    this.#controls = sorted.map((control, index) => ({
      startedMs: control.startedMs,
      endedMs: control.endedMs,
      isGood: isAsGood(control, sorted[index + 1]),
    }));
  }

  around({ startedMs, endedMs }: ClientObservation): ControlsAround {
    const before = this.#controls.findLast((control) => control.endedMs <= startedMs);
    const after = this.#controls.find((control) => control.startedMs >= endedMs);
    return { before: before?.isGood ?? false, after: after?.isGood };
  }
}

/** How far apart the clocks of two agents may be. */
const clockSlackMs = 1500;

const scanOf = ({ exchange }: Attempt): ScanExchange | undefined =>
  exchange.protocol === 'scan' ? exchange : undefined;

const channelOf = ({ agentId, orderIndex }: { agentId: number; orderIndex: number }, target: string) =>
  `${agentId} ${orderIndex} ${target}`;

/** The records of both sides, by attempt. */
class RecordIndex {
  readonly clients = new Map<number, Owned<ClientObservation>>();
  /** On the path without the device. */
  readonly bareClients = new Map<number, Owned<ClientObservation>>();
  readonly #bareServers = new Map<number, Owned<ServerObservation>[]>();
  readonly #servers = new Map<number, Owned<ServerObservation>[]>();
  readonly #strangers = new Map<string, Owned<ServerObservation>[]>();
  /** Connections without a known request, by port of the server. */
  readonly #askedPorts = new Map<number, Owned<ServerObservation>[]>();
  readonly #claimed = new Set<ServerObservation>();
  readonly #timelines = new Map<string, Timeline>();

  constructor(jobRecords: readonly JobRecords[]) {
    const controls = new Map<string, ControlObservation[]>();
    for (const { records, ...order } of jobRecords) {
      for (const record of records) {
        if (record.side === 'client')
          (record.isBare ? this.bareClients : this.clients).set(record.attempt, { ...order, ...record });
        else if (record.side === 'server') this.#addServer({ ...order, ...record });
        else if (record.side === 'control') add(controls, channelOf(order, record.target), record);
      }
    }
    for (const [channel, all] of controls) this.#timelines.set(channel, new Timeline(all));
  }

  serverOf(attempt: Attempt, client: Owned<ClientObservation> | undefined): ServerSeen {
    const scan = scanOf(attempt);
    if (scan !== undefined) return this.#askedFor(attempt, scan, client);
    const own = this.#servers.get(attempt.id);
    if (own !== undefined) return gather(attempt, own);
    if (client === undefined || client.port === 0) return nothingSeen;
    const same = this.#strangers.get(`${client.ip} ${client.port}`) ?? [];
    const seen = gather(attempt, same, 'tuple');
    // Unrecognised data may still be complete.
    return seen.seen === 'modified' && seen.rxSha256 === client.sentSha256 ? { ...seen, seen: 'full' } : seen;
  }

  /** A refused connection leaves no port of the client to look for: time and address tell. */
  #askedFor(attempt: Attempt, { port }: ScanExchange, client: Owned<ClientObservation> | undefined): ServerSeen {
    if (client === undefined) return nothingSeen;
    const from = client.startAfterMs + client.startedMs - clockSlackMs;
    const to = client.startAfterMs + client.endedMs + clockSlackMs;
    const address = client.target.slice(0, client.target.lastIndexOf(':'));
    const likely = (this.#askedPorts.get(port) ?? []).filter((seen) => {
      const at = seen.startAfterMs + seen.atMs;
      return !this.#claimed.has(seen) && at >= from && at <= to && (seen.ip === '' || seen.ip === address);
    });
    const isSame = ({ peerIp, peerPort }: ServerObservation) => peerIp === client.ip && peerPort === client.port;
    const found = likely.find(isSame) ?? likely.find(({ peerIp }) => peerIp === client.ip) ?? likely[0];
    if (found === undefined) return nothingSeen;
    this.#claimed.add(found);
    return gather(attempt, [found], 'tuple');
  }

  /** What became of an attempt on the path without the device; undefined where that was not tried. */
  bareOf(attempt: Attempt, policy: BlockPolicy): Decision | undefined {
    const client = this.bareClients.get(attempt.id);
    if (client === undefined) return undefined;
    const server = gather(attempt, this.#bareServers.get(attempt.id) ?? []);
    return decide({ attempt, client, server, controls: { before: true, after: true }, policy });
  }

  controlsAround(client: Owned<ClientObservation> | undefined): ControlsAround {
    const timeline = client && this.#timelines.get(channelOf(client, client.target));
    return timeline?.around(client as ClientObservation) ?? { before: false, after: undefined };
  }

  #addServer(observation: Owned<ServerObservation>): void {
    if (observation.isBare && observation.attempt !== null) add(this.#bareServers, observation.attempt, observation);
    else if (observation.attempt === null) {
      add(this.#strangers, `${observation.peerIp} ${observation.peerPort}`, observation);
      if (observation.seen === 'connected') add(this.#askedPorts, observation.port, observation);
    } else add(this.#servers, observation.attempt, observation);
  }
}

const add = <K, V>(map: Map<K, V[]>, key: K, value: V): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};

/** The outcome of repeated attempts counts only when they agree. */
const confirmed = (all: readonly JoinedResult[]): JoinedResult => {
  const [first] = all as [JoinedResult];
  if (all.length === 1) return first;
  const outcomes = Map.groupBy(all, ({ outcome }) => outcome);
  if (outcomes.size === 1) return { ...first, reason: `seen ${all.length} times: ${first.reason}` };
  const counted = [...outcomes].map(([outcome, same]) => `${outcome} ${same.length} times`).join(', ');
  const reason = `not confirmed (${counted}): ${first.reason}`.slice(0, maxReason);
  return { ...first, outcome: 'inconclusive', mechanism: null, confidence: 'low', reason };
};

const maxReason = 4096;

/** One result per attempt; attempts that confirm another one are part of its result. */
export const joinRecords = (joining: Joining): JoinedResult[] => {
  const ends = new RecordIndex(joining.jobRecords);
  const groups = Map.groupBy(joining.attempts, ({ id, confirms }) => confirms ?? id);
  return [...groups.values()].map((attempts) => confirmed(attempts.map((attempt) => resultOf(attempt, ends, joining))));
};

const resultOf = (attempt: Attempt, ends: RecordIndex, { policy, t0, name }: Joining): JoinedResult => {
  const client = ends.clients.get(attempt.id);
  const server = ends.serverOf(attempt, client);
  const controls = ends.controlsAround(client);
  const bare = ends.bareOf(attempt, policy);
  const judged = { ...attempt, scan: scanOf(attempt) };
  const { outcome, mechanism, confidence, reason } = decide({
    attempt: judged,
    ...{ client, server, controls, policy, bare },
  });
  const { kind, refId, refName, variant, category, expected, severity, techniques, direction } = attempt;
  const { correlation: _, agentId, sentSha256: __, changes: ___, tls, ...serverSide } = server;
  return {
    ...{ kind, refName, variant, category, expected, severity, techniques, direction },
    refID: refId,
    attemptID: `${name}-${attempt.id}`,
    client: clientSide(client),
    server: { agentID: agentId, ...serverSide, ...(tls && { tls }) },
    ...{ outcome, mechanism, confidence, reason },
    changes: [...changesOf({ client, server }), ...helloChange(client?.tls, tls)],
    detected: 'unknown',
    alerts: [],
    control: { before: controls.before, after: controls.after ?? false },
    startedAt: new Date(t0 + (client === undefined ? 0 : client.startAfterMs + client.startedMs)).toISOString(),
    durationMs: client === undefined ? 0 : Math.round((client.endedMs - client.startedMs) * 1000) / 1000,
    excerpt: client?.excerpt ?? '',
  };
};

/** A device on the path terminated the TLS connection and opened its own, with another hello. */
const helloChange = (sent: TlsFingerprint | undefined, seen: TlsFingerprint | undefined): string[] =>
  sent !== undefined && seen !== undefined && sent.ja3 !== seen.ja3
    ? [`TLS hello changed: ja4 ${sent.ja4} → ${seen.ja4}`]
    : [];

const clientSide = (client: Owned<ClientObservation> | undefined): AttackResult['client'] => ({
  agentID: client?.agentId ?? 0,
  ip: client?.ip ?? '',
  port: client?.port ?? 0,
  connect: client?.connect ?? 'none',
  sentBytes: client?.sentBytes ?? 0,
  sentSha256: client?.sentSha256 ?? '',
  end: client?.end ?? 'none',
  status: client?.status ?? 0,
  rxBytes: client?.rxBytes ?? 0,
  rxSha256: client?.rxSha256 ?? '',
  responseIsOurs: client?.responseIsOurs ?? false,
  ttfbMs: client?.ttfbMs ?? 0,
  ...(client?.tls && { tls: client.tls }),
});
