/** One step of a JSON path: a member, an element (negative: from the end), all children, or a member at any depth. */
export type JsonStep =
  | { readonly member: string }
  | { readonly element: number }
  | { readonly every: true }
  | { readonly deep: string };

const stepPattern =
  /\.\.([\p{L}\p{N}_$-]+)|\.([\p{L}\p{N}_$-]+)|\.\*|\[\*\]|\[(-?\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/uy;

const stepOf = ([text, deep, member, element, single, double]: RegExpExecArray): JsonStep => {
  if (deep !== undefined) return { deep };
  if (element !== undefined) return { element: Number(element) };
  const name = member ?? (single ?? double)?.replace(/\\(.)/gu, '$1');
  if (name !== undefined) return { member: name };
  return text === '' ? { member: '' } : { every: true };
};

/** Parses paths such as `$.a.b[0]['c d'].*` and `$..name`; undefined when invalid. */
export const findJsonPath = (text: string): JsonStep[] | undefined => {
  const path = text.startsWith('$') ? text.slice(1) : `.${text}`;
  const steps: JsonStep[] = [];
  for (let at = 0; at < path.length; ) {
    stepPattern.lastIndex = at;
    const found = stepPattern.exec(path);
    if (found === null) return undefined;
    steps.push(stepOf(found));
    at = stepPattern.lastIndex;
  }
  return steps.length > 0 ? steps : undefined;
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const deeper = (document: unknown, name: string): unknown[] => {
  const found: unknown[] = [];
  // Iterative instead of recursive, because the depth of the input is not limited.
  const seen: unknown[] = [document];
  for (let at = 0; at < seen.length; at++) {
    const value = seen[at];
    if (!isObject(value)) continue;
    if (Object.hasOwn(value, name)) found.push(value[name]);
    for (const child of Object.values(value)) seen.push(child);
  }
  return found;
};

const down = (value: unknown, step: JsonStep): unknown[] => {
  if (!isObject(value)) return [];
  if ('deep' in step) return deeper(value, step.deep);
  if ('every' in step) return Object.values(value);
  if ('element' in step) return Array.isArray(value) ? [value.at(step.element)] : [];
  return Object.hasOwn(value, step.member) ? [value[step.member]] : [];
};

/** The first value of a path, as text. */
export const findInJson = (document: unknown, path: readonly JsonStep[]): string | undefined => {
  let values = [document];
  for (const step of path) values = values.flatMap((value) => down(value, step));
  const [first] = values.filter((value) => value !== undefined && value !== null);
  if (first === undefined) return undefined;
  return typeof first === 'object' ? JSON.stringify(first) : String(first);
};
