import { IssueList } from '../values/issue.ts';
import type { DictionaryDraft } from './dictionary-draft.ts';
import { Section } from './section.ts';

/** The `$source` of a dictionary of type `file`: which file, and how its rows are cut. */
export interface FileOptions {
  readonly fileID: number | undefined;
  readonly delimiter: string;
  readonly quote: string;
  readonly header: boolean;
  readonly encoding: string;
  readonly skipEmpty: boolean;
}

const encodings = ['utf-8', 'utf8', 'utf-16le', 'latin1', 'iso-8859-1', 'windows-1252', 'ascii'] as const;

export function readFileOptions(section: Section): FileOptions {
  const fileID = section.integer('fileID', 1);
  if (section.raw('fileID') === undefined) section.error('fileID', 'FILE_MISSING', 'type file needs the id of a file');
  const options = {
    fileID,
    delimiter: readCharacter(section, 'delimiter') ?? ',',
    quote: readCharacter(section, 'quote') ?? '"',
    header: section.flag('header'),
    encoding: section.choice('encoding', encodings) ?? 'utf-8',
    skipEmpty: section.flag('skipEmpty'),
  };
  section.reportUnknown();
  return options;
}

/** Throws a DraftError if `$source` is invalid. */
export function fileOptionsOf(dictionary: DictionaryDraft): FileOptions {
  const issues = new IssueList();
  const [, source] = Object.entries(dictionary.config ?? {}).find(([name]) => name === '$source') ?? [];
  const options = readFileOptions(new Section(source, '/config/$source', issues));
  issues.throwIfErrors();
  return options;
}

function readCharacter(section: Section, name: string): string | undefined {
  const text = section.text(name);
  if (text === undefined || text.length <= 1) return text;
  return section.error(name, 'CONFIG_INVALID', `${name} is one character, or empty for none`);
}
