import type { RecordKind } from '../reference.ts';
import { prepareApplication } from './applications.ts';
import type { Prepare } from './arrival.ts';
import { prepareCampaign } from './campaigns.ts';
import { prepareCertificate } from './certificates.ts';
import { prepareDictionary } from './dictionaries.ts';
import { prepareFile } from './files.ts';
import { prepareMac } from './macs.ts';
import { prepareNetwork } from './networks.ts';
import { prepareSignature } from './signatures.ts';
import { prepareTunnel } from './tunnels.ts';

/** Kinds that an import can make; agents enrol themselves. */
export type NewKind = Exclude<RecordKind, 'agents'>;

const prepares: { readonly [Kind in NewKind]: Prepare<Kind> } = {
  applications: prepareApplication,
  certificates: prepareCertificate,
  compromisedHostCampaigns: prepareCampaign,
  cveSignatures: prepareSignature,
  dictionaries: prepareDictionary,
  files: prepareFile,
  macs: prepareMac,
  networks: prepareNetwork,
  tunnels: prepareTunnel,
};

/** Whoever calls it has parts of the same kind, which the compiler cannot see. */
export const prepareOf = (kind: NewKind) => prepares[kind] as unknown as Prepare<RecordKind>;

export const isNewKind = (kind: string): kind is NewKind => Object.hasOwn(prepares, kind);
