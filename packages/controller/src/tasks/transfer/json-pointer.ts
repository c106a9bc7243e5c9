type Holder = Record<string, unknown>;

const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

export const stepOf = (name: string | number) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

const stepsOf = (path: string) => path.split('/').slice(1).map(unescaped);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Holder)[name] : undefined;

/** What stands at a JSON pointer; undefined where nothing does. */
export const valueAt = (document: unknown, path: string): unknown => stepsOf(path).reduce(memberOf, document);

/** Changes `document` in place. A value of undefined takes the member away; answers the list it leaves a hole in. */
const setAt = (document: unknown, path: string, value: unknown): unknown[] | undefined => {
  const steps = stepsOf(path);
  const name = steps.pop() as string;
  const holder = steps.reduce(memberOf, document) as Holder | undefined;
  if (holder === undefined || !Object.hasOwn(holder, name)) throw new Error(`there is nothing at ${path}`);
  if (value !== undefined) holder[name] = value;
  else delete holder[name];
  return value === undefined && Array.isArray(holder) ? holder : undefined;
};

/** A copy of the document with other values at these pointers; undefined takes a member or an item away. */
export const withValues = <T>(document: T, values: Iterable<readonly [path: string, value: unknown]>): T => {
  const copy = structuredClone(document);
  const holed = new Set<unknown[]>();
  for (const [path, value] of values) {
    const list = setAt(copy, path, value);
    if (list !== undefined) holed.add(list);
  }
  // Only now: until here the pointers count the items as they were.
  for (const list of holed) list.splice(0, list.length, ...list.filter(() => true));
  return copy;
};
