import type { CveDraft, CveSignature } from '@rushhour/contract';

type Source = CveSignature['source'];

/** A template that was read: what it becomes, and what of it could not be taken. */
export interface ReadTemplate {
  readonly templateId: string;
  readonly source: Source;
  /** What tells it apart from others of its source, the next time it is imported. */
  readonly sourceRef: string;
  readonly draft: CveDraft;
  readonly warnings: readonly string[];
}

export interface RefusedTemplate {
  readonly templateId: string;
  readonly refused: string;
}

export type TemplateOutcome = ReadTemplate | RefusedTemplate;

/** What is known about a CVE besides its signatures. Members that are not there say nothing. */
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

/** A file to be read: its name in the archive and its text. */
export interface TemplateFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Something in a template that we do not take; the message becomes the reason in the report. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Runs a reader; what it refuses becomes an outcome. */
export const refusing = (templateId: string, read: () => ReadTemplate): TemplateOutcome => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal) return { templateId, refused: error.message };
    throw error;
  }
};
