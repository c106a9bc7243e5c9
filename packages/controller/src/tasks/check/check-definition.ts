import {
  type AccessPlaneEntry,
  accessPlanePluginId,
  type ConfigurationEntry,
  type ControlPlaneEntry,
  controlPlanePluginId,
  entriesOf,
  type FoundEntry,
  TaskDraft,
} from '@rushhour/contract';
import { Type } from 'typebox';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import { type CheckedEntry, checkEntry, type Rule } from './checked-entry.ts';
import { dnsContent, httpUrl, ipsec, payloads } from './content-rules.ts';
import { ports, sides, tunnelEnds } from './endpoint-rules.ts';
import { goal } from './goal-rules.ts';
import { listenerIssues } from './listener-rules.ts';
import { duration, ramp, rates, stages } from './load-rules.ts';
import { nestingIssues, stageIssues } from './suite-rules.ts';

/** The definition of a task. */
export interface Definition {
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane?: readonly AccessPlaneEntry[] | null | undefined;
  readonly controlPlane?: readonly ControlPlaneEntry[] | null | undefined;
}

const rules: readonly Rule[] = [
  sides,
  ports,
  tunnelEnds,
  rates,
  ramp,
  duration,
  stages,
  goal,
  payloads,
  httpUrl,
  dnsContent,
  ipsec,
];

const orderOf = ({ configuration }: Definition, { index, isChild, path }: FoundEntry): number => {
  if (!isChild) return -1;
  const child = configuration[index]?.subplugins?.subplugins?.[Number(path.slice(path.lastIndexOf('/') + 1))];
  return child?.order ?? 0;
};

const planes = { accessPlane: accessPlanePluginId, controlPlane: controlPlanePluginId } as const;

/** A plane entry needs its plane. */
const planeIssues = (definition: Definition): Issue[] =>
  (Object.keys(planes) as (keyof typeof planes)[]).flatMap((plane) =>
    definition.configuration.flatMap(({ plugin }, index): Issue[] => {
      if (plugin.id !== planes[plane] || definition[plane]?.length) return [];
      const message = `needs entries in ${plane}`;
      return [{ path: `/configuration/${index}/plugin/id`, code: 'PLANE_MISSING', message }];
    }),
  );

/** A task does something: it has entries, or planes alone. */
const emptyIssues = ({ configuration, accessPlane, controlPlane }: Definition): Issue[] =>
  configuration.length > 0 || accessPlane?.length || controlPlane?.length
    ? []
    : [
        {
          path: '/configuration',
          code: 'REQUIRED',
          message: 'must have at least one entry, unless the task has planes',
        },
      ];

/** Limits the length of an answer. */
const maxIssues = 1000;

const checkEntries = (definition: Definition) => {
  const issues: Issue[] = [];
  const entries: CheckedEntry[] = [];
  for (const found of entriesOf(definition.configuration)) {
    const { issues: problems, entry } = checkEntry(found, orderOf(definition, found));
    issues.push(...problems);
    if (entry !== undefined) entries.push(entry);
    if (issues.length >= maxIssues) break;
  }
  return { issues, entries };
};

/** All issues of a task that can be found in the task alone. */
export const definitionIssues = (definition: Definition): Issue[] => {
  const { issues, entries } = checkEntries(definition);
  return [
    ...emptyIssues(definition),
    ...definition.configuration.flatMap(nestingIssues),
    ...issues,
    ...entries.flatMap((entry) => rules.flatMap((rule) => rule(entry))),
    ...stageIssues(entries),
    ...listenerIssues(entries),
    ...planeIssues(definition),
  ].slice(0, maxIssues);
};

const checkShape = createSchemaCheck(Type.Object(TaskDraft.properties, { additionalProperties: false }));

/** The same for a task from a template or an archive, which no request validation has seen. */
export const issuesOfUnknown = (definition: unknown): Issue[] => {
  const shape = checkShape(structuredClone(definition));
  return shape.length > 0 ? shape : definitionIssues(definition as Definition);
};
