import type { JsonStep } from './json-path.ts';

/** As it is; as one value or as a part of an address; inside a JSON text. */
export type HarWriting = 'plain' | 'url' | 'address' | 'json';

/**
 * Text with places for values that are known only when it is sent. `slot` is where the value is found, `or` what was
 * recorded there, `as` how it is written.
 */
export type HarTemplate = readonly (string | { readonly slot: number; readonly or: string; readonly as: HarWriting })[];

export interface HarHeader {
  readonly name: string;
  readonly value: string;
}

/** Scheme, name and port that requests were recorded for. */
export interface HarOrigin {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly version: '1.1' | '2';
  /** For the Host header. */
  readonly authority: string;
}

/** A value that later requests need. */
export interface HarTake {
  readonly slot: number;
  readonly part: 'body' | 'header' | 'cookie' | 'status';
  /** RE2; the first group, else the whole match. */
  readonly regex?: string;
  readonly jsonPath?: readonly JsonStep[];
}

export interface HarEntry {
  /** In the recording, from 0. */
  readonly index: number;
  readonly origin: number;
  readonly method: string;
  readonly path: HarTemplate;
  readonly headers: readonly { readonly name: string; readonly value: HarTemplate }[];
  readonly body?: HarTemplate | { readonly base64: string };
  /** Entries with the same one were recorded on one connection. */
  readonly connection?: string;
  /** Positions of entries of the same step that must be answered before. */
  readonly after: readonly number[];
  readonly takes: readonly HarTake[];
  /** Another entry asks for the same. */
  readonly isAmbiguous: boolean;
  readonly expect: { readonly status?: number; readonly bodySize?: number; readonly bodySha256?: string };
  /** From sending to the last byte, as recorded. */
  readonly recordedMs: number;
}

/** Entries that go at once, after a pause. */
export interface HarStep {
  readonly pauseMs: number;
  /** Positions in `entries`. */
  readonly entries: readonly number[];
}

/** What a user does: pages one after the other, each in steps. */
export interface HarScript {
  readonly origins: readonly HarOrigin[];
  readonly entries: readonly HarEntry[];
  readonly pages: readonly { readonly name: string; readonly steps: readonly HarStep[] }[];
  /** Values taken from answers; the slots behind them are the variables. */
  readonly takenSlots: number;
}

/** What the answering side says to one request. */
export interface HarAnswer {
  readonly index: number;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Of the request's body; empty without one. */
  readonly bodySha256: string;
  readonly status: number;
  /** Without framing and encoding. */
  readonly headers: readonly HarHeader[];
  /** As recorded, before any encoding. */
  readonly body: { readonly base64: string } | { readonly size: number };
  /** Content-Encoding that was used; empty for none. */
  readonly encoding: string;
  readonly delayMs: number;
}

export interface HarAnswers {
  readonly answers: readonly HarAnswer[];
}

/** Tells which of several equal requests this is; sent only where nothing else would. */
export const harEntryHeader = 'x-replay-entry';
