import { type TaskTemplate, taskReferences } from '@rushhour/contract';
import { invalid } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import { type Kind, setLinks } from '../../store/engine/links.ts';
import { issuesOfUnknown } from '../check/check-definition.ts';
import { referenceIssues } from '../check/reference-rules.ts';
import { issuesOfTemplate, trialOf } from './check-template.ts';

type Content = Pick<TaskTemplate, 'task' | 'slots' | 'parameters'>;

const maxChars = 1_048_576;

/** A template is stored only when a task can be made of it and everything but its agents is there. */
export const assertSoundTemplate = async (tx: Change, content: Content) => {
  if (JSON.stringify(content).length > maxChars) {
    const message = `is longer than ${maxChars} characters`;
    throw invalid([{ path: '/task', code: 'TEMPLATE_TOO_LARGE', message }], 'TEMPLATE_TOO_LARGE');
  }
  const issues = issuesOfTemplate(content, issuesOfUnknown);
  if (issues.length > 0) throw invalid(issues);
  const { task, isOpen } = trialOf(content);
  const named = await referenceIssues(tx, task as never, { withoutAgents: true });
  const unknown = named.filter((issue) => !isOpen(issue));
  if (unknown.length > 0) throw invalid(unknown.map((issue) => ({ ...issue, path: `/task${issue.path}` })));
};

const linked: readonly string[] = ['network', 'tunnel', 'certificate', 'file', 'dictionary', 'application'];

/** Says which records a template names, so that they are not deleted under it. */
export const linkTemplate = (tx: Change, { id, name, task }: Content & { id: number; name: string }) => {
  const used = taskReferences(task as never)
    .filter(({ kind, id }) => linked.includes(kind) && typeof id === 'number')
    .map(({ kind, id }) => ({ kind: kind as Kind, id }));
  return setLinks(tx, { kind: 'template', id, name }, used);
};
