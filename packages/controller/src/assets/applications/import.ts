import { Readable } from 'node:stream';
import { ImportDocument, type ImportFields } from '@rushhour/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Caller } from '../../caller.ts';
import { fingerprintOf } from '../../canonical-json.ts';
import { type Issue, invalid } from '../../errors.ts';
import type { Upload } from '../../handler.ts';
import type { Blobs, Staged } from '../../store/blobs/blobs.ts';
import { ArchiveError } from '../archives/archive-error.ts';
import { parseMemberJson, readMemberText } from '../archives/member-text.ts';
import { openArchive } from '../archives/open-archive.ts';
import { explained } from './check-application.ts';
import { type ImportDeps, importApplication } from './import-application.ts';

const maxTextBytes = 16 * 1_048_576;

interface ArchiveParts {
  readonly manifest: unknown;
  readonly application: unknown;
  readonly pcap: { readonly path: string; readonly staged: Staged } | undefined;
}

type Storage = Pick<Blobs, 'stage' | 'readStaged' | 'discard'>;

/** The parts of an uploaded archive, checked for being what an export writes; refused ones leave nothing. */
const readArchive = async (
  blobs: Storage,
  source: Readable,
  { filename, maxBytes }: { filename: string; maxBytes: number },
): Promise<ArchiveParts> => {
  const upload = await blobs.stage(source, { maxBytes });
  const found: { manifest?: unknown; application?: unknown; pcap?: ArchiveParts['pcap'] } = {};
  try {
    const stream = await blobs.readStaged(upload);
    const archive = await openArchive({ stream, size: upload.size, name: filename }, { limits: { maxMembers: 8 } });
    try {
      for await (const { name, open } of archive.members()) {
        if (name === 'manifest.json') found.manifest = await jsonOf(name, open());
        else if (name === 'application.json') found.application = await jsonOf(name, open());
        else if (/^pcap\/[0-9a-f]{64}\.pcap$/.test(name) && found.pcap === undefined) {
          found.pcap = { path: name, staged: await blobs.stage(open(), { maxBytes }) };
        } else throw new ArchiveError('BAD_ARCHIVE', name, 'an exported application holds no such file');
      }
    } finally {
      await archive.close();
    }
    for (const name of ['manifest', 'application'] as const) {
      if (found[name] === undefined) throw new ArchiveError('BAD_ARCHIVE', `${name}.json`, 'is missing');
    }
    return { manifest: found.manifest, application: found.application, pcap: found.pcap };
  } catch (error) {
    if (found.pcap) await blobs.discard(found.pcap.staged);
    throw error;
  } finally {
    await blobs.discard(upload);
  }
};

const jsonOf = async (name: string, stream: Readable): Promise<unknown> =>
  parseMemberJson(name, await readMemberText(name, stream, maxTextBytes));

const maxInlineBytes = 10 * 1_048_576;

/** Imports an uploaded archive. */
export const importArchive = async (
  deps: ImportDeps,
  { stream, filename, fields }: Upload<ImportFields>,
  maxBytes: number,
  caller: Caller,
) => {
  const { blobs } = deps.files;
  const { manifest, application, pcap } = await explained(() => readArchive(blobs, stream, { filename, maxBytes }));
  try {
    const document = validated({ manifest, application });
    if (pcap && pcap.path !== document.manifest.pcap.path) {
      throw refuse('/manifest/pcap/path', 'HASH_MISMATCH', `the archive holds ${pcap.path}`);
    }
    return await verified(deps, { ...document, ...fields }, pcap?.staged, caller);
  } finally {
    if (pcap) await blobs.discard(pcap.staged);
  }
};

/** Imports a JSON document. */
export const importDocument = async (deps: ImportDeps, document: ImportDocument, caller: Caller) => {
  const { blobs } = deps.files;
  if (document.pcap === undefined) return verified(deps, document, undefined, caller);
  const source = Readable.from([bytesOf(document.pcap)]);
  const staged = await explained(() => blobs.stage(source, { maxBytes: maxInlineBytes }));
  try {
    return await verified(deps, document, staged, caller);
  } finally {
    await blobs.discard(staged);
  }
};

/** Refuses content that does not match the manifest. */
const verified = async (deps: ImportDeps, document: ImportDocument, pcap: Staged | undefined, caller: Caller) => {
  const { manifest, application } = document;
  const issues: Issue[] = [];
  const compare = (path: string, declared: string, found: string) => {
    if (declared !== found) issues.push({ path, code: 'HASH_MISMATCH', message: `the content has ${found}` });
  };
  compare('/manifest/application/fingerprint', manifest.application.fingerprint, fingerprintOf(application));
  if (pcap) compare('/manifest/pcap/sha256', manifest.pcap.sha256, pcap.sha256);
  if (issues.length > 0) throw invalid(issues, 'HASH_MISMATCH');
  return importApplication(deps, { document, pcap }, caller);
};

let validate: ValidateFunction<ImportDocument> | undefined;

/** Content of an archive is validated as strictly as a request body. */
const validated = (document: unknown): ImportDocument => {
  validate ??= new Ajv({ allErrors: true, strict: false, allowUnionTypes: true }).compile<ImportDocument>(
    ImportDocument,
  );
  if (validate(document)) return document;
  throw invalid((validate.errors ?? []).slice(0, 100).map(issueOf), 'BAD_ARCHIVE');
};

const issueOf = ({ instancePath, keyword, params, message = 'is invalid' }: ErrorObject): Issue => {
  const member = params['additionalProperty'] ?? params['missingProperty'];
  const path = member === undefined ? instancePath : `${instancePath}/${member}`;
  return { path, code: keyword.replace(/([A-Z])/g, '_$1').toUpperCase(), message };
};

const refuse = (path: string, code: string, message: string) => invalid([{ path, code, message }], code);

const bytesOf = (content: string) => {
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) {
    throw refuse('/pcap', 'BAD_BASE64', 'is not base64');
  }
  return Buffer.from(content, 'base64');
};
