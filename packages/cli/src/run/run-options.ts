import type { Threshold } from '@rushhour/contract';
import type { CommonOptions } from '../common-options.ts';
import type { Stage } from './stages.ts';

export const reportFormats = ['junit', 'html', 'csv', 'pdf'] as const;

export interface RunOptions extends CommonOptions, Partial<Record<(typeof reportFormats)[number], string>> {
  readonly agents: readonly string[];
  readonly param: readonly string[];
  readonly stage: readonly Stage[];
  readonly threshold: readonly Threshold[];
  readonly label: readonly string[];
  readonly comment?: string;
  readonly project?: string;
  readonly reason?: string;
  readonly quiet?: boolean;
}
