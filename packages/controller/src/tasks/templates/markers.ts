import type { Issue } from '../../errors.ts';

/** A placeholder in a template: an agent's id or a value. */
export interface Marker {
  /** JSON pointer into the task. */
  readonly path: string;
  readonly kind: 'slot' | 'param';
  readonly name: string;
}

const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const markKinds = { $slot: 'slot', $param: 'param' } as const;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const step = (path: string, name: string) => `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

const markOf = (value: Record<string, unknown>) =>
  (['$slot', '$param'] as const).find((mark) => Object.hasOwn(value, mark));

/** The marker at this position; `undefined` for an ordinary value, an issue for a malformed marker. */
const readMarker = (value: Record<string, unknown>, path: string): Marker | Issue | undefined => {
  const mark = markOf(value);
  if (mark === undefined) return undefined;
  const name = value[mark];
  if (Object.keys(value).length === 1 && typeof name === 'string' && namePattern.test(name)) {
    return { path, kind: markKinds[mark], name };
  }
  return { path, code: 'BAD_MARKER', message: `must be {"${mark}":"name"} and nothing else` };
};

/** Every marker, malformed ones included. */
export const findMarkers = (task: unknown): { markers: Marker[]; issues: Issue[] } => {
  const markers: Marker[] = [];
  const issues: Issue[] = [];
  const walk = (value: unknown, path: string) => {
    if (!isObject(value)) return;
    const found = readMarker(value, path);
    if (found === undefined) for (const [name, member] of Object.entries(value)) walk(member, step(path, name));
    else if ('code' in found) issues.push(found);
    else markers.push(found);
  };
  walk(task, '');
  return { markers, issues };
};

/** The task with every marker replaced by its value; markers without a value stay. */
export const withMarkersFilled = <T>(task: T, replace: (marker: Marker) => unknown): T => {
  const fill = (value: unknown, path: string): unknown => {
    if (!isObject(value)) return value;
    const found = readMarker(value, path);
    if (found !== undefined && !('code' in found)) return replace(found) ?? value;
    if (Array.isArray(value)) return value.map((member, index) => fill(member, `${path}/${index}`));
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, step(path, name))]));
  };
  return fill(task, '') as T;
};
