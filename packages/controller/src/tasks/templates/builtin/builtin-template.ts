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

/** A whole number with the bounds in which it makes sense. */
export const whole = (
  name: string,
  usual: number,
  [min, max]: readonly [number, number],
  description: string,
): TemplateParameter => ({ name, type: 'integer', default: usual, min, max, description });

/** What stands for a parameter in the task. */
export const param = (name: string) => ({ $param: name });

/** One agent that sends and one that answers, both able to run the plugin. */
export const twoAgents = (plugin: string): TemplateSlot[] => [
  { name: 'client', role: 'client', requires: [plugin] },
  { name: 'server', role: 'server', requires: [plugin] },
];

const agent = (slot: string) => ({ agent: { id: { $slot: slot } } });
export const ends = { sources: [agent('client')], targets: [agent('server')] };

/** How long it takes: judged after a warm-up. */
export const lasting = {
  values: { duration: { mode: 'time', seconds: param('seconds'), warmUpSec: param('warmUpSec') } },
  parameters: [
    whole('seconds', 10, [1, 86_400], 'Length of the test in seconds'),
    whole('warmUpSec', 2, [0, 3600], 'Seconds at its beginning that are not judged'),
  ],
};
