import {
  accessPlanePluginId,
  type ConfigurationEntry,
  controlPlanePluginId,
  entryDuration,
  suitePluginId,
} from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import type { CheckedEntry } from './checked-entry.ts';
import { durationIssues } from './load-rules.ts';

const notInside = [suitePluginId, accessPlanePluginId, controlPlanePluginId];
const checkDuration = createSchemaCheck(entryDuration);

const limitIssues = (path: string, given: unknown): Issue[] => {
  if (given === undefined) return [];
  const filled = structuredClone(given);
  const issues = checkDuration(filled, path);
  return issues.length > 0 ? issues : durationIssues(path, filled as never);
};

const childIssues = (path: string, id: number): Issue[] =>
  notInside.includes(id)
    ? [
        {
          path: `${path}/plugin/id`,
          code: 'SUBPLUGIN_NOT_ALLOWED',
          message: 'suites and planes cannot be inside a suite',
        },
      ]
    : [];

/** Only suites hold other entries, and they hold at least one. */
export const nestingIssues = ({ plugin, subplugins = {} }: ConfigurationEntry, index: number): Issue[] => {
  const path = `/configuration/${index}/subplugins`;
  const { subplugins: children = [], duration } = subplugins;
  if (plugin.id !== suitePluginId) {
    const isEmpty = children.length === 0 && Object.keys(duration ?? {}).length === 0;
    const message = 'only a suite holds other entries';
    return isEmpty ? [] : [{ path, code: 'SUBPLUGINS_NOT_ALLOWED', message }];
  }
  const empty: Issue = { path: `${path}/subplugins`, code: 'REQUIRED', message: 'a suite needs at least one entry' };
  return [
    ...(children.length === 0 ? [empty] : []),
    ...limitIssues(`${path}/duration`, duration),
    ...children.flatMap((child, i) => childIssues(`${path}/subplugins/${i}`, child.plugin.id)),
  ];
};

/** An entry followed by another needs an end. */
export const stageIssues = (entries: readonly CheckedEntry[]): Issue[] => {
  const last = new Map<number, number>();
  for (const { index, order } of entries) last.set(index, Math.max(order, last.get(index) ?? order));
  return entries
    .filter(({ index, order }) => order >= 0 && order < (last.get(index) ?? order))
    .filter(({ values }) => (values['duration'] as { mode?: string } | undefined)?.mode !== 'time')
    .map(({ path }) => ({
      path: `${path}/duration/mode`,
      code: 'STAGE_UNBOUNDED',
      message: 'the next entries cannot start: only the last entries may end by count or by hand',
    }));
};
