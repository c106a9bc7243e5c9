import { readFileSync } from 'node:fs';
import { FileReference } from '@rushhour/protocol';
import { Check } from 'typebox/value';

const contentOf = ({ $file, as = 'path' }: FileReference, paths: ReadonlyMap<string, string>): string => {
  const path = paths.get($file);
  if (path === undefined) throw new Error(`file ${$file} is not among the files of the run`);
  if (as === 'path') return path;
  return readFileSync(path, as === 'text' ? 'utf8' : 'base64');
};

/** The same configuration with every `{"$file": …}` replaced. */
export const resolveFiles = (config: unknown, paths: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(config)) return config.map((item) => resolveFiles(item, paths));
  if (typeof config !== 'object' || config === null) return config;
  if (Check(FileReference, config)) return contentOf(config, paths);
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, resolveFiles(value, paths)]));
};
