import { type Candidate, findSaid } from './candidate.ts';
import type { NamedValue, StepText } from './step-text.ts';

const secretKey = /pass(?:wd|word)?$|^pwd$|secret/i;
const loginKey = /^(?:user(?:_?name)?|login|e?_?mail|account)$/i;
const tokenKey = /token|session|^sid$|csrf|xsrf|nonce|^auth|api[_-]?key/i;
const idKey = /(?:^|[_-])(?:id|no|nr|num|number|seq|order|index)$|Id$/;
const dullHeaders =
  /^(?:host|connection|accept.*|user-agent|content-.*|cache-control|origin|referer|upgrade.*|sec-.*|pragma|te|date|if-.*|dnt|range)$/;

/** What a named value of the client may be. */
export function* knownByName(named: NamedValue, at: number, steps: readonly StepText[]): Generator<Candidate> {
  const { kind, key, value } = named;
  if (kind === 'header' && key === 'host') {
    yield { ...fixed('host', value, 'the host of the requests'), confidence: 0.9 };
    return;
  }
  if (kind === 'header' && dullHeaders.test(key)) return;
  const correlated = findCorrelated(named, at, steps);
  if (correlated) yield correlated;
  if (secretKey.test(key)) yield { ...fixed(key, value, 'a password'), confidence: 0.8 };
  else if (loginKey.test(key)) yield { ...fixed(key, value, 'who signs in'), confidence: 0.8 };
  else if (isToken(named)) {
    const reason = 'a token the server did not give in this capture';
    yield { name: key, value, type: 'string', source: 'random', confidence: 0.5, reason };
  } else if (idKey.test(key) && /^\d{1,15}$/.test(value)) {
    const reason = 'a number that names something';
    yield { name: key, value, type: 'integer', source: 'counter', start: value, confidence: 0.4, reason };
  }
}

const isToken = ({ kind, key, value }: NamedValue) =>
  value.length >= 8 && (kind === 'cookie' || kind === 'bearer' || tokenKey.test(key)) && /^[\w.~+/=-]+$/.test(value);

/** A value the server said before the client did. */
const findCorrelated = (
  { kind, key, value }: NamedValue,
  at: number,
  steps: readonly StepText[],
): Candidate | undefined => {
  const isTelling = value.length >= 6 && (/\d/.test(value) || value.length >= 12);
  if (!isTelling) return undefined;
  const from = findSaid(value, steps, at);
  if (from === undefined) return undefined;
  const isStrong = kind === 'cookie' || kind === 'bearer' || tokenKey.test(key);
  return {
    name: key,
    value,
    type: 'string',
    source: 'extract',
    confidence: isStrong ? 0.95 : 0.75,
    reason: `the server said it before the client sent it back as ${kind} "${key}"`,
    from,
  };
};

const fixed = (name: string, value: string, reason: string) => ({
  name,
  value,
  type: 'string',
  source: 'fixed',
  defaultValue: value,
  reason,
});
