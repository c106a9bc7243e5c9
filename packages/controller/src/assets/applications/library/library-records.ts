import { createHash } from 'node:crypto';
import type { Parameter } from '../parameter.ts';
import { parameterOf } from '../parameter.ts';
import type { Region } from './bytes.ts';
import { libraryApplications } from './library-applications.ts';
import { averagesOf, libraryCapture, librarySessions } from './library-capture.ts';
import { channelsOf, type LibraryApplication } from './script.ts';

type Mapping = Parameter['stepsMappings'][number];

/** Parameters of an application with all their places, in the order of their first use. */
const parametersOf = (application: LibraryApplication, firstSession: number): Parameter[] => {
  const channels = channelsOf(application);
  const counts = channels.map(() => 0);
  const found = new Map<string, { field: Region['field']; stepsMappings: Mapping[] }>();
  for (const { channel, side, regions } of application.steps) {
    const position = channels.indexOf(channel);
    const stepIdx = counts[position] as number;
    counts[position] = stepIdx + 1;
    for (const { field, offset, length } of regions) {
      const known = found.get(field.name) ?? { field, stepsMappings: [] };
      known.stepsMappings.push({ sessionIdx: firstSession + position, stepIdx, side, offset, length });
      found.set(field.name, known);
    }
  }
  return [...found.values()].map(({ field, stepsMappings }) => {
    const { name, description, type, source, max } = field;
    const defaultValue = source === 'fixed' ? Buffer.from(field.recorded).toString() : '';
    const min = source === 'random' ? '0' : '';
    return parameterOf({ name, description, type, source, defaultValue, min, max, stepsMappings });
  });
};

/** Everything the library stores: its applications and the capture with their sessions. */
export const libraryRecords = () => {
  let firstSession = 0;
  const applications = libraryApplications.map((application, index) => {
    const { name, description, tags } = application;
    const sessions = librarySessions(application, index, firstSession);
    const parameters = parametersOf(application, firstSession);
    firstSession += sessions.length;
    return { name, description, tags, ...averagesOf(application), sessions, parameters };
  });
  return { applications, capture: libraryCapture(libraryApplications) };
};

export type LibraryRecords = ReturnType<typeof libraryRecords>;

/** Changes whenever anything in the library changes. */
export const versionOf = ({ applications, capture }: LibraryRecords): string =>
  createHash('sha256').update(JSON.stringify(applications)).update(capture).digest('hex').slice(0, 12);
