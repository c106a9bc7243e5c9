import type { Readable } from 'node:stream';
import type { CertificateDetails } from '@rushhour/contract';
import type { RowBlocks } from '../../../store/assets/dictionaries.ts';
import type { StoredNetwork } from '../../../store/assets/networks.ts';
import type { Staged } from '../../../store/blobs/blobs.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Executor } from '../../../store/engine/database.ts';
import type { NewSignature } from '../../../store/security/cve.ts';
import type { ParameterContent, SessionContent } from '../../../store/tables/assets.ts';
import type { PartsOf } from '../export/record-exporter.ts';

type Draft = Readonly<Record<string, unknown>>;

/** A file used by a record, stored here or still in the archive. */
export interface OpenFile {
  readonly name: string;
  open(): Promise<Readable>;
}
export type FindFile = (id: number) => Promise<OpenFile | undefined>;

export type NetworkColumns = Omit<StoredNetwork, 'id' | 'name' | 'issuerID' | 'issuer' | 'createdAt' | 'updatedAt'>;

export interface DictionaryContent {
  readonly type: string;
  readonly selection: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly values: readonly string[];
  readonly config: Record<string, Record<string, unknown>>;
}

export interface CheckedDictionary {
  readonly type: string;
  readonly selection: string;
  readonly columns: string[];
  readonly config: Record<string, Record<string, unknown>>;
  readonly rowCount: number;
  readonly blocks: RowBlocks;
}

export interface CheckedCertificate {
  readonly contents: { public: string; private: string; details: CertificateDetails };
  readonly columns: Draft;
}

export interface CheckedApplication {
  readonly columns: Draft;
  readonly parameters: readonly ParameterContent[];
  readonly sessions: readonly SessionContent[];
}

/** The type of a file, detected from its content. */
export interface FileFacts {
  readonly name: string;
  readonly category: string;
  readonly tags: string;
  readonly first_seen_at: string;
}

/**
 * The rules of the other collections that an import needs: each refuses a record that could not
 * have been created by hand, with pointers into the record. Slow checks run before the transaction.
 */
export interface RecordRules {
  mac(draft: PartsOf<'macs'>['mac']): Draft;
  network(tx: Executor, draft: Draft): Promise<NetworkColumns>;
  /** `params` with their secrets. */
  tunnel(draft: Draft): void;
  certificate(pem: { public: string; private: string }): Promise<CheckedCertificate>;
  isSignedBy(child: string, authority: string): boolean;
  dictionary(content: DictionaryContent, findFile: FindFile): Promise<CheckedDictionary>;
  /** `completeApplication` checks the dictionaries of its parameters. */
  application(
    draft: PartsOf<'applications'>['application'],
    capture: OpenFile,
    signal: AbortSignal,
  ): Promise<CheckedApplication>;
  completeApplication(tx: Change, id: number, content: Omit<CheckedApplication, 'columns'>): Promise<void>;
  signature(draft: PartsOf<'cveSignatures'>['signature']): NewSignature;
  insertSignature(tx: Change, signature: NewSignature): Promise<number>;
  campaign(draft: PartsOf<'compromisedHostCampaigns'>['campaign']): void;
  file(content: Staged, facts: FileFacts): Promise<unknown>;
  insertFile(tx: Change, content: Staged, checked: unknown): Promise<number>;
}
