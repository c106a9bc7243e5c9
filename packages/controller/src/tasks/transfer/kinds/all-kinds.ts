import type { RecordKind } from '../reference.ts';
import { travellingAgents } from './agents.ts';
import { travellingApplications } from './applications.ts';
import { travellingCampaigns } from './campaigns.ts';
import { travellingCertificates } from './certificates.ts';
import { travellingDictionaries } from './dictionaries.ts';
import { travellingFiles } from './files.ts';
import { travellingMacs } from './macs.ts';
import { travellingNetworks } from './networks.ts';
import { travellingSignatures } from './signatures.ts';
import type { Travelling } from './travelling.ts';
import { travellingTunnels } from './tunnels.ts';

const kinds: { readonly [Kind in RecordKind]: Travelling<Kind> } = {
  agents: travellingAgents,
  applications: travellingApplications,
  certificates: travellingCertificates,
  compromisedHostCampaigns: travellingCampaigns,
  cveSignatures: travellingSignatures,
  dictionaries: travellingDictionaries,
  files: travellingFiles,
  macs: travellingMacs,
  networks: travellingNetworks,
  tunnels: travellingTunnels,
};

/** Whoever calls it has parts of the same kind, which the compiler cannot see. */
export const travellingOf = (kind: RecordKind) => kinds[kind] as Travelling<RecordKind>;

export const isRecordKind = (kind: string): kind is RecordKind => Object.hasOwn(kinds, kind);
