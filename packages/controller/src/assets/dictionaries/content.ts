import type { Readable } from 'node:stream';
import { findProtocol, type ProtocolName, protocolNames, protocolProfiles } from '@rushhour/contract';
import { issuesOfDictionary } from '@rushhour/pools';
import type { TSchema } from 'typebox';
import { type Issue, invalid } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import { createRowBlocks, type RowBlocks } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';

export interface DictionaryFile {
  readonly name: string;
  open(): Promise<Readable>;
}

/** The operations on stored files that dictionaries need. */
export interface DictionaryFiles {
  /** undefined when there is no such file, or its content is not complete. */
  find(executor: Executor, fileID: number): Promise<DictionaryFile | undefined>;
}

const checks = Object.fromEntries(
  protocolNames.map((name) => [name, createSchemaCheck(protocolProfiles[name] as TSchema)]),
) as Record<ProtocolName, SchemaCheck>;

/** Every problem of a profile's config. */
export const issuesOfProtocol = (name: ProtocolName, config: unknown): Issue[] => checks[name](structuredClone(config));

export const badDictionary = (issues: readonly Issue[]) => invalid(issues, 'INVALID_DICTIONARY');

export type Config = Record<string, Record<string, unknown>>;

/** The content of a dictionary, which alone determines the values it yields. */
export interface Content {
  readonly type: string;
  readonly selection: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly values: readonly string[];
  readonly config: Config;
}

export const isInline = (type: string) => type === 'list' || type === 'table';

/** A list has one column, whether it is named or not. */
export const namedColumns = ({ type, columns }: Pick<Content, 'type' | 'columns'>) =>
  type === 'list' && columns.length === 0 ? ['value'] : [...columns];

const maxIssues = 100;

/** Cells are strings. The schema does not check this, because there may be millions of them. */
export const assertTexts = ({ rows, values }: { rows?: unknown[] | null; values?: unknown[] | null }) => {
  const issues: Issue[] = [];
  const check = (cell: unknown, path: () => string) => {
    if (typeof cell !== 'string') issues.push({ path: path(), code: 'TYPE', message: 'must be string' });
    return issues.length < maxIssues;
  };
  values?.every((value, i) => check(value, () => `/values/${i}`));
  rows?.every((row, i) => {
    if (Array.isArray(row)) return row.every((cell, j) => check(cell, () => `/rows/${i}/${j}`));
    issues.push({ path: `/rows/${i}`, code: 'TYPE', message: 'must be array' });
    return issues.length < maxIssues;
  });
  if (issues.length > 0) throw badDictionary(issues);
};

export const assertValid = (content: Content) => {
  const protocol = findProtocol(content.type);
  const issues =
    protocol === undefined
      ? issuesOfDictionary(content).filter(({ severity }) => severity === 'error')
      : [
          ...issuesOfProtocol(protocol, content.config).map((issue) => ({ ...issue, path: `/config${issue.path}` })),
          ...unexpectedIn(content),
        ];
  if (issues.length > 0) throw badDictionary(issues.map(({ path, code, message }) => ({ path, code, message })));
};

const unexpectedIn = (content: Content): Issue[] =>
  (['columns', 'rows', 'values'] as const)
    .filter((member) => content[member].length > 0)
    .map((member) => ({
      path: `/${member}`,
      code: `${member.toUpperCase()}_UNEXPECTED`,
      message: `parameters of a protocol have no ${member}`,
    }));

export const blocksOf = ({ type, rows, values }: Content): RowBlocks => {
  const blocks = createRowBlocks();
  for (const row of type === 'list' ? values : rows) blocks.add(row);
  return blocks.finish();
};

/** A record that a dictionary needs. */
interface Use {
  readonly kind: 'file' | 'certificate';
  readonly id: number;
}

/** The records that a dictionary with this config needs. */
export const usesOf = ({ type, config }: Pick<Content, 'type' | 'config'>): Use[] => {
  if (type === 'file') return [{ kind: 'file', id: Number(config['$source']?.['fileID']) }];
  if (findProtocol(type) === undefined) return [];
  return Object.values(config)
    .flatMap((section) => Object.entries(section))
    .flatMap(([name, id]): Use[] => {
      if (name === 'fileID') return [{ kind: 'file', id: Number(id) }];
      return /certificateID$/i.test(name) ? [{ kind: 'certificate', id: Number(id) }] : [];
    });
};
