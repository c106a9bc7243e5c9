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
  clientIp: { least: 2, most: 39 },
  serverIp: { least: 2, most: 39 },
  clientPort: { least: 1, most: 5 },
  serverPort: { least: 1, most: 5 },
  nowUnix: { least: 10, most: 10 },
  nowIso: { least: 24, most: 24 },
};
const anyLength: ValueLengths = { least: 0, most: undefined };

/** How long the values of a parameter can be on the wire, as far as that can be known beforehand. */
export const lengthsOf = (parameter: ParameterDraft & { extractLength?: number }): ValueLengths => {
  const { type, source, min, max, start } = parameter;
  if (source === 'fixed') return over(type, [parameter.defaultValue ?? '']);
  if (source === 'list' || type === 'enum') return over(type, parameter.allowedValues ?? []);
  if (source === 'extract') return { least: parameter.extractLength ?? 0, most: parameter.extractLength };
  if (source === 'system') return systemLengths[parameter.defaultValue ?? ''] ?? anyLength;
  if (source === 'dictionary') return anyLength;
  const prefix = Buffer.byteLength(parameter.prefix ?? '');
  const known = generatedLengths(
    parameter,
    [min, max, start].filter((text) => text !== undefined && text !== null),
  );
  return { least: known.least + prefix, most: known.most === undefined ? undefined : known.most + prefix };
};

const generatedLengths = (parameter: ParameterDraft, bounds: readonly string[]): ValueLengths => {
  const { type, source, max } = parameter;
  const fixed = fixedLengths[type];
  if (fixed !== undefined) return { least: fixed, most: fixed };
  if (type === 'ipv4') return { least: 7, most: 15 };
  if (type === 'ipv6') return { least: 2, most: 39 };
  const mapped = parameter.stepsMappings?.[0]?.length || 8;
  if (source === 'random' && type === 'string') {
    const rest = Math.max(1, mapped - (parameter.prefix ?? '').length);
    return { least: rest, most: rest };
  }
  if (source === 'random' && (type === 'hex' || type === 'base64') && !max) return { least: mapped, most: mapped };
  if (source === 'random' && type === 'integer' && !max) return { least: 1, most: mapped };
  if ((type === 'integer' || type === 'string') && max) {
    return { least: 1, most: Math.max(1, ...bounds.map((text) => text.length)) };
  }
  return { least: 1, most: undefined };
};

const over = (type: string, values: readonly string[]): ValueLengths => {
  const lengths = values.map((value) => {
    try {
      return encodeParameter(type, value).length;
    } catch {
      return 0;
    }
  });
  return { least: Math.min(...lengths), most: Math.max(...lengths) };
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
