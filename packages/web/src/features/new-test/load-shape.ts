import type { TaskTemplate, TemplateParameter } from '@rushhour/contract';
import type { NewTestForm } from './new-test-form.ts';

/** The parameters of a template that a timeline of its load shows. */
export interface LoadShape {
  readonly duration: TemplateParameter;
  /** Rate, or number of connections or users; undefined where a test has neither. */
  readonly level: TemplateParameter | undefined;
  /** What does not count at the beginning. */
  readonly warmUp: TemplateParameter | undefined;
}

const amounts = ['users', 'connections', 'tunnels', 'flows'];

/** Undefined for a template that does not last a given time. */
export const loadShapeOf = ({ parameters }: Pick<TaskTemplate, 'parameters'>): LoadShape | undefined => {
  const named = (name: string) => parameters.find((one) => one.name === name);
  const duration = named('seconds');
  if (duration === undefined) return undefined;
  const rate = parameters.find(({ type, description }) => type === 'integer' && /per second/i.test(description ?? ''));
  const amount = amounts.map(named).find((one) => one !== undefined);
  return { duration, level: rate ?? amount, warmUp: named('warmUpSec') };
};

/** The value of a parameter; undefined while its field is empty. */
export const amountOf = (parameter: TemplateParameter, values: NewTestForm['values']): number | undefined => {
  const value = values[parameter.name];
  return typeof value === 'number' ? value : undefined;
};

/** A value within the bounds of its parameter, rounded to two digits, as nobody drags more exactly. */
export const snapped = (value: number, { min = 0, max = Number.MAX_SAFE_INTEGER }: TemplateParameter): number => {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.min(max, Math.max(min, Math.round(value / step) * step));
};
