import type { AttackResult } from '@rushhour/contract';
import type {
  Attempt,
  ClientObservation,
  Content,
  MessageChange,
  ScanExchange,
  ServerObservation,
  TlsFingerprint,
} from '@rushhour/protocol';
import type { RunDumpRecord } from '../../store/runs/run-dumps.ts';

const maxLetters = 4096;

const textOf = (content: Content): string =>
  'file' in content ? `(file ${content.file})` : Buffer.from(content.data, 'base64').toString('latin1');

/** The content of an attempt in readable form. */
const linesOf = ({ exchange }: Attempt): string[] => {
  switch (exchange.protocol) {
    case 'http':
      return exchange.steps.map(({ request: { method, path, version, headers, body } }) =>
        [
          `${method} ${path} HTTP/${version}`,
          ...headers.map(({ name, value }) => `${name}: ${value}`),
          '',
          ...(body === undefined ? [] : [textOf(body)]),
        ].join('\n'),
      );
    case 'raw':
      return exchange.sends.map(({ content }) => textOf(content));
    case 'dns':
      return [`${exchange.qname} ${exchange.qtype}`];
    case 'icmp':
      return [textOf(exchange.content)];
    case 'scan':
      return [`connect to port ${exchange.port}, which is ${exchange.isOpen ? 'open' : 'closed'}`];
    default:
      return [`${exchange.protocol} ${exchange.direction} ${exchange.name}`];
  }
};

export const requestText = (attempt: Attempt): string => linesOf(attempt).join('\n\n').slice(0, maxLetters);

type Placed = Pick<AttackResult, 'client' | 'startedAt' | 'durationMs'>;
type Dump = Pick<RunDumpRecord, 'id' | 'agentID' | 'state' | 'firstAt' | 'lastAt'>;

const covers = ({ firstAt, lastAt }: Dump, { startedAt, durationMs }: Placed): boolean => {
  if (firstAt === null || lastAt === null) return false;
  const began = Date.parse(startedAt);
  return Date.parse(firstAt) <= began + durationMs && Date.parse(lastAt) >= began;
};

/** Adds links to the packets of attempts: captures of the client's agent, filtered by address and port. */
export const packetEvidence = (run: { readonly id: number; readonly taskID: number }, dumps: readonly Dump[]) => {
  const ready = dumps.filter(({ state }) => state === 'ready');
  return <Attempt extends Placed>(attempt: Attempt): Attempt & { packets?: string[] } => {
    const { agentID, ip, port } = attempt.client;
    const own = ready.filter((dump) => dump.agentID === agentID && covers(dump, attempt));
    if (own.length === 0 || ip === '' || port === 0) return attempt;
    const filter = new URLSearchParams({ filter: `host ${ip} and port ${port}` });
    return { ...attempt, packets: own.map(({ id }) => `/v1/tasks/${run.taskID}/runs/${run.id}/dumps/${id}?${filter}`) };
  };
};

/** The policy of what counts as blocked: the values that verdicts need. */
export interface BlockPolicy {
  readonly resetIsBlock: boolean;
  readonly timeoutIsBlock: boolean;
  readonly partialIsBlock: boolean;
  readonly modifiedIs: 'blocked' | 'passed' | 'own';
  readonly blockStatus: readonly number[];
  readonly passStatus: readonly number[];
  /** Patterns (RE2) of the text of answers that are not from our server. */
  readonly blockRegex?: string | undefined;
  readonly passRegex?: string | undefined;
}

export const defaultPolicy: BlockPolicy = {
  resetIsBlock: true,
  timeoutIsBlock: true,
  partialIsBlock: true,
  modifiedIs: 'blocked',
  blockStatus: [403, 406],
  passStatus: [200, 204, 301, 302, 404],
};

/** The server's observations of all steps of an attempt. */
export interface ServerSeen
  extends Pick<ServerObservation, 'ip' | 'port' | 'rxBytes' | 'rxSha256' | 'sentBytes' | 'sentSha256' | 'end'> {
  readonly agentId: number;
  readonly seen: AttackResult['server']['seen'];
  readonly changes?: readonly MessageChange[];
  readonly tls?: TlsFingerprint | undefined;
  readonly correlation: ServerObservation['correlation'] | 'tuple';
}

/** Benign exchanges around an attempt. */
export interface ControlsAround {
  /** The last one before it, or the check of the path. */
  readonly before: boolean;
  /** The first one after it; undefined if there is none. */
  readonly after: boolean | undefined;
}

/** All facts of an attempt after both sides have reported. */
export interface Evidence {
  readonly attempt: Pick<Attempt, 'kind' | 'direction'> & {
    /** It looked whether a port is open. */
    readonly scan?: Pick<ScanExchange, 'isOpen'> | undefined;
  };
  /** Undefined if the client did not reach it. */
  readonly client: ClientObservation | undefined;
  readonly server: ServerSeen;
  readonly controls: ControlsAround;
  readonly policy: BlockPolicy;
  /** What became of it on the path without the device, where that was tried. */
  readonly bare?: Pick<AttackResult, 'outcome'> | undefined;
}

export interface Decision extends Pick<AttackResult, 'outcome' | 'mechanism' | 'confidence' | 'reason'> {
  /** Row of the decision table. */
  readonly row: number;
}
