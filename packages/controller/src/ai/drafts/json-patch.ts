import { canonicalJson } from '../../canonical-json.ts';

type Json = unknown;
type Holder = Record<string, Json>;

/** Why a patch cannot be applied, and which operation caused it. */
export class PatchError extends Error {
  readonly code: string;
  /** JSON pointer into the patch. */
  readonly path: string;

  constructor(code: string, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

const isObject = (value: Json): value is Holder => typeof value === 'object' && value !== null && !Array.isArray(value);

const unsafe = new Set(['__proto__', 'constructor', 'prototype']);

type MergeLists = (target: readonly Json[], patch: readonly Json[]) => Json;

/** RFC 7396: members replace, objects merge, `null` removes. Lists replace, unless `mergeLists` knows better. */
export const mergePatch = (target: Json, patch: Json, mergeLists: MergeLists = (_target, given) => given): Json => {
  if (Array.isArray(target) && Array.isArray(patch)) return mergeLists(target, patch);
  if (!isObject(patch)) return patch;
  const merged: Holder = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (unsafe.has(name)) continue;
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value, mergeLists);
  }
  return merged;
};

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string | undefined;
  readonly value?: unknown;
}

const stepsOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

const isPointer = (text: string) => text === '' || /^(\/([^~]|~[01])*)$/.test(text);

const indexIn = (list: readonly Json[], step: string, isAdding: boolean): number | undefined => {
  if (isAdding && step === '-') return list.length;
  if (!/^(0|[1-9]\d{0,8})$/.test(step)) return undefined;
  const index = Number(step);
  return index < list.length + (isAdding ? 1 : 0) ? index : undefined;
};

const childOf = (holder: Json, step: string): Json => {
  if (Array.isArray(holder)) {
    const index = indexIn(holder, step, false);
    return index === undefined ? undefined : holder[index];
  }
  return isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined;
};

export const valueAt = (document: Json, pointer: string): Json => stepsOf(pointer).reduce(childOf, document);

type Edit = { readonly kind: 'add' | 'replace'; readonly value: Json } | { readonly kind: 'remove' };

const editList = (list: Json[], step: string, edit: Edit): boolean => {
  const index = indexIn(list, step, edit.kind === 'add');
  if (index === undefined) return false;
  if (edit.kind === 'add') list.splice(index, 0, edit.value);
  else if (edit.kind === 'remove') list.splice(index, 1);
  else list[index] = edit.value;
  return true;
};

const editObject = (holder: Holder, step: string, edit: Edit): boolean => {
  if (unsafe.has(step) || (edit.kind !== 'add' && !Object.hasOwn(holder, step))) return false;
  if (edit.kind === 'remove') delete holder[step];
  else holder[step] = edit.value;
  return true;
};

/** The document after an edit; undefined if the position does not exist. */
const edited = (document: Json, pointer: string, edit: Edit): { root: Json } | undefined => {
  const steps = stepsOf(pointer);
  const last = steps.pop();
  if (last === undefined) return edit.kind === 'remove' ? undefined : { root: edit.value };
  const holder = steps.reduce(childOf, document);
  const isDone = Array.isArray(holder)
    ? editList(holder, last, edit)
    : isObject(holder) && editObject(holder, last, edit);
  return isDone ? { root: document } : undefined;
};

const touches = (pointer: string, secret: string) =>
  pointer === secret || pointer === '' || secret.startsWith(`${pointer}/`) || pointer.startsWith(`${secret}/`);

const applyOne = (document: Json, operation: PatchOperation, at: string, secretPointers: readonly string[]): Json => {
  const { op, path, from = '' } = operation;
  if (!isPointer(path) || !isPointer(from)) throw new PatchError('POINTER_INVALID', at, 'is no JSON pointer');
  const isCopying = op === 'move' || op === 'copy';
  if (isCopying || op === 'test') {
    // Moving or comparing a mark would reveal information about its secret.
    const looked = isCopying ? [from, path] : [path];
    if (looked.some((pointer) => secretPointers.some((secret) => touches(pointer, secret)))) {
      throw new PatchError('SECRET_NOT_ALLOWED', at, `${op} must not touch a secret`);
    }
  }
  const missing = (pointer: string) => new PatchError('POINTER_UNKNOWN', at, `there is nothing at "${pointer}"`);
  const change = (target: Json, pointer: string, edit: Edit) => {
    const result = edited(target, pointer, edit);
    if (result === undefined) throw missing(pointer);
    return result.root;
  };
  if (op === 'add' || op === 'replace') {
    return change(document, path, { kind: op, value: structuredClone(operation.value) });
  }
  if (op === 'remove') return change(document, path, { kind: 'remove' });
  const source = valueAt(document, op === 'test' ? path : from);
  if (source === undefined) throw missing(op === 'test' ? path : from);
  if (op === 'test') {
    if (canonicalJson(source) === canonicalJson(operation.value ?? null)) return document;
    throw new PatchError('TEST_FAILED', at, `the value at "${path}" is another`);
  }
  if (op === 'copy') return change(document, path, { kind: 'add', value: structuredClone(source) });
  if (path.startsWith(`${from}/`)) throw new PatchError('POINTER_INVALID', at, 'moves a value into itself');
  return change(change(document, from, { kind: 'remove' }), path, { kind: 'add', value: source });
};

const maxDepth = 64;
const maxValues = 100_000;

/** Values in a document, or infinity where it is too deep. */
const weightOf = (value: Json, depth = 0): number => {
  if (typeof value !== 'object' || value === null) return 1;
  if (depth >= maxDepth) return Number.POSITIVE_INFINITY;
  let weight = 1;
  for (const member of Object.values(value)) {
    weight += weightOf(member, depth + 1);
    if (weight > maxValues) break;
  }
  return weight;
};

/** RFC 6902 on a copy, atomically. `secretsOf` finds the secrets in the intermediate document. */
export const applyPatch = (
  document: Json,
  operations: readonly PatchOperation[],
  secretsOf: (document: Json) => readonly string[] = () => [],
): Json =>
  operations.reduce((state, operation, i) => {
    const at = `/ops/${i}`;
    const { op } = operation;
    const looks = op === 'move' || op === 'copy' || op === 'test';
    const next = applyOne(state, operation, at, looks ? secretsOf(state) : []);
    // A few copies of the document into itself would exhaust memory.
    if (looks && weightOf(next) > maxValues) throw new PatchError('TOO_LARGE', at, 'makes the document too large');
    return next;
  }, structuredClone(document));
