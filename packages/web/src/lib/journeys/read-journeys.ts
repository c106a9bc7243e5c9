import { type Har, journeyFromHar } from './har-journey.ts';
import type { JourneyDraft } from './journey-draft.ts';
import type { OpenApiDocument } from './openapi-journey.ts';
import { journeyFromPostman, type PostmanCollection } from './postman-journey.ts';

/** What a file holds: journeys, or an API whose operations are to be chosen. */
export type JourneyFile =
  | { readonly journeys: readonly (JourneyDraft | Record<string, unknown>)[] }
  | { readonly document: OpenApiDocument };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Our own format: journeys as tasks have them. */
export const journeyFileText = (journeys: readonly object[]): string =>
  `${JSON.stringify({ format: 'rushhour-journeys', version: 1, journeys }, null, 2)}\n`;

/** Reads exported journeys, HAR, Postman collections and OpenAPI documents; undefined for anything else. */
export const findJourneyFile = (text: string): JourneyFile | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  if (value['format'] === 'rushhour-journeys' && Array.isArray(value['journeys'])) {
    return { journeys: value['journeys'].filter(isObject) };
  }
  const { log, info, item, openapi, paths } = value;
  if (isObject(log) && Array.isArray(log['entries'])) return { journeys: [journeyFromHar(value as unknown as Har)] };
  if (isObject(info) && Array.isArray(item)) {
    return { journeys: [journeyFromPostman(value as unknown as PostmanCollection)] };
  }
  if (typeof openapi === 'string' && isObject(paths)) return { document: value as unknown as OpenApiDocument };
  return undefined;
};
