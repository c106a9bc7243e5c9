import { alertTimeOf, leadingTimeOf } from './alert-time.ts';
import { alertEnd, type LineParser } from './device-alert.ts';

const headParts = 7;

/** Splits at bars that are not escaped; what follows the last wanted part stays whole. */
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

/** `key=value` pairs; values hold blanks, and end where the next key begins. */
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
  const told = ['rt', 'start', 'end'].map((key) => alertTimeOf(withoutZone(get(key)), nearMs));
  const timeMs = told.find((time) => time !== undefined) ?? leadingTimeOf(line, nearMs);
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
