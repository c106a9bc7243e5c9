import { scoreV4 } from './cvss-4.ts';

type Version = '2.0' | '3.0' | '3.1' | '4.0';

interface Cvss {
  readonly version: Version;
  readonly score: number;
}

/** The score that a CVSS vector says; undefined when it is none. */
export const cvssScoreOf = (vector: string): Cvss | undefined => {
  const version = /^CVSS:(3\.[01]|4\.0)\//.exec(vector)?.[1] as Version | undefined;
  const metrics = new Map(
    vector
      .replace(/^CVSS:[\d.]+\//, '')
      .replace(/^\(|\)$/g, '')
      .split('/')
      .map((part) => part.split(':') as [string, string]),
  );
  if (version === '4.0') return scored(version, scoreV4(metrics));
  if (version !== undefined) return scored(version, scoreV3(metrics, version === '3.0'));
  return scored('2.0', scoreV2(metrics));
};

const scored = (version: Version, score: number | undefined) => (score === undefined ? undefined : { version, score });

type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

const weigh = (metrics: ReadonlyMap<string, string>, weights: Weights) => {
  const found: Record<string, number> = {};
  for (const [name, values] of Object.entries(weights)) {
    const weight = values[metrics.get(name) ?? ''];
    if (weight === undefined) return undefined;
    found[name] = weight;
  }
  return found as Record<string, number>;
};

const impact3 = { H: 0.56, L: 0.22, N: 0 };
const weights3: Weights = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  UI: { N: 0.85, R: 0.62 },
  C: impact3,
  I: impact3,
  A: impact3,
};
const privileges: Weights = { U: { N: 0.85, L: 0.62, H: 0.27 }, C: { N: 0.85, L: 0.68, H: 0.5 } };

const scoreV3 = (metrics: ReadonlyMap<string, string>, isOld: boolean) => {
  const scope = metrics.get('S') ?? '';
  const weighed = weigh(metrics, weights3);
  const privilege = privileges[scope]?.[metrics.get('PR') ?? ''];
  if (weighed === undefined || privilege === undefined) return undefined;
  const { AV = 0, AC = 0, UI = 0, C = 0, I = 0, A = 0 } = weighed;
  const base = 1 - (1 - C) * (1 - I) * (1 - A);
  const changed = 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15;
  const impact = scope === 'C' ? changed : 6.42 * base;
  if (impact <= 0) return 0;
  const sum = impact + 8.22 * AV * AC * privilege * UI;
  const max = Math.min(10, scope === 'C' ? 1.08 * sum : sum);
  return isOld ? Math.ceil(max * 10) / 10 : roundUp(max);
};

/** As version 3.1 rounds, immune to the errors of binary fractions. */
const roundUp = (value: number) => {
  const whole = Math.round(value * 100_000);
  return whole % 10_000 === 0 ? whole / 100_000 : (Math.floor(whole / 10_000) + 1) / 10;
};

const impact2 = { N: 0, P: 0.275, C: 0.66 };
const weights2: Weights = {
  AV: { L: 0.395, A: 0.646, N: 1 },
  AC: { H: 0.35, M: 0.61, L: 0.71 },
  Au: { M: 0.45, S: 0.56, N: 0.704 },
  C: impact2,
  I: impact2,
  A: impact2,
};

const scoreV2 = (metrics: ReadonlyMap<string, string>) => {
  const weighed = weigh(metrics, weights2);
  if (weighed === undefined) return undefined;
  const { AV = 0, AC = 0, Au = 0, C = 0, I = 0, A = 0 } = weighed;
  const impact = 10.41 * (1 - (1 - C) * (1 - I) * (1 - A));
  const exploitability = 20 * AV * AC * Au;
  const score = (0.6 * impact + 0.4 * exploitability - 1.5) * (impact === 0 ? 0 : 1.176);
  return Math.round(score * 10) / 10;
};

/** The word for a score, as version 3 says. */
export const severityOfScore = (score: number) => {
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'info';
};
