import type { DictionaryFiles } from '../../assets/dictionaries/dictionary-files.ts';
import { drawRows, type StoredDictionary } from '../../assets/dictionaries/draw-rows.ts';
import { ApiError } from '../../errors.ts';
import { dictionaries } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { PlanDictionary } from '../core/plan-input.ts';
import type { PlanDictionaries } from './load-plan-input.ts';

const most = 10_000;

/** The values of dictionaries as plans use them: those of the first column, each once. */
export const planDictionaries =
  (files: DictionaryFiles): PlanDictionaries =>
  async (read, ids) => {
    const found = await dictionaries.findMany(read, ids);
    const drawn = await Promise.all(
      found.map(async (dictionary) => [dictionary.id, await valuesOf(dictionary, { read, files })] as const),
    );
    return new Map(drawn);
  };

/** Each row once, column by column. */
const columnsOf = (rows: readonly Record<string, string>[]): Record<string, string[]> => {
  const distinct = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()].slice(0, most);
  const names = Object.keys(distinct[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, distinct.map((row) => row[name] ?? '')]));
};

const valuesOf = async (
  dictionary: StoredDictionary,
  access: { read: Executor; files: DictionaryFiles },
): Promise<PlanDictionary> => {
  const { name } = dictionary;
  try {
    const rows = await drawRows(access, dictionary, most + 1);
    // Drawing begins anew at the end of a dictionary: only different values tell that there are more.
    const values = [...new Set(rows.map((row) => Object.values(row)[0] ?? ''))];
    return { name, values: values.slice(0, most), columns: columnsOf(rows), isCut: values.length > most };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { name, values: [], isCut: false, problem: error.message };
  }
};
