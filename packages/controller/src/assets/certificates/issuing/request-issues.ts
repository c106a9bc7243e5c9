import type { Issue } from '../../../errors.ts';
import { problemOf } from '../issues.ts';
import { parseAlternativeNames } from '../names/alternative-name.ts';
import { parseDistinguishedName } from '../names/distinguished-name.ts';
import { applyDefect } from './defects.ts';
import { type GenerateRequest, planOf } from './issue-plan.ts';

/** Every problem of what is to be generated, where generating stops at the first. */
export const requestIssues = async (request: GenerateRequest): Promise<Issue[]> => {
  const { kind, subject, san = [], validDays, notBefore, defect, defectSize } = request;
  const now = new Date();
  const sound = { kind, subject: 'CN=host.invalid' } as const;
  const names = san.map(async (name, i) => {
    const problems = await problemOf(() => parseAlternativeNames([name]));
    return problems.map((issue) => ({ ...issue, path: `/generate/san/${i}` }));
  });
  const found = await Promise.all([
    problemOf(() => parseDistinguishedName(subject)),
    ...names,
    problemOf(() => planOf({ ...sound, notBefore }, now)),
    problemOf(() => planOf({ ...sound, validDays }, now)),
    problemOf(() => defect !== undefined && applyDefect(planOf(sound, now), defect, defectSize)),
  ]);
  return found.flat();
};
