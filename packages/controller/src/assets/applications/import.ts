import { Readable } from 'node:stream';
import { ImportDocument, type ImportFields } from '@rushhour/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Caller } from '../../caller.ts';
import { fingerprintOf } from '../../canonical-json.ts';
import { type Issue, invalid } from '../../errors.ts';
import type { Upload } from '../../handler.ts';
import type { Staged } from '../../store/blobs/blobs.ts';
import { explained } from './capture-refusals.ts';
import { type ImportDeps, importApplication } from './import-application.ts';
import { readArchive } from './read-archive.ts';

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

/** Nothing is imported that is not what the manifest says. */
const verified = async (deps: ImportDeps, document: ImportDocument, pcap: Staged | undefined, caller: Caller) => {
  const { manifest, application } = document;
  const issues: Issue[] = [];
  const compare = (path: string, told: string, found: string) => {
    if (told !== found) issues.push({ path, code: 'HASH_MISMATCH', message: `the content has ${found}` });
  };
  compare('/manifest/application/fingerprint', manifest.application.fingerprint, fingerprintOf(application));
  if (pcap) compare('/manifest/pcap/sha256', manifest.pcap.sha256, pcap.sha256);
  if (issues.length > 0) throw invalid(issues, 'HASH_MISMATCH');
  return importApplication(deps, { document, pcap }, caller);
};

let validate: ValidateFunction<ImportDocument> | undefined;

/** What came out of an archive is checked as strictly as what comes in a body. */
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
