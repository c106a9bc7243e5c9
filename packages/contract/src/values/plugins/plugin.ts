import type { TObject } from 'typebox';
import type { MetricDescription, pluginKinds } from '../../collections/task-plugins.ts';

/** One thing a task can be made of: what the user says about it and what it reports. */
export interface PluginSpec {
  readonly id: number;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: (typeof pluginKinds)[number];
  /** 0 harmless, 1 load, 2 flood-like, 3 attack content. That of a suite is the highest of its children. */
  readonly hazard: 0 | 1 | 2 | 3;
  readonly version: string;
  readonly canPause: boolean;
  readonly canChangeLoad: boolean;
  /** Engines of the agents, any of which can run it; none when the controller does it alone. */
  readonly engines: readonly string[];
  /** Of `values`. Members with a default are there once the schema has been applied, so its static type has them all. */
  readonly schema: TObject;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
  /** What its engines report; `commonMetrics` come on top for every plugin. */
  readonly metrics: readonly MetricDescription[];
  readonly subplugins: { readonly allowed: boolean; readonly rule: string };
  /** What must be there beside an agent, in words. */
  readonly requires: readonly string[];
}

type Usual = 'version' | 'canPause' | 'canChangeLoad' | 'subplugins' | 'requires';

/** A plugin with what is usual filled in: one that can neither be paused nor hold others. */
export const definePlugin = <Schema extends TObject>(
  spec: Omit<PluginSpec, Usual | 'schema'> & Partial<Pick<PluginSpec, Usual>> & { readonly schema: Schema },
): PluginSpec & { readonly schema: Schema } => ({
  version: '1.0',
  canPause: false,
  canChangeLoad: false,
  subplugins: { allowed: false, rule: 'Nothing may be inside' },
  requires: [],
  ...spec,
});
