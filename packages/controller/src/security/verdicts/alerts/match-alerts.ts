import type { AttackResult } from '@rushhour/contract';
import type { DeviceAlert } from './device-alert.ts';

export type AlertMatch = 'tuple' | 'token' | 'signature';

/** The facts of an attempt that an alert may contain. */
export interface AlertedAttempt {
  /** Number within its file. */
  readonly id: number;
  readonly startMs: number;
  readonly endMs: number;
  /** True if anything was sent. */
  readonly isTried: boolean;
  readonly client: { readonly ip: string; readonly port: number };
  /** Ports to which it was sent and at which it arrived. */
  readonly ports: readonly number[];
  /** True if its protocol carries a token. */
  readonly hasToken: boolean;
  /** CVE, rules and names in the spelling of alerts. */
  readonly names: readonly string[];
}

interface AlertRules {
  readonly windowMs: number;
  /** All criteria must match. */
  readonly matchOn: readonly AlertMatch[];
  readonly runToken: string;
  /** The end of the time that the log covers. */
  readonly coveredUntilMs: number;
}

export type Detection = Pick<AttackResult, 'detected' | 'alerts'>;

const maxAlerts = 20;
const maxLooked = 5000;

const folded = (text: string) => text.toLowerCase().replaceAll('_', '-');
const isWordLetter = (letter: string | undefined) => letter !== undefined && /[a-z0-9]/.test(letter);

/** True if a text contains a name as a whole word. */
const holds = (text: string, name: string): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isWordLetter(text[at - 1]) && !isWordLetter(text[at + name.length])) return true;
  }
  return false;
};

interface Indexed {
  readonly alert: DeviceAlert;
  readonly timeMs: number;
  readonly text: string;
  readonly tokens: ReadonlySet<number>;
}

const tokensIn = (text: string, runToken: string): ReadonlySet<number> => {
  const found = new Set<number>();
  if (runToken === '') return found;
  const mark = `${runToken}/`;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const digits = /^\d{1,9}/.exec(text.slice(at + mark.length, at + mark.length + 10))?.[0];
    if (digits !== undefined) found.add(Number(digits));
  }
  return found;
};

/** The address and port of the client are sufficient: every attempt has its own port. */
const isSameTuple = ({ client, ports }: AlertedAttempt, { from, to }: DeviceAlert): boolean => {
  if (client.port === 0) return false;
  const agrees = (near: DeviceAlert['from'], far: DeviceAlert['to']) =>
    near.ip === client.ip && near.port === client.port && (far.port === 0 || ports.includes(far.port));
  return agrees(from, to) || agrees(to, from);
};

const checks: Readonly<Record<AlertMatch, (attempt: AlertedAttempt, indexed: Indexed) => boolean>> = {
  tuple: (attempt, { alert }) => isSameTuple(attempt, alert),
  token: ({ id }, { tokens }) => tokens.has(id),
  signature: ({ names }, { text, alert }) =>
    names.some((name) => alert.rule === name || (name.length > 3 && holds(text, folded(name)))),
};

const endKey = ({ ip, port }: { readonly ip: string; readonly port: number }) => `${ip} ${port}`;

const add = <K>(map: Map<K, Indexed[]>, key: K, one: Indexed): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [one]);
  else list.push(one);
};

/** Indexes of alerts; alerts without a time are found by token only. */
class Alerts {
  readonly #timed: readonly Indexed[];
  readonly #byToken = new Map<number, Indexed[]>();
  readonly #byEnd = new Map<string, Indexed[]>();

  constructor(alerts: readonly DeviceAlert[], { runToken }: AlertRules) {
    const indexed = alerts.map((alert): Indexed => {
      const { timeMs = Number.NaN, text, rule, message } = alert;
      return { alert, timeMs, text: folded(`${rule}\n${message}\n${text}`), tokens: tokensIn(text, runToken) };
    });
    this.#timed = indexed.filter(({ timeMs }) => !Number.isNaN(timeMs)).toSorted((a, b) => a.timeMs - b.timeMs);
    for (const one of indexed) for (const id of one.tokens) add(this.#byToken, id, one);
    for (const one of this.#timed) {
      for (const key of new Set([endKey(one.alert.from), endKey(one.alert.to)])) add(this.#byEnd, key, one);
    }
  }

  /** Candidates for the attempt, in time; only the first ones if there are too many. */
  near({ id, startMs, endMs, client }: AlertedAttempt, { windowMs, matchOn }: AlertRules): readonly Indexed[] {
    const [fromMs, toMs] = [startMs - windowMs, endMs + windowMs];
    const isNear = ({ timeMs }: Indexed) => Number.isNaN(timeMs) || (timeMs >= fromMs && timeMs <= toMs);
    if (matchOn.includes('token')) return (this.#byToken.get(id) ?? []).filter(isNear);
    if (matchOn.includes('tuple')) return (this.#byEnd.get(endKey(client)) ?? []).filter(isNear);
    const first = this.#firstFrom(fromMs);
    const last = Math.min(this.#firstFrom(toMs + 1), first + maxLooked);
    return this.#timed.slice(first, last);
  }

  #firstFrom(timeMs: number): number {
    let [low, high] = [0, this.#timed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#timed[middle] as Indexed).timeMs < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const shown = ({ timeMs, rule, message, action }: DeviceAlert): AttackResult['alerts'][number] => ({
  time: timeMs === undefined ? '' : new Date(timeMs).toISOString(),
  rule,
  message,
  action,
});

/** True if an alert could be matched to the attempt. */
const isComparable = ({ isTried, client, hasToken, names }: AlertedAttempt, { matchOn }: AlertRules): boolean =>
  isTried &&
  matchOn.length > 0 &&
  (!matchOn.includes('tuple') || client.port > 0) &&
  (!matchOn.includes('token') || hasToken) &&
  (!matchOn.includes('signature') || names.length > 0);

/** The detection of each attempt by a log of alerts; unknown where the log cannot show it. */
export const matchAlerts = (
  attempts: readonly AlertedAttempt[],
  alerts: readonly DeviceAlert[],
  rules: AlertRules,
): Detection[] => {
  const indexed = new Alerts(alerts, rules);
  return attempts.map((attempt): Detection => {
    if (!isComparable(attempt, rules)) return { detected: 'unknown', alerts: [] };
    const near = indexed.near(attempt, rules);
    const found = near.filter((one) => rules.matchOn.every((match) => checks[match](attempt, one))).slice(0, maxAlerts);
    if (found.length > 0) return { detected: 'yes', alerts: found.map(({ alert }) => shown(alert)) };
    const isSure = attempt.endMs <= rules.coveredUntilMs && near.length < maxLooked;
    return { detected: isSure ? 'no' : 'unknown', alerts: [] };
  });
};
