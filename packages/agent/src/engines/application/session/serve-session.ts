import type { ApplicationServerConfig } from '@rushhour/protocol';
import { clientStepTimeoutMs, pause, pauseOf } from '../timing.ts';
import type { LocalValues } from '../values.ts';
import type { Channel } from './channel.ts';
import type { MismatchPolicy } from './mismatch-policy.ts';
import type { MatchedSession, PortSessions } from './port-sessions.ts';
import { awaitStep, type Received, receiveStep } from './receive-step.ts';

export interface ServeSessionDeps {
  readonly config: ApplicationServerConfig;
  readonly portSessions: PortSessions;
  readonly mismatchPolicy: MismatchPolicy;
  readonly signal: AbortSignal;
  /** Values known only to this end. */
  readonly local: LocalValues;
  /** Timeout for the first bytes. */
  readonly timeoutMs: number;
  readonly fail: (kind: string) => void;
}

/** Replays the server side of the session that the connection belongs to. */
export const serveSession = async (channel: Channel, deps: ServeSessionDeps): Promise<void> => {
  const { portSessions, signal, fail } = deps;
  let matched = await portSessions.identify(channel, deps.local, deps.timeoutMs);
  if (matched === undefined) {
    channel.close();
    return;
  }
  let isClaimed = false;
  /** Fixes the match: either the received bytes are unique, or the server must send a step that depends on the user. */
  const claim = ({ matcher, round }: MatchedSession) => {
    if (!isClaimed) matcher.claim(round.userIteration);
    isClaimed = true;
  };
  for (let step = 0; step < matched.matcher.session.steps.length && !signal.aborted; step++) {
    const { side, gapMs, isVarying } = stepOf(matched, step);
    if (side === 'server') {
      if (isVarying) claim(matched);
      const { speed } = matched.matcher.session;
      await pause(pauseOf(speed, gapMs, matched.matcher.script.play.leastGapMs), signal);
      channel.send(matched.round.bytesToSend(matched.matcher.position, step));
      continue;
    }
    const clientStep = await receiveClientStep(channel, matched, step, deps);
    matched = clientStep.matched;
    if (stepOf(matched, step).isVarying) claim(matched);
    if (clientStep.wait !== 'arrived' && !signal.aborted) fail(clientStep.wait === 'timeout' ? 'timeout' : 'closed');
    if (clientStep.wait !== 'arrived' || !clientStep.continues) {
      channel.reset();
      return;
    }
  }
  claim(matched);
  await finish(channel, matched, deps);
};

const stepOf = (matched: MatchedSession, step: number) =>
  matched.matcher.session.steps[step] as MatchedSession['matcher']['session']['steps'][number];

interface ClientStep {
  readonly matched: MatchedSession;
  readonly wait: Received['wait'];
  readonly continues: boolean;
}

/** Receives a step of the client. On a mismatch, other sessions with the same beginning are tried. */
const receiveClientStep = async (
  channel: Channel,
  known: MatchedSession,
  step: number,
  deps: ServeSessionDeps,
): Promise<ClientStep> => {
  const { config, portSessions, mismatchPolicy, signal } = deps;
  const expectedStep = ({ matcher, round }: MatchedSession) => {
    const timeoutMs = clientStepTimeoutMs(matcher.script);
    return { round, session: matcher.position, step, match: config.match, timeoutMs };
  };
  await awaitStep(channel, expectedStep(known));
  const matched = portSessions.isOpen ? rematch(channel, known, step, portSessions) : known;
  const { fault, wait } = await receiveStep(channel, expectedStep(matched));
  if (fault === undefined || signal.aborted) return { matched, wait, continues: true };
  if (wait !== 'arrived' && fault.kind === 'partial') return { matched, wait, continues: false };
  return { matched, wait, continues: mismatchPolicy.apply(matched.matcher.session, step, fault) };
};

const rematch = (channel: Channel, known: MatchedSession, step: number, portSessions: PortSessions): MatchedSession => {
  const arrived = channel.peek();
  if (known.round.unknownIn(known.matcher.position, step).length > 0) return known;
  const expected = known.round.bytes(known.matcher.position, step);
  const isAsExpected = arrived.length >= expected.length && arrived.subarray(0, expected.length).equals(expected);
  return isAsExpected ? known : (portSessions.findAlternative(known, step, arrived) ?? known);
};

/** After the last step only the close of the peer is expected. */
const finish = async (
  channel: Channel,
  { matcher }: MatchedSession,
  { mismatchPolicy, signal }: ServeSessionDeps,
): Promise<void> => {
  const { session, script } = matcher;
  if (session.protocol === 'udp') {
    channel.close();
    return;
  }
  const wait = signal.aborted ? 'ended' : await channel.wait(1, script.play.timeoutMs);
  if (wait === 'arrived') {
    const text = `is followed by ${channel.length} unexpected bytes: ${JSON.stringify(channel.peek().toString('latin1', 0, 16))}`;
    mismatchPolicy.apply(session, session.steps.length - 1, { kind: 'modified', at: 0, text });
  }
  channel.close();
};
