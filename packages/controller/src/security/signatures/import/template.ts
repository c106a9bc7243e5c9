import type { CveDraft, CveSignature } from '@rushhour/contract';

type Source = CveSignature['source'];

/** A template that was read: the signature, and the parts that were left out. */
export interface ReadTemplate {
  readonly templateId: string;
  readonly source: Source;
  /** Identifies the template within its source at the next import. */
  readonly sourceRef: string;
  readonly draft: CveDraft;
  readonly warnings: readonly string[];
}

export interface RefusedTemplate {
  readonly templateId: string;
  readonly refused: string;
}

export type TemplateOutcome = ReadTemplate | RefusedTemplate;

/** Facts about a CVE besides its signatures. A missing member means unknown. */
export interface Enrichment {
  readonly cveID: string;
  readonly patch: Partial<
    Pick<
      CveDraft,
      | 'description'
      | 'vendor'
      | 'product'
      | 'cweIDs'
      | 'cvssScore'
      | 'cvssVector'
      | 'cvssVersion'
      | 'references'
      | 'epssScore'
      | 'epssPercentile'
      | 'kev'
      | 'publishedAt'
    >
  >;
}

/** A file to read: its name in the archive and its text. */
export interface TemplateFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** An unsupported part of a template; the message becomes the reason in the report. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Runs a reader; a refusal becomes an outcome. */
export const refusing = (templateId: string, read: () => ReadTemplate): TemplateOutcome => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal) return { templateId, refused: error.message };
    throw error;
  }
};
