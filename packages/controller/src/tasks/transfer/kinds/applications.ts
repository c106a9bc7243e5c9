import { findDictionaryReference } from '@rushhour/pools';
import { applications, readMembers } from '../../../store/assets/applications.ts';
import { filesWith } from '../../../store/assets/files.ts';
import { inList } from '../../../store/engine/expressions.ts';
import { statement } from '../../../store/engine/statement.ts';
import type { Reference } from '../reference.ts';
import type { PartsOf, Travelling } from './travelling.ts';

type Application = PartsOf<'applications'>['application'];

const byCapture = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('applications')
    .select('id')
    .where((eb) => eb.or([inList('pcapFileId', p.ids, engine), inList('trimmedPcapFileId', p.ids, engine)]))
    .orderBy('id'),
);

/** Dictionaries stand in texts: `dict/<id>/<column>`. */
const dictionariesIn = ({ parameters = [] }: Application): Reference[] =>
  parameters.flatMap(({ source, defaultValue = '' }, index) => {
    const found = source === 'dictionary' ? findDictionaryReference(defaultValue) : undefined;
    if (found === undefined) return [];
    const path = `/application/parameters/${index}/defaultValue`;
    const write = (id: number | string) => `dict/${id}/${found.column}`;
    return [{ path, kind: 'dictionaries' as const, id: found.dictionaryId, write }];
  });

export const travellingApplications: Travelling<'applications'> = {
  read: async (executor, id) => {
    const found = await applications.find(executor, id);
    if (found === undefined) return undefined;
    const { parameters, sessions } = await readMembers(executor, id);
    const { name, description, tags, mode, defaultSpeedMode, clientIp, allowPerSessionSpeed, followTimestamps } = found;
    const { lockParameters, loop, defaultTimeout, defaultUsers, timingGapThresholdMs } = found;
    const application = {
      ...{ name, description, tags, mode, defaultSpeedMode, clientIp, allowPerSessionSpeed, followTimestamps },
      ...{ lockParameters, loop, defaultTimeout, defaultUsers, timingGapThresholdMs },
      parameters: parameters.map(({ id: _, applicationId: __, ...parameter }) => parameter),
      sessions: sessions.map(({ sessionIndex, name }) => ({ sessionIndex, name })),
      pcapFileId: found.trimmedPcapFileId ?? found.pcapFileId,
    };
    return { application: application as Application };
  },
  nameOf: ({ application }) => application.name,
  references: ({ application }) => [
    { path: '/application/pcapFileId', kind: 'files', id: application.pcapFileId },
    ...dictionariesIn(application),
  ],
  essenceOf: ({ application: { name: _, description: __, tags: ___, ...application } }) => application,
  lookAlikes: async (executor, { application }, neighbours) => {
    const capture = neighbours.find('files', application.pcapFileId);
    const present = capture === undefined ? [] : await filesWith(executor, capture.file.sha256);
    const ids = JSON.stringify(present.map(({ id }) => id));
    return (await byCapture.all(executor, { ids })).map(({ id }) => id);
  },
};
