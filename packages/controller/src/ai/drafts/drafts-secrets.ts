import { randomBytes } from 'node:crypto';
import type { Issue } from '../../errors.ts';
import { isMark, type Redactor } from '../gateway/redact.ts';

/** Marks a secret in a draft that the controller generates. */
export const generateMark = '__generate__';
const generatedBytes = 16;

type Visit = (value: string, pointer: string) => unknown;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** A copy with every text replaced by `visit`. */
const mapTexts = (value: unknown, visit: Visit, pointer = ''): unknown => {
  if (typeof value === 'string') return visit(value, pointer);
  if (Array.isArray(value)) return value.map((item, i) => mapTexts(item, visit, `${pointer}/${i}`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, visit, `${pointer}/${escaped(name)}`)]),
  );
};

export interface Hidden {
  /** With marks instead of secrets. */
  readonly task: Record<string, unknown>;
  /** In clear, by JSON pointer. */
  readonly secrets: Record<string, string>;
}

/** Extracts the secrets of a task. The redactor defines what is secret. */
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

/** Positions of secrets in what a key reads. */
export const markedPointers = (task: unknown): string[] => {
  const found: string[] = [];
  mapTexts(task, (value, pointer) => {
    if (isMark(value)) found.push(pointer);
  });
  return found;
};

/**
 * The task a key refers to: marks become the secrets they represent, requests for secrets become new secrets.
 * Keys can neither bring secrets nor move existing ones.
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
  const requested = new Set<string>();
  const resolved = mapTexts(given, (value, pointer) => {
    if (value.startsWith('__redacted__')) {
      const secret = stored[pointer];
      if (secret !== undefined && redactor.markOf(pointer, secret) === value) return secret;
      return refuse(pointer, 'MARK_MISPLACED', 'stands for a secret that does not belong here');
    }
    if (value !== generateMark) return value;
    requested.add(pointer);
    return randomBytes(generatedBytes).toString('hex');
  });
  const { secrets } = hideSecrets(redactor, resolved);
  for (const pointer of Object.keys(secrets)) {
    if (requested.has(pointer) || stored[pointer] === secrets[pointer]) continue;
    refuse(pointer, 'SECRET_NOT_ALLOWED', `keys cannot set secrets: send "${generateMark}" to have one made`);
  }
  for (const pointer of requested) {
    if (!Object.hasOwn(secrets, pointer)) refuse(pointer, 'NOT_A_SECRET', 'only secrets can be generated');
  }
  return { task: resolved, issues };
};
