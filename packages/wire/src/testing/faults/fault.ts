import { AccessClient, type AccessClientOptions } from '../../access/access-client.ts';
import type { AccessGatewayOptions } from '../../access/access-gateway.ts';
import type { SessionCause } from '../../access/causes.ts';
import { sessionState } from '../../access/session-table.ts';
import type { SessionLife, SubscriberListener, Subscribers } from '../../access/subscribers.ts';
import { timerKind } from '../../access/timers.ts';
import { clientOptions, createEnds } from '../access-ends.ts';
import { AccessLab } from '../access-lab.ts';

/** Longest time that a session with two attempts may take to end. */
const limitMs = 120_000;
const stepMs = 5;

export interface FaultEnds {
  readonly lab: AccessLab;
  readonly subscribers: Subscribers;
}

/** What the ends of a fault are built with: two attempts for each session, and who listens. */
export interface FaultContext {
  readonly life: SessionLife;
  readonly listener: SubscriberListener;
}

/** Another end that misbehaves, and the cause that the session table must have. */
export interface Fault {
  readonly name: string;
  readonly cause: SessionCause;
  create(context: FaultContext): FaultEnds;
  /** Called each time that all sessions have come up. */
  onUp?(ends: FaultEnds): void;
}

/** Starts the sessions of a fault and waits until the last has ended; why its attempts failed, and what is left. */
export const provoke = ({ create, onUp }: Fault) => {
  const causes: SessionCause[] = [];
  let last = 0;
  const record = (session: number, cause: SessionCause) => void (session === last && causes.push(cause));
  const life = { holdMs: 0, reconnect: true, reconnectDelayMs: 500, maxAttempts: 2 };
  const ends = create({ life, listener: { onFailed: record, onFlap: record } });
  const { lab, subscribers } = ends;
  const { table, timers } = subscribers;
  last = table.count - 1;
  let wereUp = false;
  subscribers.begin();
  lab.run(
    limitMs,
    () => {
      const areUp = table.counts[sessionState.up] === table.count;
      if (areUp && !wereUp) onUp?.(ends);
      wereUp = areUp;
      return table.state[last] === sessionState.ended;
    },
    stepMs,
  );
  const { state, attempts } = table.viewOf(last);
  const timersLeft = Object.values(timerKind).filter((kind) => timers.isSet(last, kind)).length;
  return { state, attempts, cause: causes[0], failures: causes.length, timersLeft };
};

type Tamper = AccessLab['tamper'];

/** Sessions and our gateway, with a wire that changes what the gateway says. */
export const withGateway =
  (
    client: Partial<AccessClientOptions>,
    gateway: Partial<AccessGatewayOptions>,
    tamper?: Tamper,
  ): ((context: FaultContext) => FaultEnds) =>
  (context) => {
    const lab = new AccessLab();
    lab.tamper = tamper;
    const ends = createEnds({ count: 1, ...client, ...context }, gateway, lab);
    return { lab, subscribers: ends.client.subscribers };
  };

/** Sessions, and what a test puts at the other end of the wire. */
export const withFarEnd = (
  client: Partial<AccessClientOptions>,
  { life, listener }: FaultContext,
  createFar: (lab: AccessLab) => NonNullable<AccessLab['ends'][1]>,
): FaultEnds => {
  const lab = new AccessLab();
  const near = new AccessClient({
    ...{ ...clientOptions, count: 1, ...client },
    ...{ life, listener, sink: lab.sink(0), random: lab.random },
  });
  lab.ends[0] = near;
  lab.ends[1] = createFar(lab);
  return { lab, subscribers: near.subscribers };
};

/** Changes only what comes from the other end; undefined: it is lost. */
export const fromPeer =
  (change: (frame: Uint8Array) => Uint8Array | undefined): NonNullable<Tamper> =>
  (frame, from) =>
    from === 1 ? change(frame) : frame;

/** The wire from now on. */
export const onUpTamper =
  (change: (frame: Uint8Array) => Uint8Array | undefined): NonNullable<Fault['onUp']> =>
  ({ lab }) => {
    lab.tamper = fromPeer(change);
  };
