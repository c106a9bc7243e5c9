import { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { ReportData } from './report-data.ts';

/** Writing so many elements takes milliseconds. */
const elementsAtOnce = 25;
/** The agents of a run, and the attempts of its security report, are lists at this depth or above. */
const maxDepth = 2;

async function* listParts(list: readonly unknown[]): AsyncGenerator<string, void> {
  for (let at = 0; at < list.length; at += elementsAtOnce) {
    yield (at === 0 ? '' : ',') + JSON.stringify(list.slice(at, at + elementsAtOnce)).slice(1, -1);
    await nextIteration();
  }
}

/** JSON in parts, between which others are answered. */
export async function* jsonParts(value: unknown, depth = 0): AsyncGenerator<string, void> {
  if (Array.isArray(value) && value.length > elementsAtOnce) {
    yield '[';
    yield* listParts(value);
    return yield ']';
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value) || depth === maxDepth)
    return yield JSON.stringify(value);
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonParts(member, depth + 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** All that is known of a run. With a thousand agents it has megabytes. */
export const jsonReport = (data: ReportData): Readable => Readable.from(jsonParts(data), { objectMode: false });
