import { randomBytes } from 'node:crypto';
import type { Issue } from '../../errors.ts';
import { isMark, type Redactor } from '../gateway/redact.ts';

/** Stands in a draft for a secret that the controller shall make up. */
export const generateWish = '__generate__';
const generatedBytes = 16;

type Visit = (value: string, pointer: string) => unknown;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** A copy in which every text is what `visit` says. */
const mapTexts = (value: unknown, visit: Visit, pointer = ''): unknown => {
  if (typeof value === 'string') return visit(value, pointer);
  if (Array.isArray(value)) return value.map((item, i) => mapTexts(item, visit, `${pointer}/${i}`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, visit, `${pointer}/${escaped(name)}`)]),
  );
};

export interface Hidden {
  /** With marks in the place of secrets. */
  readonly task: Record<string, unknown>;
  /** In clear, by JSON pointer. */
  readonly secrets: Record<string, string>;
}

/** Takes the secrets out of a task. What a secret is only the redactor says. */
export const hideSecrets = (redactor: Redactor, task: unknown): Hidden => {
  const marks = new Map<string, string>();
  mapTexts(redactor.redact(task), (value, pointer) => {
    if (isMark(value)) marks.set(pointer, value);
  });
  const secrets: Record<string, string> = {};
  const shown = mapTexts(task, (value, pointer) => {
    const mark = marks.get(pointer);
    if (mark === undefined || mark === value) return value;
    secrets[pointer] = value;
    return mark;
  });
  return { task: shown as Record<string, unknown>, secrets };
};

/** Where secrets stand in what a key reads. */
export const markedPointers = (task: unknown): string[] => {
  const found: string[] = [];
  mapTexts(task, (value, pointer) => {
    if (isMark(value)) found.push(pointer);
  });
  return found;
};

/**
 * The task that a key means: marks become the secrets they stand for, wishes become new secrets.
 * Keys cannot bring secrets of their own, nor move the ones that are there.
 */
export const resolveSecrets = (
  redactor: Redactor,
  given: unknown,
  stored: Readonly<Record<string, string>>,
): { task: unknown; issues: Issue[] } => {
  const issues: Issue[] = [];
  const refuse = (path: string, code: string, message: string) => {
    issues.push({ path, code, message });
    return '';
  };
  const wished = new Set<string>();
  const resolved = mapTexts(given, (value, pointer) => {
    if (value.startsWith('__redacted__')) {
      const secret = stored[pointer];
      if (secret !== undefined && redactor.markOf(pointer, secret) === value) return secret;
      return refuse(pointer, 'MARK_MISPLACED', 'stands for a secret that does not belong here');
    }
    if (value !== generateWish) return value;
    wished.add(pointer);
    return randomBytes(generatedBytes).toString('hex');
  });
  const { secrets } = hideSecrets(redactor, resolved);
  for (const pointer of Object.keys(secrets)) {
    if (wished.has(pointer) || stored[pointer] === secrets[pointer]) continue;
    refuse(pointer, 'SECRET_NOT_ALLOWED', `keys cannot set secrets: send "${generateWish}" to have one made`);
  }
  for (const pointer of wished) {
    if (!Object.hasOwn(secrets, pointer)) refuse(pointer, 'NOT_A_SECRET', 'only secrets can be generated');
  }
  return { task: resolved, issues };
};
