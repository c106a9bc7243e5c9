import { formatOf, issuesOfLength, type ValueLengths } from '@rushhour/pcap';
import { encodeParameter, type ParameterDraft } from '@rushhour/pools';
import type { FoundIssue, Parameter } from '../parameter.ts';
import type { SessionSteps } from './session-steps.ts';

const fixedLengths: Readonly<Record<string, number>> = {
  u8: 1,
  u16be: 2,
  u16le: 2,
  u32be: 4,
  u32le: 4,
  uuid: 36,
  mac: 17,
};
const systemLengths: Readonly<Record<string, ValueLengths>> = {
  clientIp: { min: 2, max: 39 },
  serverIp: { min: 2, max: 39 },
  clientPort: { min: 1, max: 5 },
  serverPort: { min: 1, max: 5 },
  nowUnix: { min: 10, max: 10 },
  nowIso: { min: 24, max: 24 },
};
const anyLength: ValueLengths = { min: 0, max: undefined };

/** How long the values of a parameter can be on the wire, as far as that can be known beforehand. */
export const lengthsOf = (parameter: ParameterDraft & { extractLength?: number }): ValueLengths => {
  const { type, source, min, max, start } = parameter;
  if (source === 'fixed') return over(type, [parameter.defaultValue ?? '']);
  if (source === 'list' || type === 'enum') return over(type, parameter.allowedValues ?? []);
  if (source === 'extract') return { min: parameter.extractLength ?? 0, max: parameter.extractLength };
  if (source === 'system') return systemLengths[parameter.defaultValue ?? ''] ?? anyLength;
  if (source === 'dictionary') return anyLength;
  const prefix = Buffer.byteLength(parameter.prefix ?? '');
  const known = generatedLengths(
    parameter,
    [min, max, start].filter((text) => text !== undefined && text !== null),
  );
  return { min: known.min + prefix, max: known.max === undefined ? undefined : known.max + prefix };
};

const generatedLengths = (parameter: ParameterDraft, bounds: readonly string[]): ValueLengths => {
  const { type, source, max } = parameter;
  const fixed = fixedLengths[type];
  if (fixed !== undefined) return { min: fixed, max: fixed };
  if (type === 'ipv4') return { min: 7, max: 15 };
  if (type === 'ipv6') return { min: 2, max: 39 };
  const mapped = parameter.stepsMappings?.[0]?.length || 8;
  if (source === 'random' && type === 'string') {
    const rest = Math.max(1, mapped - (parameter.prefix ?? '').length);
    return { min: rest, max: rest };
  }
  if (source === 'random' && (type === 'hex' || type === 'base64') && !max) return { min: mapped, max: mapped };
  if (source === 'random' && type === 'integer' && !max) return { min: 1, max: mapped };
  if ((type === 'integer' || type === 'string') && max) {
    return { min: 1, max: Math.max(1, ...bounds.map((text) => text.length)) };
  }
  return { min: 1, max: undefined };
};

const over = (type: string, values: readonly string[]): ValueLengths => {
  const lengths = values.map((value) => {
    try {
      return encodeParameter(type, value).length;
    } catch {
      return 0;
    }
  });
  return { min: Math.min(...lengths), max: Math.max(...lengths) };
};

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
