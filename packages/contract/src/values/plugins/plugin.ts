import type { TObject } from 'typebox';
import type { MetricDescription, pluginKinds } from '../../collections/tasks/plugins.ts';

/** A kind of task entry: its parameters and its metrics. */
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
  /** Agent engines that can run it; empty if only the controller is involved. */
  readonly engines: readonly string[];
  /** Schema of `values`. Its static type has all members with a default: they are present after defaults are applied. */
  readonly schema: TObject;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
  /** Metrics of its engines, without `commonMetrics`. */
  readonly metrics: readonly MetricDescription[];
  readonly subplugins: { readonly allowed: boolean; readonly rule: string };
  /** Requirements besides an agent, as sentences. */
  readonly requires: readonly string[];
}

/** A plugin whose schema type is known, so that the values of its entries can be typed. */
export type TypedPlugin<Schema extends TObject> = Omit<PluginSpec, 'schema'> & { readonly schema: Schema };

type Defaulted = 'version' | 'canPause' | 'canChangeLoad' | 'subplugins' | 'requires';

/** Fills in the defaults: the plugin cannot be paused and holds no other plugins. */
export const definePlugin = <Schema extends TObject>(
  spec: Omit<PluginSpec, Defaulted | 'schema'> & Partial<Pick<PluginSpec, Defaulted>> & { readonly schema: Schema },
): TypedPlugin<Schema> => ({
  version: '1.0',
  canPause: false,
  canChangeLoad: false,
  subplugins: { allowed: false, rule: 'Nothing may be inside' },
  requires: [],
  ...spec,
});
