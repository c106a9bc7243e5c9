import type { TemplateParameter, TemplateSlot } from '@rushhour/contract';

/** A template that every installation has. */
export interface BuiltinTemplate {
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  readonly task: Record<string, unknown>;
  readonly parameters: TemplateParameter[];
  readonly slots: TemplateSlot[];
}

/** An integer with its sensible bounds. */
export const whole = (
  name: string,
  value: number,
  [min, max]: readonly [number, number],
  description: string,
  more: Pick<TemplateParameter, 'label' | 'unit'> = {},
): TemplateParameter => ({ name, type: 'integer', default: value, min, max, description, ...more });

/** A record that the user of the template chooses. */
export const record = (
  name: string,
  reference: NonNullable<TemplateParameter['reference']>,
  description: string,
  more: Pick<TemplateParameter, 'label' | 'category'> = {},
): TemplateParameter => ({ name, type: 'integer', min: 1, description, reference, ...more });

/** The marker of a parameter in the task. */
export const param = (name: string) => ({ $param: name });

/** A client agent and a server agent, both able to run the plugin. */
export const twoAgents = (plugin: string): TemplateSlot[] => [
  { name: 'client', role: 'client', requires: [plugin] },
  { name: 'server', role: 'server', requires: [plugin] },
];

const agent = (slot: string) => ({ agent: { id: { $slot: slot } } });
export const ends = { sources: [agent('client')], targets: [agent('server')] };

export const duration = { label: 'Duration', unit: 's' };

/** Duration after a warm-up. */
export const lasting = {
  values: { duration: { mode: 'time', seconds: param('seconds'), warmUpSec: param('warmUpSec') } },
  parameters: [
    whole('seconds', 10, [1, 86_400], 'How long traffic is sent', duration),
    whole('warmUpSec', 2, [0, 3600], 'At the beginning, excluded from results', { label: 'Warm-up', unit: 's' }),
  ],
};
