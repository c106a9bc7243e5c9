import { alertTimeOf, leadingTimeOf } from './alert-time.ts';
import { alertEnd, type LineParser, shortText } from './device-alert.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const membersOf = (value: unknown): Members => (isMembers(value) ? value : {});

const maxPayload = 64 * 1024;

/** Packet bytes as text: contains the tokens of requests when the log has no headers. */
const payloadText = (payload: unknown): string =>
  typeof payload === 'string' && payload.length <= maxPayload ? Buffer.from(payload, 'base64').toString('latin1') : '';

// The action of a rule is only a request; the verdict is what happened to the packet.
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
  const alert = membersOf(event['alert']);
  return {
    timeMs,
    alert: {
      timeMs,
      rule: shortText(alert['signature_id']),
      message: shortText(alert['signature']),
      action: verdictOf(event),
      from: alertEnd(event['src_ip'], event['src_port']),
      to: alertEnd(event['dest_ip'], event['dest_port']),
      text: `${line.replaceAll('\\/', '/')}\n${payloadText(event['payload'])}`,
    },
  };
};

/** Delimiter of the second version: a letter, or its code such as `x5E` or `0x5E`. */
const delimiterOf = (given: string): string => {
  const code = /^0?x([0-9a-f]{1,4})$/i.exec(given)?.[1];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return given === '' ? '\t' : (given[0] as string);
};

const attributesOf = (text: string, delimiter: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(delimiter).flatMap((pair): [string, string][] => {
      const at = pair.indexOf('=');
      return at <= 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]];
    }),
  );

/** A line in the Log Event Extended Format, version 1 or 2. */
export const parseLeefLine: LineParser = (line, nearMs) => {
  const start = line.indexOf('LEEF:');
  if (start < 0) return undefined;
  const [head = '', , , , rule, ...rest] = line.slice(start).split('|');
  if (rule === undefined || rest.length === 0) return undefined;
  const isSecond = head.startsWith('LEEF:2') && rest.length > 1;
  const delimiter = isSecond ? delimiterOf(rest[0] as string) : '\t';
  const attributes = attributesOf(rest.slice(isSecond ? 1 : 0).join('|'), delimiter);
  const get = (...keys: readonly string[]) => keys.map((key) => attributes.get(key)).find(Boolean) ?? '';
  const timeMs = alertTimeOf(get('devTime').replace(/ [A-Z]{3,4}$/, ''), nearMs) ?? leadingTimeOf(line, nearMs);
  return {
    timeMs,
    alert: {
      timeMs,
      rule: rule.slice(0, 1000),
      message: get('msg', 'policy', 'cat').slice(0, 1000),
      action: get('action', 'act').slice(0, 1000),
      from: alertEnd(get('src'), get('srcPort')),
      to: alertEnd(get('dst'), get('dstPort')),
      text: line,
    },
  };
};

const headParts = 7;

/** Splits at unescaped bars; the rest after the last requested part stays whole. */
const splitHead = (text: string, parts: number): string[] => {
  const found: string[] = [];
  let part = '';
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string;
    if (letter === '\\' && (text[at + 1] === '|' || text[at + 1] === '\\')) {
      part += text[at + 1];
      at += 1;
    } else if (letter === '|' && found.length < parts) {
      found.push(part);
      if (found.length === parts) return [...found, text.slice(at + 1)];
      part = '';
    } else part += letter;
  }
  return [...found, part];
};

const unescaped = (value: string) =>
  value.replace(/\\([=\\nr|])/g, (_, letter: string) => ({ n: '\n', r: '\r' })[letter] ?? letter);

/** `key=value` pairs; values may contain spaces and end at the next key. */
const extensionOf = (text: string): ReadonlyMap<string, string> => {
  const keys = [...text.matchAll(/(?:^|\s)([A-Za-z0-9_.[\]-]{1,100})=/g)];
  return new Map(
    keys.map((key, index) => {
      const end = keys[index + 1]?.index ?? text.length;
      return [key[1] as string, unescaped(text.slice(key.index + key[0].length, end).trim())];
    }),
  );
};

const withoutZone = (time: string) => time.replace(/ [A-Z]{3,4}$/, '');

/** A line in the Common Event Format, with or without a syslog header. */
export const parseCefLine: LineParser = (line, nearMs) => {
  const start = line.indexOf('CEF:');
  if (start < 0) return undefined;
  const parts = splitHead(line.slice(start), headParts);
  if (parts.length <= headParts) return undefined;
  const [, , , , rule = '', name = '', , rest = ''] = parts;
  const members = extensionOf(rest);
  const get = (key: string) => members.get(key) ?? '';
  const times = ['rt', 'start', 'end'].map((key) => alertTimeOf(withoutZone(get(key)), nearMs));
  const timeMs = times.find((time) => time !== undefined) ?? leadingTimeOf(line, nearMs);
  return {
    timeMs,
    alert: {
      timeMs,
      rule: rule.slice(0, 1000),
      message: (get('msg') || name).slice(0, 1000),
      action: get('act').slice(0, 1000),
      from: alertEnd(get('src') || get('c6a2'), get('spt')),
      to: alertEnd(get('dst') || get('c6a3'), get('dpt')),
      text: `${line}\n${[...members.values()].join('\n')}`,
    },
  };
};
