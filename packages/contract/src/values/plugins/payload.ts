import { type Static, Type } from 'typebox';
import { choice, section } from '../protocols/field.ts';
import { maybeGroup, maybeText } from './member.ts';
import { fileId, maybeIdOf, plainCategories } from './reference.ts';

const members = (size: number) => ({
  type: choice(
    'Zeros, chance, `pattern` over and over, `text`, the content of a file, or the values of a dictionary, a line each',
    ['zero', 'random', 'pattern', 'text', 'file', 'dictionary'],
  ),
  size: Type.Integer({
    default: size,
    minimum: 0,
    maximum: 67_108_864,
    description: 'Bytes; a text, a file and the values of a dictionary have their own length',
  }),
  pattern: maybeText('Repeated up to `size`', { maxLength: 65_536 }),
  text: maybeText('The bytes themselves, as UTF-8', { maxLength: 1_048_576 }),
  fileId: Type.Optional(fileId('A file that is ready', plainCategories)),
  dictionaryId: maybeIdOf('dictionary', 'A dictionary whose values are sent'),
});

/** Bytes to send, of `size` unless said. */
export const payload = (description: string, size = 0) => section(description, members(size));
export type PayloadValues = Static<ReturnType<typeof payload>>;

/** The same, there only when it is given. */
export const maybePayload = (description: string) => maybeGroup(description, members(0));
