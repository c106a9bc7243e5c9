import type { OptionSpec } from '../routes/option-spec.ts';
import type { RouteDigest } from '../routes/route-digest.ts';

/** The description of an option: what it is, its type, default and whether it must be given. */
export const optionText = ({ description, type, choices, required, default: value }: OptionSpec) => {
  // Commander lists the choices itself.
  const facts = [
    ...(choices ? [] : [type]),
    ...(required ? ['required'] : []),
    ...(value === undefined ? [] : [`default ${JSON.stringify(value)}`]),
  ];
  return [...(description ? [description] : []), ...(facts.length > 0 ? [`(${facts.join('; ')})`] : [])].join(' ');
};

const sampleOf = ({ choices, kind, name, items, default: value }: OptionSpec): string => {
  if (choices?.[0] !== undefined) return choices[0];
  if (value !== undefined && typeof value !== 'object') return String(value);
  if (kind === 'number') return '1';
  if (kind === 'flag') return 'true';
  if (kind === 'list') return items === 'number' ? '1,2' : `'["…"]'`;
  return kind === 'text' ? name.toUpperCase() : `'{…}'`;
};

/** A call with everything that must be given. */
export const exampleOf = (tag: string, operation: string, route: RouteDigest) => {
  const needed = route.options.filter(({ required, parts }) => required && !parts.every((part) => part === 'upload'));
  const path = needed.filter(({ parts }) => parts.includes('params')).map(() => '12');
  const isDeep = needed.some(({ kind, items }) => kind === 'json' || (kind === 'list' && items === 'json'));
  const rest = needed.filter(({ parts }) => !parts.includes('params'));
  const options = isDeep ? ['--json @body.yaml'] : rest.map((spec) => `--${spec.name} ${sampleOf(spec)}`);
  if (route.isChunk || (route.isUpload && !isDeep)) options.push('--file ./FILE');
  if (route.download) options.push('--save ./FILE');
  return ['rushhour', tag, operation, ...path, ...options].join(' ');
};

export const accessText = (access: string) => {
  if (access === 'public') return 'Anyone may call it.';
  if (access === 'session') return 'Any signed-in user may call it.';
  return access === 'aiKey'
    ? 'It takes a key of the AI gateway (--token rh_ai_…).'
    : `It needs the permission ${access}.`;
};
