import type { ConfigurationEntry } from '@rushhour/contract';

/** A journey of the task in the editor that can be tried. */
export interface TriableJourney {
  /** Of the entry and the journey. */
  readonly key: string;
  readonly index: number;
  readonly journey: number;
  readonly name: string;
  /** Names of the steps. */
  readonly steps: readonly string[];
}

interface Journey {
  readonly name?: string;
  readonly steps?: readonly { name?: string; kind?: string; method?: string; path?: string }[];
}

/** The journeys of all entries, named as people see them. */
export const triableJourneys = (entries: readonly ConfigurationEntry[]): TriableJourney[] =>
  entries.flatMap(({ values }, index) => {
    const { journeys = [] } = (values?.['httpParams' as never] ?? {}) as { journeys?: readonly Journey[] };
    return journeys.map(({ name = '', steps = [] }, journey) => ({
      ...{ key: `${index}-${journey}`, index, journey },
      name: `${index + 1} ${name || journey + 1}`,
      steps: steps.map(({ name: own, kind = 'request', method = 'GET', path = '/' }, at) => {
        const shown = own || (kind === 'request' ? `${method} ${path}` : kind);
        return `${at + 1} ${shown}`;
      }),
    }));
  });
