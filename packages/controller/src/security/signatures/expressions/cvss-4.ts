/**
 * Scores of the macro vectors of CVSS 4.0, as its specification lists them: by the first three equivalence classes, then
 * in the order of the other three. Where the third is 2 the last is always 1.
 */
const listed: Readonly<Record<string, string>> = {
  '000': '10 9.9 9.8 9.5 9.5 9.2 10 9.6 9.3 8.7 9.1 8.1 9.3 9 8.9 8 8.1 6.8',
  '001': '9.8 9.5 9.5 9.2 9 8.4 9.3 9.2 8.9 8.1 8.1 6.5 8.8 8 7.8 7 6.9 4.8',
  '002': '9.2 8.2 7.2 7.9 6.9 5 6.9 5.5 2.7',
  '010': '9.9 9.7 9.5 9.2 9.2 8.5 9.5 9.1 9 8.3 8.4 7.1 9.2 8.1 8.2 7.1 7.2 5.3',
  '011': '9.5 9.3 9.2 8.5 8.5 7.3 9.2 8.2 8 7.2 7 5.9 8.4 7 7.1 5.2 5 3',
  '012': '8.6 7.5 5.2 7.1 5.2 2.9 6.3 2.9 1.7',
  '100': '9.8 9.5 9.4 8.7 9.1 8.1 9.4 8.9 8.6 7.4 7.7 6.4 8.7 7.5 7.4 6.3 6.3 4.9',
  '101': '9.4 8.9 8.8 7.7 7.6 6.7 8.6 7.6 7.4 5.8 5.9 5 7.2 5.7 5.7 5.2 5.2 2.5',
  '102': '8.3 7 5.4 6.5 5.8 2.6 5.3 2.1 1.3',
  '110': '9.5 9 8.8 7.6 7.6 7 9 7.7 7.5 6.2 6.1 5.3 7.7 6.6 6.8 5.9 5.2 3',
  '111': '8.9 7.8 7.6 6.7 6.2 5.8 7.4 5.9 5.7 5.7 4.7 2.3 6.1 5.2 5.7 2.9 2.4 1.6',
  '112': '7.1 5.9 3 5.8 2.6 1.5 2.3 1.3 0.6',
  '200': '9.3 8.7 8.6 7.2 7.5 5.8 8.6 7.4 7.4 6.1 5.6 3.4 7 5.4 5.2 4 4 2.2',
  '201': '8.5 7.5 7.4 5.5 6.2 5.1 7.2 5.7 5.5 4.1 4.6 1.9 5.3 3.6 3.4 1.9 1.9 0.8',
  '202': '6.4 5.1 2 4.7 2.1 1.1 2.4 0.9 0.4',
  '210': '8.8 7.5 7.3 5.3 6 5 7.3 5.5 5.9 4 4.1 2 5.4 4.3 4.5 2.2 2 1.1',
  '211': '7.5 5.5 5.8 4.5 4 2.1 6.1 5.1 4.8 1.8 2 0.9 4.6 1.8 1.7 0.7 0.8 0.2',
  '212': '5.3 2.4 1.4 2.4 1.2 0.5 1 0.3 0.1',
};

const scores = new Map<string, number>();
for (const [first, texts] of Object.entries(listed)) {
  const lasts = first.endsWith('2') ? ['1'] : ['0', '1'];
  const behind = ['0', '1', '2'].flatMap((four) =>
    ['0', '1', '2'].flatMap((five) => lasts.map((six) => four + five + six)),
  );
  texts.split(' ').forEach((score, i) => {
    scores.set(first + behind[i], Number(score));
  });
}

/** Undefined where there is no such macro vector. */
const findMacroScore = (classes: readonly number[]): number | undefined => scores.get(classes.join(''));

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
/** What counts where nothing is given: the worst. */
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
  const given = [metrics.get(`M${name}`), metrics.get(name)].find((value) => value !== undefined && value !== 'X');
  return given ?? worst[name] ?? '';
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
