import type { PluginSpec, TypedPlugin } from '@rushhour/contract';
import type { Static, TObject } from 'typebox';
import type { CheckedValues } from './checked-values.ts';
import type { Traffic } from './load/traffic.ts';
import type { DurationRule } from './load/traffic-entry.ts';
import type { PlanScope } from './plan-scope.ts';

/** Turns the entries of one plugin into traffic. */
export interface Planner {
  readonly plugin: PluginSpec;
  plan(scope: PlanScope): Traffic;
  readonly durationOf?: DurationRule<CheckedValues>;
}

/** A planner that gets the values of its entries typed by the schema of the plugin, which they have passed. */
export const planner = <Schema extends TObject>(
  plugin: TypedPlugin<Schema>,
  plan: (scope: PlanScope, values: Static<Schema>) => Traffic,
  { durationOf }: { durationOf?: DurationRule<Static<Schema>> } = {},
): Planner => ({
  plugin,
  plan: (scope) => plan(scope, scope.entry.values as Static<Schema>),
  ...(durationOf && { durationOf: (values, entry, issues) => durationOf(values as Static<Schema>, entry, issues) }),
});

/** Security tests end once everything was tried, unless a duration is given. */
export const endsByItself: DurationRule<CheckedValues> = ({ duration }, { values }) =>
  values['duration'] === undefined ? { ...duration, mode: 'continuous' } : undefined;
