import type { JsonStep } from './json-path.ts';

/** Encoding of an inserted value: none, URL component, URL, JSON string. */
export type HarWriting = 'plain' | 'url' | 'address' | 'json';

/**
 * Text with placeholders. `slot`: index of the value, `or`: the recorded
 * value, `as`: encoding.
 */
export type HarTemplate = readonly (string | { readonly slot: number; readonly or: string; readonly as: HarWriting })[];

export interface HarHeader {
  readonly name: string;
  readonly value: string;
}

/** Scheme, host and port of recorded requests. */
export interface HarOrigin {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly version: '1.1' | '2' | '3';
  /** Value of the Host header. */
  readonly authority: string;
}

/** Rule that extracts a value for later requests. */
export interface HarTake {
  readonly slot: number;
  readonly part: 'body' | 'header' | 'cookie' | 'status';
  /** RE2; the first group, otherwise the whole match. */
  readonly regex?: string;
  readonly jsonPath?: readonly JsonStep[];
}

export interface HarEntry {
  /** Index in the recording, from 0. */
  readonly index: number;
  readonly origin: number;
  readonly method: string;
  readonly path: HarTemplate;
  readonly headers: readonly { readonly name: string; readonly value: HarTemplate }[];
  readonly body?: HarTemplate | { readonly base64: string };
  /** Recorded connection id. */
  readonly connection?: string;
  /** Positions of entries of the same step that must finish first. */
  readonly after: readonly number[];
  readonly takes: readonly HarTake[];
  /** Another entry has an identical request. */
  readonly isAmbiguous: boolean;
  readonly expect: { readonly status?: number; readonly bodySize?: number; readonly bodySha256?: string };
  /** Recorded duration from request to last byte. */
  readonly recordedMs: number;
}

/** Entries sent concurrently, after a pause. */
export interface HarStep {
  readonly pauseMs: number;
  /** Positions in `entries`. */
  readonly entries: readonly number[];
}

/** A replay script: pages in order, each with steps. */
export interface HarScript {
  readonly origins: readonly HarOrigin[];
  readonly entries: readonly HarEntry[];
  readonly pages: readonly { readonly name: string; readonly steps: readonly HarStep[] }[];
  /** Number of slots for extracted values; the slots after them are the variables. */
  readonly takenSlots: number;
}

/** A recorded response. */
export interface HarAnswer {
  readonly index: number;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Hash of the request body; empty without a body. */
  readonly bodySha256: string;
  readonly status: number;
  /** Without framing and encoding headers. */
  readonly headers: readonly HarHeader[];
  /** Recorded content, before encoding. */
  readonly body: { readonly base64: string } | { readonly size: number };
  /** Recorded Content-Encoding; empty for none. */
  readonly encoding: string;
  readonly delayMs: number;
}

export interface HarAnswers {
  readonly answers: readonly HarAnswer[];
}

/** Header with the index of the entry; sent only when identical requests are ambiguous. */
export const harEntryHeader = 'x-replay-entry';
