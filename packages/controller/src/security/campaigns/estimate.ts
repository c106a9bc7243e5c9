import type { Campaign, CampaignStep } from '@rushhour/contract';

/** The number a member stands for; `{{name}}` is the default of that parameter. */
const numberIn = (value: unknown, parameters: Campaign['parameters']): number => {
  const [, name] = /^\{\{(\w+)\}\}$/.exec(String(value)) ?? [];
  const given = name === undefined ? value : parameters.find((parameter) => parameter.name === name)?.default;
  const number = Number(given ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/** Things done by one go of a step. */
const partsOf = ({ params }: CampaignStep, parameters: Campaign['parameters']) => {
  const number = (name: string) => numberIn(params[name], parameters);
  const chunk = number('chunk') || number('chunkBytes');
  return Math.max(1, number('count'), number('attempts'), chunk > 0 ? Math.ceil(number('bytes') / chunk) : 1);
};

/** How long steps take by their waits alone. */
export const estimateOf = (steps: readonly CampaignStep[], parameters: Campaign['parameters']) =>
  steps.reduce((sum, step) => {
    const number = (name: string) => numberIn(step.params[name], parameters);
    const eachMs = step.delayMs + number('intervalMs') + number('spacingMs');
    return sum + step.repeat * partsOf(step, parameters) * eachMs + number('ms');
  }, 0);
