import type { TaskDraft, TaskTemplate } from '@rushhour/contract';
import type { NewTestForm } from './new-test-form.ts';

/** The task that a template makes of the form, to estimate it; the controller makes the one that is stored. */
export const filledTask = ({ task }: Pick<TaskTemplate, 'task'>, { agentMap, values }: NewTestForm): TaskDraft => {
  const fill = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(fill);
    if (typeof part !== 'object' || part === null) return part;
    const { $slot, $param } = part as { $slot?: string; $param?: string };
    if ($slot !== undefined) return agentMap[$slot];
    if ($param !== undefined) return values[$param];
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, fill(member)]));
  };
  const { thresholds: _, ...definition } = task;
  return fill(definition) as TaskDraft;
};
