type Holder = Record<string, unknown>;

const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

export const stepOf = (name: string | number) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

const stepsOf = (path: string) => path.split('/').slice(1).map(unescaped);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Holder)[name] : undefined;

/** The value at a JSON pointer; undefined if absent. */
export const valueAt = (document: unknown, path: string): unknown => stepsOf(path).reduce(memberOf, document);

/** Changes `document` in place. Undefined removes the member; returns the list in which it leaves a hole. */
const setAt = (document: unknown, path: string, value: unknown): unknown[] | undefined => {
  const steps = stepsOf(path);
  const name = steps.pop() as string;
  const holder = steps.reduce(memberOf, document) as Holder | undefined;
  if (holder === undefined || !Object.hasOwn(holder, name)) throw new Error(`there is nothing at ${path}`);
  if (value !== undefined) holder[name] = value;
  else delete holder[name];
  return value === undefined && Array.isArray(holder) ? holder : undefined;
};

/** A copy of the document with new values at these pointers; undefined removes a member or item. */
export const withValues = <T>(document: T, values: Iterable<readonly [path: string, value: unknown]>): T => {
  const copy = structuredClone(document);
  const holed = new Set<unknown[]>();
  for (const [path, value] of values) {
    const list = setAt(copy, path, value);
    if (list !== undefined) holed.add(list);
  }
  // Done last: until here the pointers use the original indices.
  for (const list of holed) list.splice(0, list.length, ...list.filter(() => true));
  return copy;
};
