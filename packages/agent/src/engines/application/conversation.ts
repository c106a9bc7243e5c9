import type { ApplicationServerConfig } from '@rushhour/protocol';
import type { Channel } from './channel.ts';
import { awaitStep, type Received, receiveStep } from './receive.ts';
import type { Referee } from './referee.ts';
import type { Role, Roster } from './roster.ts';
import { patienceOf, pause, pauseOf } from './timing.ts';
import type { LocalValues } from './values.ts';

export interface ConversationDeps {
  readonly config: ApplicationServerConfig;
  readonly roster: Roster;
  readonly referee: Referee;
  readonly signal: AbortSignal;
  /** Values that only this end knows. */
  readonly local: LocalValues;
  /** How long to wait for the first bytes. */
  readonly timeoutMs: number;
  readonly fail: (kind: string) => void;
}

/** Plays the server of one session, whosever it is. */
export const converse = async (channel: Channel, deps: ConversationDeps): Promise<void> => {
  const { roster, signal, fail } = deps;
  let role = await roster.identify(channel, deps.local, deps.timeoutMs);
  if (role === undefined) {
    channel.close();
    return;
  }
  let isClaimed = false;
  /** From here on it is known who it is: by what was said, or because something must be said. */
  const claim = ({ part, round }: Role) => {
    if (!isClaimed) part.claim(round.turn);
    isClaimed = true;
  };
  for (let step = 0; step < role.part.session.steps.length && !signal.aborted; step++) {
    const { side, gapMs, isVarying } = stepOf(role, step);
    if (side === 'server') {
      if (isVarying) claim(role);
      const { speed } = role.part.session;
      await pause(pauseOf(speed, gapMs, role.part.script.play.leastGapMs), signal);
      channel.send(role.round.say(role.part.position, step));
      continue;
    }
    const heard = await hear(channel, role, step, deps);
    role = heard.role;
    if (stepOf(role, step).isVarying) claim(role);
    if (heard.wait !== 'arrived' && !signal.aborted) fail(heard.wait === 'timeout' ? 'timeout' : 'closed');
    if (heard.wait !== 'arrived' || !heard.goesOn) {
      channel.reset();
      return;
    }
  }
  claim(role);
  await finish(channel, role, deps);
};

const stepOf = (role: Role, step: number) => role.part.session.steps[step] as Role['part']['session']['steps'][number];

interface Heard {
  readonly role: Role;
  readonly wait: Received['wait'];
  readonly goesOn: boolean;
}

/** Takes a step of the client. Whoever says something else may be another one who began alike. */
const hear = async (channel: Channel, known: Role, step: number, deps: ConversationDeps): Promise<Heard> => {
  const { config, roster, referee, signal } = deps;
  const wishOf = ({ part, round }: Role) => {
    const timeoutMs = patienceOf(part.script);
    return { round, session: part.position, step, match: config.match, timeoutMs };
  };
  await awaitStep(channel, wishOf(known));
  const role = roster.isOpen ? otherwise(channel, known, step, roster) : known;
  const { fault, wait } = await receiveStep(channel, wishOf(role));
  if (fault === undefined || signal.aborted) return { role, wait, goesOn: true };
  if (wait !== 'arrived' && fault.kind === 'partial') return { role, wait, goesOn: false };
  return { role, wait, goesOn: referee.judge(role.part.session, step, fault) };
};

const otherwise = (channel: Channel, known: Role, step: number, roster: Roster): Role => {
  const arrived = channel.peek();
  if (known.round.unknownIn(known.part.position, step).length > 0) return known;
  const expected = known.round.bytes(known.part.position, step);
  const isAsExpected = arrived.length >= expected.length && arrived.subarray(0, expected.length).equals(expected);
  return isAsExpected ? known : (roster.instead(known, step, arrived) ?? known);
};

/** Nothing may come any more but the goodbye. */
const finish = async (channel: Channel, { part }: Role, { referee, signal }: ConversationDeps): Promise<void> => {
  const { session, script } = part;
  if (session.protocol === 'udp') {
    channel.close();
    return;
  }
  const wait = signal.aborted ? 'ended' : await channel.wait(1, script.play.timeoutMs);
  if (wait === 'arrived') {
    const text = `is followed by ${channel.length} bytes that nobody sent: ${JSON.stringify(channel.peek().toString('latin1', 0, 16))}`;
    referee.judge(session, session.steps.length - 1, { kind: 'modified', at: 0, text });
  }
  channel.close();
};
