import type { SecurityReport } from '../../security/verdicts/security-report.ts';
import { cell, escaped, table } from './html-parts.ts';

const mostLetters = 2000;

/** What fuzzing found out; empty where nothing was fuzzed or found. */
export const findingsSection = ({ findings }: SecurityReport): string => {
  if (findings.length === 0) return '';
  const rows = findings.map(({ at, kind, name, target, detail, reproducer }) => {
    const cells = [at, kind, name, target, detail].map((text) => cell(text)).join('');
    const input = reproducer === undefined ? '–' : JSON.stringify(reproducer).slice(0, mostLetters);
    return `<tr>${cells}<td><pre>${escaped(input)}</pre></td></tr>`;
  });
  return `<h3>Findings</h3>${table(['When', 'Kind', 'Case', 'Target', 'What', 'Does it again'], rows)}`;
};
