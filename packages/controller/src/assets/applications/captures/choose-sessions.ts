import type { PcapSession } from '@rushhour/pcap';
import type { FoundIssue } from '../parameter.ts';

const maxSessions = 10_000;
const maxReasons = 100;

/** The sessions an application plays, and why others cannot be played. Frames can be sent of any session. */
export const chooseSessions = (
  all: readonly PcapSession[],
  { mode, sessions }: { mode: string; sessions: readonly number[] | undefined },
): { chosen: PcapSession[]; issues: FoundIssue[] } => {
  const canPlay = ({ replayable }: PcapSession) => replayable || mode === 'packet';
  if (sessions === undefined) {
    const chosen = all.filter(canPlay);
    const issues = chosen.length === 0 ? nothingToPlay(all) : limited(chosen);
    return { chosen: chosen.slice(0, maxSessions), issues };
  }
  const issues: FoundIssue[] = [];
  const seen = new Set<number>();
  const chosen = sessions.flatMap((sessionIndex, position) => {
    const session = all[sessionIndex];
    const path = `/sessions/${position}`;
    if (session === undefined) {
      const message = `the capture has ${all.length} sessions, there is no session ${sessionIndex}`;
      issues.push({ path: `${path}/sessionIndex`, code: 'SESSION_UNKNOWN', message, severity: 'error' });
      return [];
    }
    if (seen.has(sessionIndex)) {
      const message = `session ${sessionIndex} was chosen before`;
      issues.push({ path: `${path}/sessionIndex`, code: 'SESSION_TWICE', message, severity: 'error' });
      return [];
    }
    seen.add(sessionIndex);
    if (!canPlay(session)) issues.push(notReplayable(path, session));
    return [session];
  });
  if (sessions.length === 0) issues.push(...nothingToPlay([]));
  return { chosen, issues };
};

const notReplayable = (path: string, { sessionIndex, name, reasons }: PcapSession): FoundIssue => ({
  path,
  code: 'PCAP_NOT_REPLAYABLE',
  message: `session ${sessionIndex} (${name}) cannot be replayed: ${reasons.join(', ')}`,
  severity: 'error',
});

const nothingToPlay = (all: readonly PcapSession[]): FoundIssue[] => {
  if (all.length > 0) return all.slice(0, maxReasons).map((session) => notReplayable('/pcapFileId', session));
  const message = 'there is no session to play';
  return [{ path: '/pcapFileId', code: 'PCAP_NOT_REPLAYABLE', message, severity: 'error' }];
};

const limited = (chosen: readonly PcapSession[]): FoundIssue[] => {
  if (chosen.length <= maxSessions) return [];
  const message = `the capture has ${chosen.length} sessions: choose at most ${maxSessions}, or trim it`;
  return [{ path: '/sessions', code: 'TOO_MANY_SESSIONS', message, severity: 'error' }];
};
