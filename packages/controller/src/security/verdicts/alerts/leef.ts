import { alertTimeOf, leadingTimeOf } from './alert-time.ts';
import { alertEnd, type LineParser } from './device-alert.ts';

/** Delimiter of the second version: a letter, or its code such as `x5E` or `0x5E`. */
const delimiterOf = (told: string): string => {
  const code = /^0?x([0-9a-f]{1,4})$/i.exec(told)?.[1];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return told === '' ? '\t' : (told[0] as string);
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
