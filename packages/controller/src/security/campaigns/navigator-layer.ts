import type { NavigatorLayer } from '@rushhour/contract';
import type { FullCampaign } from './campaigns.ts';

interface Cell {
  readonly techniqueID: string;
  readonly tactic: string;
  readonly campaigns: Set<string>;
}

const colour = '#fc8d59';

const cellsOf = (selection: readonly FullCampaign[]) => {
  const cells = new Map<string, Cell>();
  for (const { name, steps } of selection) {
    for (const { technique, tactic } of steps) {
      if (technique === '') continue;
      const key = `${technique} ${tactic}`;
      const cell = cells.get(key) ?? { techniqueID: technique, tactic, campaigns: new Set() };
      cell.campaigns.add(name);
      cells.set(key, cell);
    }
  }
  return [...cells.values()].sort((a, b) => (a.techniqueID < b.techniqueID ? -1 : 1));
};

export type LayerCell = Pick<NavigatorLayer['techniques'][number], 'techniqueID' | 'tactic' | 'score' | 'comment'>;

const frame = { showTacticRowBackground: false, hideDisabled: false, sorting: 0 };

/** A layer in the format of the Navigator: cells with a score each. */
export const layerOf = (
  cells: readonly LayerCell[],
  facts: Pick<NavigatorLayer, 'name' | 'description' | 'gradient' | 'legendItems'>,
): NavigatorLayer => ({
  ...facts,
  ...frame,
  versions: { attack: '16', navigator: '5.1.0', layer: '4.5' },
  domain: 'enterprise-attack',
  techniques: cells.map((cell) => ({
    ...cell,
    color: '',
    enabled: true,
    metadata: [],
    links: [],
    showSubtechniques: cell.techniqueID.includes('.'),
  })),
});

/** Coverage of the selected campaigns for the ATT&CK Navigator: the score is the number of campaigns. */
export const navigatorLayer = (selection: readonly FullCampaign[]): NavigatorLayer =>
  layerOf(
    cellsOf(selection).map(({ techniqueID, tactic, campaigns }) => ({
      ...{ techniqueID, tactic, score: campaigns.size },
      comment: [...campaigns].join('; '),
    })),
    {
      name: 'Campaigns of Rushhour',
      description: `Techniques of ${selection.length} campaigns`,
      gradient: { colors: ['#ffffff', colour], minValue: 0, maxValue: Math.max(1, selection.length) },
      legendItems: [{ label: 'covered by a campaign', color: colour }],
    },
  );
