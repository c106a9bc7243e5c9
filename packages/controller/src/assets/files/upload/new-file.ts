import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { FileUpload } from '@rushhour/contract';
import type { Caller } from '../../../caller.ts';
import { conflict, type Issue, invalid } from '../../../errors.ts';
import { filesWith } from '../../../store/assets/files.ts';
import type { Blobs, Staged } from '../../../store/blobs/blobs.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Store } from '../../../store/store.ts';
import { ArchiveError } from '../../archives/archive-error.ts';
import { openArchive } from '../../archives/open-archive.ts';
import { promptBytes } from '../captures/captures.ts';
import { stagedContent } from '../content.ts';
import { type ContentFacts, type FileService, isCapture } from '../file-service.ts';
import { explained } from '../refusals.ts';
import { type CategoryName, requireCategory } from './category.ts';
import { sniff } from './sniff.ts';

interface Unpacking {
  readonly name: string;
  readonly category: string;
  readonly maxBytes: number;
}

interface StagedMember {
  readonly name: string;
  readonly staged: Staged;
}

/** Categories that take an archive as it is; in the others an archive inside the archive is opened too. */
const keepsArchives = ['archive', 'payload', 'other'];

/** Stages every member of a staged archive; when one is refused, none stays. */
const stageMembers = async (blobs: Blobs, { path }: Staged, { name, category, maxBytes }: Unpacking) => {
  const nested = keepsArchives.includes(category) ? 'keep' : 'open';
  const members: StagedMember[] = [];
  try {
    const archive = await openArchive({ path, name }, { nested, limits: { maxBytes } });
    try {
      for await (const member of archive.members()) {
        members.push({ name: member.name.slice(-255), staged: await blobs.stage(member.open(), { maxBytes }) });
      }
    } finally {
      await archive.close();
    }
    if (members.length === 0) throw new ArchiveError('BAD_ARCHIVE', '', 'the archive holds no file');
    return members;
  } catch (error) {
    for (const { staged } of members) await blobs.discard(staged);
    throw error;
  }
};

const tagPattern = /^[a-z0-9._:-]{1,64}$/;
const maxTags = 32;

interface ParsedTags {
  /** Without blanks around them, each once, in the order given. */
  readonly tags: readonly string[];
  readonly issues: readonly Issue[];
}

/** Reads the one string tags are kept in; reports every tag that breaks the rules, not only the first. */
export const parseTags = (text: string, path = '/tags'): ParsedTags => {
  const given = text.split(',').map((tag) => tag.trim());
  const tags = [...new Set(given.filter((tag) => tag !== ''))];
  const bad = tags.filter((tag) => !tagPattern.test(tag));
  const issues = bad.slice(0, maxTags).map((tag) => ({
    path,
    code: 'BAD_TAG',
    message: `${JSON.stringify(tag.slice(0, 80))} is not a tag: 1 to 64 of a-z 0-9 . _ : -`,
  }));
  if (tags.length > maxTags) {
    issues.push({ path, code: 'TOO_MANY_TAGS', message: `${tags.length} tags; at most ${maxTags} are kept` });
  }
  return { tags, issues };
};

export const formatTags = (tags: readonly string[]) => tags.join(',');

/** Tags out of a file's name: its words without the extension, numbers and single letters left out. */
export const tagsFromName = (name: string): string[] => {
  const stem = name
    .toLowerCase()
    .replace(/^.*[\\/]/, '')
    .replace(/(\.tar)?\.[a-z0-9]{1,8}$/, '');
  const words = stem.split(/[^a-z0-9.:-]+/).map((word) => word.replace(/^[.:-]+|[.:-]+$/g, '').slice(0, 64));
  return [...new Set(words.filter((word) => word.length > 1 && !/^\d+$/.test(word)))].slice(0, maxTags);
};

/** The members a client gives for a new file, independent of how the content is sent. */
export type NewFileRequest = FileUpload & { name: string };

interface Candidate {
  readonly staged: Staged;
  readonly facts: ContentFacts;
}

export interface IntakeDeps {
  store: Store;
  files: FileService;
  blobs: Blobs;
}

/** The name a browser gave the file, without folders and what no name may hold. Forms write a quote as %22. */
export const nameOfUpload = (filename: string) =>
  basename(filename.replaceAll('%22', '"').replaceAll('\\', '/'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
    .replace(/[\u0000-\u001f\u007f]/g, '')
    .slice(-255) || 'unnamed';

export const assertAdmitted = ({ category }: { category: string }) => {
  if (category !== 'malware') return;
  const message = 'malware is stored by POST /malware, which keeps it sealed';
  throw invalid([{ path: '/category', code: 'MALWARE_CATEGORY', message }], 'MALWARE_CATEGORY');
};

/** Tags given and, where wanted, those of the name, as far as there is room. */
export const tagsOf = ({ tags = '', tagsFromName: isWanted }: Partial<NewFileRequest>, name: string) => {
  const given = parseTags(tags).tags;
  return formatTags([...new Set([...given, ...(isWanted ? tagsFromName(name) : [])])].slice(0, 32));
};

/** Refuses content that does not match its description. Small captures are analysed immediately, so that a broken one is refused. */
export const inspect = async (
  { files, blobs }: IntakeDeps,
  staged: Staged,
  request: NewFileRequest,
): Promise<ContentFacts> => {
  const { category, name, source = 'upload', first_seen_at } = request;
  if (request.expectSha256 && request.expectSha256 !== staged.sha256) {
    const message = `the content has the SHA-256 ${staged.sha256}`;
    throw invalid([{ path: '/expectSha256', code: 'HASH_MISMATCH', message }], 'HASH_MISMATCH');
  }
  const content = stagedContent(blobs, staged);
  const sniffed = await sniff(content);
  requireCategory(category as CategoryName, sniffed);
  const isPrompt = isCapture(category) && staged.size <= promptBytes;
  const capture = isPrompt ? await explained(() => files.captures.analyse(content)) : undefined;
  return { ...sniffed, name, category, source, first_seen_at, tags: tagsOf(request, name), capture };
};

/** Handles a duplicate as requested: refuses it, returns the stored file, or undefined to copy. */
const findDuplicate = async (tx: Change, { sha256 }: Staged, { onDuplicate = 'reuse', category }: NewFileRequest) => {
  const present = await filesWith(tx, sha256);
  const [first] = present;
  if (first === undefined) return { isKnown: false };
  if (onDuplicate === 'error') throw conflict('DUPLICATE', `file ${first.id} has the same content`, { id: first.id });
  const same = onDuplicate === 'reuse' ? present.find((file) => file.category === category) : undefined;
  return { isKnown: true, id: same?.id };
};

const record = (deps: IntakeDeps, candidates: readonly Candidate[], request: NewFileRequest, caller: Caller) =>
  deps.store.change(caller, async (tx) => {
    const ids: number[] = [];
    let duplicate = false;
    for (const { staged, facts } of candidates) {
      const { isKnown, id } = await findDuplicate(tx, staged, request);
      duplicate ||= isKnown;
      ids.push(id ?? (await deps.files.insert(tx, staged, facts)));
    }
    const data = ids[0] as number;
    return request.unpack ? { data, duplicate, files: [...new Set(ids)] } : { data, duplicate };
  });

const candidatesOf = async (deps: IntakeDeps, staged: Staged, request: NewFileRequest, members: readonly Member[]) => {
  if (!request.unpack) return [{ staged, facts: await inspect(deps, staged, request) }];
  const candidates: Candidate[] = [];
  for (const { staged: content, name } of members) {
    const { expectSha256: _, ...own } = request;
    const facts = await inspect(deps, content, { ...own, name });
    candidates.push({ staged: content, facts: { ...facts, original_sha256: staged.sha256 } });
  }
  return candidates;
};

type Member = Awaited<ReturnType<typeof stageMembers>>[number];

/** Stages a stream, checks it, and stores it or its archive members: all or nothing. */
export const storeFile = async (
  deps: IntakeDeps,
  source: Readable,
  { request, maxBytes, caller }: { request: NewFileRequest; maxBytes: number; caller: Caller },
) => {
  const { blobs, files } = deps;
  const staged = await explained(() => blobs.stage(source, { maxBytes }));
  let members: Member[] = [];
  try {
    if (request.unpack) {
      if (request.expectSha256) await inspect(deps, staged, { ...request, category: 'other' });
      members = await explained(() => stageMembers(blobs, staged, { ...request, maxBytes }));
    }
    const candidates = await candidatesOf(deps, staged, request, members);
    const contents = candidates.map((candidate) => candidate.staged);
    return await explained(() => files.keep(contents, () => record(deps, candidates, request, caller)));
  } finally {
    for (const content of [staged, ...members.map((member) => member.staged)]) await blobs.discard(content);
  }
};
