import type { Readable } from 'node:stream';
import { type ApplicationManifest, applicationSchema, type PortableApplication } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { fingerprintOf } from '../../canonical-json.ts';
import { invalid, tooMany } from '../../errors.ts';
import type { Download } from '../../handler.ts';
import { assertPermission } from '../../people/assert-permission.ts';
import { dictionaryNames } from '../../store/assets/applications.ts';
import type { FileRow } from '../../store/assets/files.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { writeZip } from '../archives/write-zip.ts';
import { type ApplicationFiles, type CaptureFile, requireCapture } from './application-files.ts';
import { dictionariesOf } from './parameter.ts';
import {
  type FullApplication,
  findApplication,
  plainMembers,
  playedFileId,
  withoutOwner,
} from './stored-application.ts';

const portableOf = (application: FullApplication): PortableApplication =>
  ({
    ...plainMembers(application as object),
    parameters: application.parameters.map(withoutOwner),
    sessions: application.sessions.map(({ sessionIndex, name }) => ({ sessionIndex, name })),
  }) as PortableApplication;

const manifestOf = async (
  read: Executor,
  application: PortableApplication,
  file: FileRow,
  includesPcap: boolean,
): Promise<ApplicationManifest> => {
  const used = dictionariesOf((application.parameters ?? []) as { source: string; defaultValue: string }[]);
  const names = await dictionaryNames(
    read,
    used.map(({ dictionaryId }) => dictionaryId),
  );
  const { name, size, md5, sha256, original_sha256 } = file;
  return {
    schema: applicationSchema,
    application: { name: application.name, fingerprint: fingerprintOf(application) },
    pcap: { path: includesPcap ? `pcap/${sha256}.pcap` : '', name, size, md5, sha256, original_sha256 },
    dictionaries: [...names].map(([id, name]) => ({ id, name })),
  };
};

const maxInlineBytes = 10 * 1_048_576;
const maxExports = 2;
let running = 0;

interface Deps {
  readonly store: Store;
  readonly files: ApplicationFiles;
}

/** The played capture, the application and a manifest with the hashes of both. */
export const exportApplication = async (
  { store, files }: Deps,
  id: number,
  { format = 'zip', includePcap = format === 'zip' }: { format?: 'zip' | 'json'; includePcap?: boolean },
  caller: Caller,
): Promise<Download> => {
  if (includePcap) await assertPermission(store, 'files.download', caller);
  const stored = await findApplication(store.read, id);
  const file = await requireCapture(files, store.read, playedFileId(stored));
  const application = portableOf(stored);
  const manifest = await manifestOf(store.read, application, file, includePcap && format === 'zip');
  const etag = `"${fingerprintOf([manifest, format, includePcap])}"`;
  const type = format === 'zip' ? 'application/zip' : 'application/json';
  const headers = { etag, 'content-disposition': disposition(application.name, format) };
  if (format === 'json') {
    const pcap = includePcap ? await inline(file) : undefined;
    return { type, headers, body: JSON.stringify({ manifest, application, pcap }, null, 1) };
  }
  const pcap = { name: manifest.pcap.path, content: () => file.open() };
  const zip = writeZip([
    { name: 'manifest.json', content: JSON.stringify(manifest, null, 1) },
    { name: 'application.json', content: JSON.stringify(application, null, 1) },
    ...(includePcap ? [pcap] : []),
  ]);
  return { type, headers, body: counted(zip) };
};

const counted = (zip: Readable) => {
  if (running >= maxExports) {
    zip.destroy();
    throw tooMany('TOO_MANY_EXPORTS', `more than ${maxExports} exports at once`, 2);
  }
  running += 1;
  zip.once('close', () => {
    running -= 1;
  });
  return zip;
};

const inline = async (file: CaptureFile) => {
  if (file.size > maxInlineBytes) {
    const message = `a capture of ${file.size} bytes goes only into a zip`;
    throw invalid([{ path: '/includePcap', in: 'query', code: 'CAPTURE_TOO_LARGE', message }], 'CAPTURE_TOO_LARGE');
  }
  return Buffer.concat(await (await file.open()).toArray()).toString('base64');
};

const disposition = (name: string, format: string) => {
  const plain = name.replace(/[^\w.-]+/g, '_');
  const full = encodeURIComponent(`${name}.${format}`.toWellFormed()).replace(/['()*]/g, '_');
  return `attachment; filename="${plain}.${format}"; filename*=UTF-8''${full}`;
};
