import { type Static, Type } from 'typebox';
import { Id } from '../../scalars.ts';
import { Component, OneOf } from '../../schema.ts';

export const pluginKinds = ['traffic', 'access-plane', 'control-plane', 'security'] as const;

export const Plugin = Component('Plugin', {
  id: Id,
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
  kind: OneOf(pluginKinds),
  hazard: Type.Integer({ minimum: 0, maximum: 3, description: '0 harmless, 1 load, 2 flood-like, 3 attack content' }),
  version: Type.String(),
  canPause: Type.Boolean(),
  canChangeLoad: Type.Boolean(),
  members: Type.Array(Type.String(), { description: 'The members of `values` it takes' }),
  engines: Type.Array(Type.String()),
  available: Type.Boolean({ description: 'Some enrolled agent (or the agent asked for) can run it' }),
  reason: Type.String({ description: 'Why it is not available' }),
});
export type Plugin = Static<typeof Plugin>;

export const MetricDescription = Component('MetricDescription', {
  name: Type.String(),
  unit: Type.String(),
  type: OneOf(['counter', 'gauge', 'histogram']),
  labels: Type.Array(Type.String()),
  better: OneOf(['higher', 'lower', 'none']),
  description: Type.String(),
});
export type MetricDescription = Static<typeof MetricDescription>;

export const PluginDetails = Component('PluginDetails', {
  ...Plugin.properties,
  schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of `values`' }),
  uiSchema: Type.Record(Type.String(), Type.Unknown()),
  defaults: Type.Record(Type.String(), Type.Unknown()),
  examples: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  metrics: Type.Array(MetricDescription),
  subplugins: Type.Object({
    allowed: Type.Boolean(),
    rule: Type.String({ description: 'What may be inside' }),
  }),
  requires: Type.Array(Type.String()),
});
export type PluginDetails = Static<typeof PluginDetails>;
