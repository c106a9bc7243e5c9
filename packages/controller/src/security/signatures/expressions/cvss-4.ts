import { findMacroScore } from './cvss-4-scores.ts';

type Metrics = ReadonlyMap<string, string>;

const required: Readonly<Record<string, string>> = {
  AV: 'NALP',
  AC: 'LH',
  AT: 'NP',
  PR: 'NLH',
  UI: 'NPA',
  VC: 'HLN',
  VI: 'HLN',
  VA: 'HLN',
  SC: 'HLN',
  SI: 'HLN',
  SA: 'HLN',
};
/** What counts where nothing is said: the worst. */
const worst: Readonly<Record<string, string>> = { E: 'A', CR: 'H', IR: 'H', AR: 'H' };
/** From bad to harmless; the distance between neighbours is one step. */
const ladders: Readonly<Record<string, string>> = {
  ...required,
  SC: ' HLN',
  SI: 'SHLN',
  SA: 'SHLN',
  ...{ CR: 'HML', IR: 'HML', AR: 'HML' },
};

/** The value that counts: the modified one where there is one. */
const readerOf = (metrics: Metrics) => (name: string) => {
  const said = [metrics.get(`M${name}`), metrics.get(name)].find((value) => value !== undefined && value !== 'X');
  return said ?? worst[name] ?? '';
};
type Read = ReturnType<typeof readerOf>;

const pick = (...conditions: readonly boolean[]) => {
  const found = conditions.indexOf(true);
  return found < 0 ? conditions.length : found;
};

/** The six equivalence classes of a vector. */
const classesOf = (at: Read): [number, number, number, number, number, number] => {
  const is = (text: string) => text.split(' ').every((part) => at(part.slice(0, -1)) === part.slice(-1));
  const hasFree = ['AV', 'PR', 'UI'].some((name) => at(name) === 'N');
  return [
    pick(is('AVN PRN UIN'), hasFree && !is('AVP')),
    pick(is('ACL ATN')),
    pick(is('VCH VIH'), is('VCH') || is('VIH') || is('VAH')),
    pick(is('SIS') || is('SAS'), is('SCH') || is('SIH') || is('SAH')),
    pick(is('EA'), is('EP')),
    pick(is('CRH VCH') || is('IRH VIH') || is('ARH VAH')),
  ];
};

/** The worst vectors of each class, and how many steps it is deep. The third class goes together with the last. */
interface Depth {
  readonly worst: readonly string[];
  readonly steps: number;
}
const access: readonly Depth[] = [
  { worst: ['AVN PRN UIN'], steps: 1 },
  { worst: ['AVA PRN UIN', 'AVN PRL UIN', 'AVN PRN UIP'], steps: 4 },
  { worst: ['AVP PRN UIN', 'AVA PRL UIP'], steps: 5 },
];
const complexity: readonly Depth[] = [
  { worst: ['ACL ATN'], steps: 1 },
  { worst: ['ACH ATN', 'ACL ATP'], steps: 2 },
];
const impact: Readonly<Record<string, Depth>> = {
  '00': { worst: ['VCH VIH VAH CRH IRH ARH'], steps: 7 },
  '01': { worst: ['VCH VIH VAL CRM IRM ARH', 'VCH VIH VAH CRM IRM ARM'], steps: 6 },
  '10': { worst: ['VCL VIH VAH CRH IRH ARH', 'VCH VIL VAH CRH IRH ARH'], steps: 8 },
  '11': {
    worst: [
      ...['VCL VIH VAL CRH IRM ARH', 'VCL VIH VAH CRH IRM ARM', 'VCH VIL VAH CRM IRH ARM'],
      ...['VCH VIL VAL CRM IRH ARH', 'VCL VIL VAH CRH IRH ARM'],
    ],
    steps: 8,
  },
  '21': { worst: ['VCL VIL VAL CRH IRH ARH'], steps: 10 },
};
const beyond: readonly Depth[] = [
  { worst: ['SCH SIS SAS'], steps: 6 },
  { worst: ['SCH SIH SAH'], steps: 5 },
  { worst: ['SCL SIL SAL'], steps: 4 },
];

/** How far a vector lies below the worst of its class, as a part of the depth of the class. */
const depthOf = (at: Read, { worst: candidates, steps }: Depth): number => {
  for (const candidate of candidates) {
    const distances = candidate.split(' ').map((part) => {
      const ladder = ladders[part.slice(0, -1)] ?? '';
      return ladder.indexOf(at(part.slice(0, -1))) - ladder.indexOf(part.slice(-1));
    });
    if (distances.every((distance) => distance >= 0)) return distances.reduce((sum, one) => sum + one, 0) / steps;
  }
  return 0;
};

/** The next lower macro vectors of the third and the last class, which depend on each other. */
const lowerImpact = ([one, two, three, four, five, six]: ReturnType<typeof classesOf>): number | undefined => {
  const below = (third: number, last: number) => findMacroScore([one, two, third, four, five, last]);
  if (three === 0 && six === 0) return Math.max(below(0, 1) ?? 0, below(1, 0) ?? 0);
  return six === 0 ? below(three, 1) : below(three + 1, 1);
};

const isVector = (metrics: Metrics) =>
  Object.entries(required).every(([name, values]) => {
    const value = metrics.get(name) ?? '';
    return value.length === 1 && values.includes(value);
  });

/** The score of a vector of CVSS 4.0 with everything it says; undefined when a base metric is missing or wrong. */
export const scoreV4 = (metrics: Metrics): number | undefined => {
  if (!isVector(metrics)) return undefined;
  const at = readerOf(metrics);
  if (['VC', 'VI', 'VA', 'SC', 'SI', 'SA'].every((name) => at(name) === 'N')) return 0;
  const classes = classesOf(at);
  const [one, two, three, four, five, six] = classes;
  const score = findMacroScore(classes);
  if (score === undefined) return undefined;
  const parts: readonly (readonly [lower: number | undefined, depth: number])[] = [
    [findMacroScore([one + 1, two, three, four, five, six]), depthOf(at, access[one] as Depth)],
    [findMacroScore([one, two + 1, three, four, five, six]), depthOf(at, complexity[two] as Depth)],
    [lowerImpact(classes), depthOf(at, impact[`${three}${six}`] as Depth)],
    [findMacroScore([one, two, three, four + 1, five, six]), depthOf(at, beyond[four] as Depth)],
    [findMacroScore([one, two, three, four, five + 1, six]), 0],
  ];
  const real = parts.flatMap(([lower, depth]) => (lower === undefined ? [] : [(score - lower) * depth]));
  const mean = real.length === 0 ? 0 : real.reduce((sum, part) => sum + part, 0) / real.length;
  return Math.round((Math.min(10, Math.max(0, score - mean)) + 1e-6) * 10) / 10;
};
