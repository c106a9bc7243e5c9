import type { Readable } from 'node:stream';
import { ArchiveError } from '../../../assets/archives/archive-error.ts';
import type { ArchiveSource } from '../../../assets/archives/archive-source.ts';
import { parseMemberJson, readMemberText } from '../../../assets/archives/member-text.ts';
import { openArchive } from '../../../assets/archives/open-archive.ts';

const maxMembers = 20_000;
const maxTextBytes = 64 * 1_048_576;
const maxDepth = 64;

/** The texts of an archive, parsed. */
export interface ArchiveTexts {
  readonly manifest: unknown;
  readonly task: unknown;
  /** `secrets.json`, where there is one. */
  readonly secrets: unknown;
  /** The texts the secrets were sealed with. */
  readonly bound: string;
  /** Length of the longest text. */
  readonly longest: number;
}

const textNames = ['manifest.json', 'task.json', 'secrets.json'] as const;
type TextName = (typeof textNames)[number];

/** Reads an archive once. `onPayload` gets every content and may leave it unread. */
export const walkArchive = async (
  source: ArchiveSource,
  maxBytes: number,
  onPayload: (path: string, open: () => Readable) => Promise<void>,
): Promise<ArchiveTexts> => {
  const archive = await openArchive(source, { limits: { maxMembers, maxBytes } });
  const texts: Partial<Record<TextName, string>> = {};
  try {
    for await (const { name, open } of archive.members()) {
      const text = textNames.find((known) => known === name);
      if (text !== undefined) texts[text] = await readMemberText(name, open(), maxTextBytes);
      else if (/^payload\/[0-9a-f]{64}$/.test(name)) await onPayload(name, open);
      else throw new ArchiveError('BAD_ARCHIVE', name, 'an exported task holds no such file');
    }
  } finally {
    await archive.close();
  }
  return parsed(texts);
};

const parsed = (texts: Partial<Record<TextName, string>>): ArchiveTexts => {
  const { 'manifest.json': manifest, 'task.json': task, 'secrets.json': secrets } = texts;
  if (manifest === undefined) throw new ArchiveError('BAD_ARCHIVE', 'manifest.json', 'is missing');
  if (task === undefined) throw new ArchiveError('BAD_ARCHIVE', 'task.json', 'is missing');
  return {
    manifest: jsonOf('manifest.json', manifest),
    task: jsonOf('task.json', task),
    secrets: secrets === undefined ? undefined : jsonOf('secrets.json', secrets),
    bound: manifest + task,
    longest: Math.max(...Object.values(texts).map(({ length }) => length)),
  };
};

const jsonOf = (name: string, text: string): unknown => {
  const value = parseMemberJson(name, text);
  assertPlain(name, value, 0);
  return value;
};

/** Refuses names that are special to JavaScript and excessive depth. */
const assertPlain = (name: string, value: unknown, depth: number): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth === maxDepth) throw new ArchiveError('BAD_ARCHIVE', name, `is nested more than ${maxDepth} deep`);
  for (const [member, part] of Object.entries(value)) {
    if (member === '__proto__') throw new ArchiveError('BAD_ARCHIVE', name, 'has a member __proto__');
    assertPlain(name, part, depth + 1);
  }
};
