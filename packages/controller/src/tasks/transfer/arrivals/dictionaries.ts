import { createInterface } from 'node:readline';
import { invalid } from '../../../errors.ts';
import { dictionaries, replaceRows } from '../../../store/assets/dictionaries.ts';
import { setLinks } from '../../../store/engine/links.ts';
import { at } from '../at-place.ts';
import { travellingDictionaries } from '../kinds/dictionaries.ts';
import type { PartsOf } from '../kinds/travelling.ts';
import type { Prepare, Surroundings } from './arrival.ts';

const maxBytes = 64 * 1_048_576;
const linkKinds = { files: 'file', certificates: 'certificate' } as const;

export const prepareDictionary: Prepare<'dictionaries'> = async ({ dictionary }, around) => {
  const { rules, findFile } = around;
  const { description = '', tags = '', type, selection = 'sequential', columns = [], config } = dictionary;
  const checked = await at('/dictionary', async () => {
    const content = { type, selection, columns, config, ...(await readRows(dictionary, around)) };
    return rules.dictionary(content, findFile);
  });
  return async (tx, name, parts) => {
    const { blocks, ...stored } = checked;
    const record = { name, description, tags, ...stored, config: parts.dictionary.config };
    const id = await dictionaries.insert(tx, { ...record, source: 'user' });
    await replaceRows(tx, id, blocks);
    const used = travellingDictionaries.references(parts).map(({ kind, id }) => ({
      kind: linkKinds[kind as keyof typeof linkKinds],
      id,
    }));
    await setLinks(tx, { kind: 'dictionary', id, name }, used);
    return id;
  };
};

/** Lines of JSON; whether they are rows is for the rules to say. */
const readRows = async ({ type, rowsPath }: PartsOf<'dictionaries'>['dictionary'], around: Surroundings) => {
  const found: never[] = [];
  if (rowsPath !== '') {
    const content = around.contentAt(rowsPath);
    if (content.size > maxBytes) throw bad(`is longer than ${maxBytes} bytes`);
    const lines = createInterface({ input: await around.open(content), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) found.push(parsed(line));
  }
  return { rows: type === 'table' ? found : [], values: type === 'list' ? found : [] };
};

const parsed = (line: string): never => {
  try {
    return JSON.parse(line) as never;
  } catch {
    throw bad('has a line that is not JSON');
  }
};

const bad = (message: string) => invalid([{ path: '/rowsPath', code: 'BAD_ROWS', message }], 'BAD_ROWS');
