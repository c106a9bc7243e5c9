import type { PayloadValues } from '@rushhour/contract';
import type { FileReference, Payload } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';

/** Bytes as an engine takes them; the content of a file is put in by the agent. */
export type PlannedPayload = Omit<Payload, 'data'> & { readonly data: string | FileReference };

/** A payload, and how many bytes a message has on average. */
export interface MeasuredPayload {
  readonly payload: PlannedPayload;
  readonly bytes: number;
}

const nothing: MeasuredPayload = { payload: { type: 'zero', size: 0, data: '' }, bytes: 0 };
const maxFileBytes = 67_108_864;
const maxTextBytes = 1_048_576;

type Written = Partial<PayloadValues> & Pick<PayloadValues, 'type' | 'size'>;

const textPayload = (text: string): MeasuredPayload => ({
  payload: { type: 'text', size: 0, data: text },
  bytes: Buffer.byteLength(text),
});

/** A payload that is missing or not valid is reported as an issue; it is empty then. */
export const payloadAt = (
  scope: PlanScope,
  written: Written,
  ...parts: readonly (string | number)[]
): MeasuredPayload => {
  const { type, size, pattern, text } = written;
  const path = pointerIn(scope, ...parts);
  switch (type) {
    case 'text':
      return text === undefined ? missing(scope, `${path}/text`, 'text') : textPayload(text);
    case 'pattern':
      if (pattern === undefined) return missing(scope, `${path}/pattern`, 'a pattern');
      return { payload: { type, size, data: pattern }, bytes: size };
    case 'file':
      return filePayload(scope, written.fileId, path);
    case 'dictionary':
      return dictionaryPayload(scope, written.dictionaryId, path);
    default:
      return { payload: { type, size, data: '' }, bytes: size };
  }
};

const missing = ({ issues }: PlanScope, path: string, what: string): MeasuredPayload => {
  issues.error(path, 'REQUIRED', `is required: the payload is ${what}`);
  return nothing;
};

const filePayload = (scope: PlanScope, id: number | undefined, path: string): MeasuredPayload => {
  if (id === undefined) return missing(scope, `${path}/fileId`, 'a file');
  const { issues, input } = scope;
  const file = input.files.get(id);
  const refuse = (code: string, message: string) => issues.error(`${path}/fileId`, code, message) ?? nothing;
  if (file === undefined) return refuse('FILE_MISSING', `there is no file ${id}`);
  if (!file.isReady) return refuse('FILE_MISSING', `file "${file.name}" is not complete`);
  if (file.size > maxFileBytes) return refuse('FILE_TOO_LARGE', `at most ${maxFileBytes} bytes can be a payload`);
  const data: FileReference = { $file: file.sha256, as: 'base64' };
  return { payload: { type: 'base64', size: 0, data }, bytes: file.size };
};

const dictionaryPayload = (scope: PlanScope, id: number | undefined, path: string): MeasuredPayload => {
  if (id === undefined) return missing(scope, `${path}/dictionaryId`, 'a dictionary');
  const values = dictionaryValues(scope, id, `${path}/dictionaryId`);
  if (values === undefined) return nothing;
  const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (bytes <= maxTextBytes) {
    return { payload: { type: 'values', size: 0, data: '', values: [...values] }, bytes: bytes / values.length };
  }
  const message = `its values have more than ${maxTextBytes} bytes`;
  return scope.issues.error(`${path}/dictionaryId`, 'DICTIONARY_TOO_LARGE', message) ?? nothing;
};

/** The values of the first column; problems are reported as issues. */
export const dictionaryValues = (scope: PlanScope, id: number, path: string): readonly string[] | undefined => {
  const { issues, input } = scope;
  const found = input.dictionaries.get(id);
  if (found === undefined) return issues.error(path, 'DICTIONARY_UNKNOWN', `there is no dictionary ${id}`);
  if (found.problem !== undefined) return issues.error(path, 'DICTIONARY_UNREADABLE', found.problem);
  if (found.values.length === 0) return issues.error(path, 'DICTIONARY_EMPTY', `"${found.name}" has no values`);
  if (found.isCut) {
    issues.caveat(path, 'DICTIONARY_CUT', `the first ${found.values.length} values of "${found.name}" are used`);
  }
  return found.values;
};
