import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@rushhour/client/routes';
import { write } from '../output/print.ts';
import { lineDiff } from './line-diff.ts';
import { maskSecrets, readWholeTask, taskText, type WholeTask } from './portable-task.ts';
import { type RecordNames, recordNames } from './record-names.ts';
import { withIds } from './references.ts';
import { definitionOf, findTaskNamed } from './store-task.ts';
import { readTaskFile, type TaskFile } from './task-file.ts';
import { fillTemplate, findTemplate, thresholdsOf } from './template-fill.ts';

const wholeTaskOf = async (client: Client, file: TaskFile, names: RecordNames): Promise<WholeTask> => {
  const { comment, project, template, thresholds } = file;
  const projectID = project === undefined ? null : await names.idOf('project', project);
  if (template === undefined) {
    const definition = definitionOf((await withIds(file.definition, names)) as Record<string, unknown>);
    return { comment, projectID, definition, thresholds: thresholds ?? [] };
  }
  const { task } = await fillTemplate(await findTemplate(client, template), file, names);
  return { comment, projectID, definition: definitionOf(task), thresholds: thresholds ?? thresholdsOf(task) };
};

const store = async (client: Client, id: number | undefined, wanted: WholeTask): Promise<number> => {
  const { comment, projectID, definition, thresholds } = wanted;
  const body = { configuration: [], accessPlane: [], controlPlane: [], ...definition, comment, projectID };
  if (id !== undefined) await client.tasks.update({ body: { ...body, id } as never });
  const taskId = id ?? (await client.tasks.create({ body: body as never })).data;
  await client.tasks.setThresholds({ body: { id: taskId, thresholds: [...thresholds] } });
  return taskId;
};

/** Brings the task of a file up to date, or only shows what would change. Returns whether there is a difference. */
const applyFile = async (client: Client, path: string, isDryRun: boolean): Promise<boolean> => {
  const names = recordNames(client);
  const wanted = await wholeTaskOf(client, readTaskFile(path), names);
  const stored = await findTaskNamed(client, wanted.comment);
  const before = stored ? await taskText(await readWholeTask(client, stored), names) : '';
  const difference = lineDiff(before, await taskText(wanted, names));
  const isChanged = difference !== '';
  if (isChanged) await write(`${path}: ${stored ? `task ${stored.id}` : 'new task'}\n${difference}\n`);
  // A secret cannot be compared: the controller does not show it.
  if (isDryRun || !(isChanged || maskSecrets(wanted.definition).hasSecrets)) {
    if (!isChanged) await write(`${path}: task ${stored?.id} is unchanged\n`);
    return isChanged;
  }
  await write(`${path}: task ${await store(client, stored?.id, wanted)} ${stored ? 'changed' : 'created'}\n`);
  return isChanged;
};

export const applyFiles = async (client: Client, paths: readonly string[], isDryRun: boolean): Promise<boolean> => {
  let isChanged = false;
  for (const path of paths) isChanged = (await applyFile(client, path, isDryRun)) || isChanged;
  return isChanged;
};

const fileNameOf = (comment: string, id: number) =>
  `${
    comment
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60) || `task-${id}`
  }.yaml`;

/** Writes tasks as files, to a folder or to standard output. */
export const exportTasks = async (client: Client, ids: readonly number[], folder: string | undefined) => {
  const names = recordNames(client);
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  for (const id of ids) {
    const { data: task } = await client.tasks.get({ params: { id } });
    const text = await taskText(await readWholeTask(client, task), names);
    if (folder === undefined) await write(ids.length > 1 ? `---\n${text}` : text);
    else {
      const path = join(folder, fileNameOf(task.comment, id));
      writeFileSync(path, text);
      await write(`${path}\n`);
    }
  }
};
