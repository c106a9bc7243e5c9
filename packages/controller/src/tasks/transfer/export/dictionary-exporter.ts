import { findProtocol } from '@rushhour/contract';
import { dictionaries } from '../../../store/assets/dictionaries.ts';
import { statement } from '../../../store/engine/statement.ts';
import { stepOf } from '../json-pointer.ts';
import type { Reference } from '../reference.ts';
import { measureRows } from './kinds/dictionary-rows.ts';
import type { PartsOf, RecordExporter } from './record-exporter.ts';

type Dictionary = PartsOf<'dictionaries'>['dictionary'];

const byShape = statement((db, p: { type: string; selection: string; rowCount: number }) =>
  db
    .selectFrom('dictionaries')
    .select('id')
    .where('type', '=', p.type)
    .where('selection', '=', p.selection)
    .where('rowCount', '=', p.rowCount)
    .orderBy('id'),
);

/** Rows stored with the dictionary; rows of a file stay in the file. */
export const keptRows = ({ type, rowCount }: { type: string; rowCount: number }) =>
  type === 'list' || type === 'table' ? rowCount : 0;

/** The members of `config` that name a file or a certificate. */
const referencesIn = ({ type, config }: Dictionary): Reference[] => {
  const fileID = config['$source']?.['fileID'];
  if (type === 'file' && typeof fileID === 'number') {
    return [{ path: '/dictionary/config/$source/fileID', kind: 'files', id: fileID }];
  }
  if (findProtocol(type) === undefined) return [];
  return Object.entries(config).flatMap(([section, members]) =>
    Object.entries(members)
      .filter(([name, id]) => (name === 'fileID' || /certificateID$/i.test(name)) && typeof id === 'number')
      .map(([name, id]) => ({
        path: `/dictionary/config${stepOf(section)}${stepOf(name)}`,
        kind: name === 'fileID' ? ('files' as const) : ('certificates' as const),
        id: id as number,
      })),
  );
};

export const dictionaryExporter: RecordExporter<'dictionaries'> = {
  read: async (executor, id) => {
    const found = await dictionaries.find(executor, id);
    if (found === undefined) return undefined;
    const { name, description, tags, type, selection, columns, config, rowCount } = found;
    const rows = await measureRows(executor, { id, rowCount: keptRows(found) });
    const dictionary = { name, description, tags, type, selection, columns, config, rowCount, ...rows };
    return { dictionary: dictionary as Dictionary };
  },
  nameOf: ({ dictionary }) => dictionary.name,
  references: ({ dictionary }) => referencesIn(dictionary),
  identityOf: ({ dictionary: { type, selection, columns, config, rowsPath } }) => ({
    type,
    selection,
    columns,
    config,
    rowsPath,
  }),
  findMatches: async (executor, { dictionary: { type, selection = 'sequential', rowCount } }) =>
    (await byShape.all(executor, { type, selection, rowCount })).map(({ id }) => id),
};
