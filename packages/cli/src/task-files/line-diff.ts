import { diff } from 'node:util';

const contextLines = 3;

/** Lines of the second text with `+`, of the first with `-`, and some unchanged ones around; empty when they are equal. */
export const lineDiff = (before: string, after: string): string => {
  const changes = diff(after.split('\n'), before.split('\n'));
  const isNear = (at: number) =>
    changes.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(([operation]) => operation !== 0);
  const lines: string[] = [];
  let isCut = false;
  for (const [at, [operation, line]] of changes.entries()) {
    if (!isNear(at)) {
      isCut = true;
      continue;
    }
    if (isCut && lines.length > 0) lines.push('…');
    isCut = false;
    lines.push(`${operation === 0 ? ' ' : operation > 0 ? '+' : '-'} ${line}`);
  }
  return lines.join('\n');
};
