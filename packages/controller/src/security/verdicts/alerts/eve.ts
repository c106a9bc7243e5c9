import { alertTimeOf } from './alert-time.ts';
import { alertEnd, type LineParser, shortText } from './device-alert.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const membersOf = (value: unknown): Members => (isMembers(value) ? value : {});

const mostPayload = 64 * 1024;

/** Bytes of the packet as text: marks of requests stand there when the log has no headers. */
const payloadText = (payload: unknown): string =>
  typeof payload === 'string' && payload.length <= mostPayload ? Buffer.from(payload, 'base64').toString('latin1') : '';

// The action of a rule is what it asks for; only the verdict says what became of the packet.
const verdictOf = ({ verdict }: Members): string => shortText(membersOf(verdict)['action']);

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** A line of Suricata's event log. */
export const parseEveLine: LineParser = (line, nearMs) => {
  const event = parsed(line);
  if (!isMembers(event)) return undefined;
  const timeMs = alertTimeOf(shortText(event['timestamp']), nearMs);
  if (event['event_type'] !== 'alert') return { timeMs };
  const told = membersOf(event['alert']);
  return {
    timeMs,
    alert: {
      timeMs,
      rule: shortText(told['signature_id']),
      message: shortText(told['signature']),
      action: verdictOf(event),
      from: alertEnd(event['src_ip'], event['src_port']),
      to: alertEnd(event['dest_ip'], event['dest_port']),
      text: `${line.replaceAll('\\/', '/')}\n${payloadText(event['payload'])}`,
    },
  };
};
