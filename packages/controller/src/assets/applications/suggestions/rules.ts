import type { RecordedSession } from '../captures/session-steps.ts';
import { type Candidate, findInServerSteps } from './candidate.ts';
import type { NamedValue, StepText } from './step-text.ts';

const dayMs = 86_400_000;

export interface SuggestionContext {
  readonly sessions: readonly RecordedSession[];
  /** When the capture begins. */
  readonly startedAtMs: number;
}

const email = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g;
const uuid = /\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b/g;
const ipv4 = /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])/g;
const unixSeconds = /(?<!\d)1\d{9}(?!\d)/g;
const isoTime = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

const valuesIn = (pattern: RegExp, text: string) => Array.from(text.matchAll(pattern), ([value]) => value);

/** Values recognized by their format, anywhere in a step. */
export function* knownByLook({ step, text }: StepText, context: SuggestionContext): Generator<Candidate> {
  const session = context.sessions.find(({ sessionIndex }) => sessionIndex === step.sessionIdx);
  for (const value of valuesIn(ipv4, text)) yield address(value, session);
  const isNear = (atMs: number) => Math.abs(atMs - context.startedAtMs) < dayMs;
  for (const value of valuesIn(unixSeconds, text)) {
    if (isNear(Number(value) * 1000)) yield time('unixTime', value, 'nowUnix');
  }
  for (const value of valuesIn(isoTime, text)) if (isNear(Date.parse(value))) yield time('isoTime', value, 'nowIso');
  if (step.side !== 'client') return;
  for (const value of valuesIn(email, text)) {
    const reason = 'an e-mail address';
    yield { name: 'email', value, type: 'string', source: 'fixed', defaultValue: value, confidence: 0.7, reason };
  }
  for (const value of valuesIn(uuid, text)) {
    yield { name: 'uuid', value, type: 'uuid', source: 'random', confidence: 0.6, reason: 'a UUID the client made' };
  }
}

const address = (value: string, session: RecordedSession | undefined): Candidate => {
  const system = value === session?.srcIp ? 'clientIp' : value === session?.dstIp ? 'serverIp' : undefined;
  if (system === undefined) {
    const reason = 'an IP address';
    return { name: 'address', value, type: 'ipv4', source: 'fixed', defaultValue: value, confidence: 0.4, reason };
  }
  const reason = `the address of the ${system === 'clientIp' ? 'client' : 'server'}`;
  return { name: system, value, type: 'string', source: 'system', defaultValue: system, confidence: 0.85, reason };
};

const time = (name: string, value: string, system: string): Candidate => ({
  name,
  value,
  type: 'timestamp',
  source: 'system',
  defaultValue: system,
  confidence: 0.7,
  reason: 'a time close to that of the capture',
});

const secretKey = /pass(?:wd|word)?$|^pwd$|secret/i;
const loginKey = /^(?:user(?:_?name)?|login|e?_?mail|account)$/i;
const tokenKey = /token|session|^sid$|csrf|xsrf|nonce|^auth|api[_-]?key/i;
const idKey = /(?:^|[_-])(?:id|no|nr|num|number|seq|order|index)$|Id$/;
const dullHeaders =
  /^(?:host|connection|accept.*|user-agent|content-.*|cache-control|origin|referer|upgrade.*|sec-.*|pragma|te|date|if-.*|dnt|range)$/;

/** Candidates for a named value of the client. */
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

/** A value that the server sent before the client did. */
const findCorrelated = (
  { kind, key, value }: NamedValue,
  at: number,
  steps: readonly StepText[],
): Candidate | undefined => {
  const isDistinctive = value.length >= 6 && (/\d/.test(value) || value.length >= 12);
  if (!isDistinctive) return undefined;
  const from = findInServerSteps(value, steps, at);
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
