import {
  type commonMetrics,
  metricsOf,
  type PluginSpec,
  plugins,
  protocolProfiles,
  toJsonSchema,
} from '@rushhour/contract';
import type { TObject } from 'typebox';
import { stringify } from 'yaml';
import { membersTable, type Shown, tableOf } from './members-table.ts';

const hazards = ['harmless', 'load', 'flood-like', 'attack content'];
type Metric = (typeof commonMetrics)[number];

const metricsTable = (metrics: readonly Metric[]) =>
  tableOf(
    ['Metric', 'Type', 'Unit', 'Better', 'Meaning'],
    metrics.map(({ name, type, unit, better, description }) => [
      ...[`\`${name}\``, type, unit, better === 'none' ? '' : better, description],
    ]),
  );

export const pluginList = () => `# Plugins

A plugin is a kind of traffic: the \`plugin\` of an entry. The members are those of its \`values\`.

${tableOf(
  ['Id', 'Name', 'Title', 'Kind', 'Hazard', 'Pause', 'Load while it runs'],
  plugins.map(({ id, name, title, kind, hazard, canPause, canChangeLoad }) => [
    ...[String(id), `[\`${name}\`](plugins/${name}.md)`, title, kind, hazards[hazard] ?? ''],
    ...[canPause ? 'yes' : '', canChangeLoad ? 'yes' : ''],
  ]),
)}
`;

const exampleOf = ({ name, examples: [values] }: PluginSpec) =>
  values === undefined ? '' : `## Example\n\n\`\`\`yaml\n${stringify([{ plugin: name, values }])}\`\`\`\n`;

export const pluginPage = (plugin: PluginSpec) => `# Plugin \`${plugin.name}\`: ${plugin.title}

${plugin.description}

${plugin.requires.map((sentence) => `- ${sentence}`).join('\n')}

${exampleOf(plugin)}
## Members

${membersTable(toJsonSchema(plugin.schema) as Shown)}

## Metrics

${metricsTable(plugin.metrics)}

[Metrics that all plugins have](../metrics.md)
`;

const isCommon = (metric: Metric) =>
  plugins.every((plugin) => metricsOf(plugin).some(({ name }) => name === metric.name));

export const metricsPage = () => {
  const [first] = plugins;
  const ofAll = first === undefined ? [] : metricsOf(first).filter(isCommon);
  const own = plugins.flatMap((plugin) =>
    plugin.metrics.map(({ name, type, unit, description }) => [`\`${name}\``, plugin.name, type, unit, description]),
  );
  return `# Metrics

Counters are sums, gauges are values at the end of a second, histograms are distributions of durations. A metric that a run does
not have is absent, never 0. Thresholds name them as \`aggregation(metric)\` ([the command line](../cli.md#running-tests)).

## Of every plugin

${metricsTable(ofAll)}

## Of one plugin

${tableOf(['Metric', 'Plugin', 'Type', 'Unit', 'Meaning'], own)}
`;
};

export const protocolList = () => `# Protocol profiles

Dictionaries of the type \`protocol.NAME\`, for entries of the [access plane](../access-plane.md) and the
[control plane](../control-plane.md).

${Object.keys(protocolProfiles)
  .map((name) => `- [\`protocol.${name}\`](protocols/${name}.md)`)
  .join('\n')}
`;

export const protocolPage = (name: keyof typeof protocolProfiles) => `# Protocol profile \`${name}\`

The \`config\` of a dictionary of type \`protocol.${name}\`.

${membersTable(toJsonSchema(protocolProfiles[name] as TObject) as Shown)}
`;
