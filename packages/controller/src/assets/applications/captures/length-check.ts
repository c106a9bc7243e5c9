import { formatOf, issuesOfLength } from '@rushhour/pcap';
import type { FoundIssue, Parameter } from '../parameter.ts';
import { lengthsOf } from '../parameter-lengths.ts';
import type { SessionSteps } from './session-steps.ts';

/** Where values change the length of a step that cannot be repaired; the mappings must have been checked. */
export const lengthIssues = (parameters: readonly Parameter[], mode: string, steps: SessionSteps): FoundIssue[] => {
  const formats = new Map<string, ReturnType<typeof formatOf>>();
  const formatAt = (sessionIdx: number, stepIdx: number) => {
    const key = `${sessionIdx} ${stepIdx}`;
    let format = formats.get(key);
    if (format === undefined) {
      format = formatOf(steps.one(sessionIdx, stepIdx).bytes, { mode, appProtocol: steps.appProtocol(sessionIdx) });
      formats.set(key, format);
    }
    return format;
  };
  return parameters.flatMap((parameter, p) =>
    parameter.stepsMappings.flatMap((mapping, m) =>
      issuesOfLength({
        path: `/parameters/${p}/stepsMappings/${m}`,
        length: mapping.length,
        rule: formatAt(mapping.sessionIdx, mapping.stepIdx).ruleAt(mapping),
        type: parameter.type,
        values: lengthsOf(parameter),
      }),
    ),
  );
};
