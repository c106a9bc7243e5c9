import { openAsBlob, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { UsageError } from '../exit-codes.ts';
import type { OptionPart, OptionSpec } from '../routes/option-spec.ts';
import type { RouteDigest } from '../routes/route-digest.ts';

export type Parts = {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body?: unknown;
  upload?: { fields: Record<string, unknown>; file: Blob; filename: string };
  chunk?: Blob;
};

type Kind = OptionSpec['kind'];

const asJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const flags: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

const single = (kind: Kind, text: string, name: string): unknown => {
  if (text === 'null') return null;
  if (kind === 'text') return text;
  if (kind === 'number') {
    if (text.trim() === '' || Number.isNaN(Number(text)))
      throw new UsageError(`--${name} takes a number, not "${text}"`);
    return Number(text);
  }
  if (kind !== 'flag') return asJson(text);
  const flag = flags[text];
  if (flag === undefined) throw new UsageError(`--${name} takes true or false, not "${text}"`);
  return flag;
};

/** A list is written as JSON, with commas, or by repeating the option. */
const listOf = (items: Kind, texts: readonly string[], name: string): unknown[] =>
  texts.flatMap((text) => {
    if (text.startsWith('[')) {
      const parsed = asJson(text);
      if (Array.isArray(parsed)) return parsed;
      throw new UsageError(`--${name}: the list is not valid JSON`);
    }
    const parts = items === 'json' ? [text] : text.split(',');
    return parts.map((part) => single(items, part, name));
  });

export const optionValue = ({ kind, items = 'json', name }: OptionSpec, texts: readonly string[]): unknown =>
  kind === 'list' ? listOf(items, texts, name) : single(kind, texts.at(-1) ?? '', name);

const readInput = (name: string) => {
  try {
    return readFileSync(name === '-' ? 0 : name, 'utf8');
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`);
  }
};

/** A body given as JSON, or as `@FILE` in JSON or YAML; `@-` is standard input. */
export const readDocument = async (given: string): Promise<unknown> => {
  const text = given.startsWith('@') ? readInput(given.slice(1)) : given;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!given.startsWith('@')) throw new UsageError(`--json: ${(error as Error).message}`);
  }
  const { parse } = await import('yaml');
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${given.slice(1)}: ${(error as Error).message.split('\n')[0]}`);
  }
};

const openFile = async (path: string) => {
  try {
    return await openAsBlob(path);
  } catch {
    throw new UsageError(`the file ${path} cannot be read`);
  }
};

/** What the command line gives: options by name, a whole body, a file. */
export interface Given {
  readonly options: Readonly<Record<string, readonly string[]>>;
  readonly json?: string;
  readonly file?: string;
}

const partFor = ({ parts }: OptionSpec, isUpload: boolean): OptionPart =>
  parts.find((part) => part !== (isUpload ? 'body' : 'upload')) ?? (parts[0] as OptionPart);

/** The parts of a request. An option belongs to the path, the query, the body or the fields of an upload. */
export const requestOf = async (route: RouteDigest, { options, json, file }: Given): Promise<Parts> => {
  const isUpload = file !== undefined && route.isUpload === true;
  const values: Record<OptionPart, Record<string, unknown>> = { params: {}, query: {}, body: {}, upload: {} };
  for (const spec of route.options) {
    const texts = options[spec.name];
    if (texts !== undefined) values[partFor(spec, isUpload)][spec.name] = optionValue(spec, texts);
  }
  const { params, query, body, upload } = values;
  if (isUpload)
    return { params, query, upload: { fields: upload, file: await openFile(file), filename: basename(file) } };
  if (route.isChunk) {
    if (file === undefined) throw new UsageError('the content is given with --file FILE');
    return { params, query, chunk: await openFile(file) };
  }
  const given = json === undefined ? undefined : await readDocument(json);
  if (given === undefined && Object.keys(body).length === 0) return { params, query };
  if (Object.keys(body).length === 0) return { params, query, body: given };
  return { params, query, body: { ...(given as object | undefined), ...body } };
};
