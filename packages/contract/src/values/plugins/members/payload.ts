import { type Static, Type } from 'typebox';
import { choice, section } from '../../protocols/field.ts';
import { fileId, optionalIdOf, plainCategories } from './reference.ts';
import { optionalObject, optionalText } from './values.ts';

const members = (size: number) => ({
  type: choice(
    'Zeros, chance, `pattern` over and over, `text`, the content of a file, or one value of a dictionary in each message',
    ['zero', 'random', 'pattern', 'text', 'file', 'dictionary'],
  ),
  size: Type.Integer({
    default: size,
    minimum: 0,
    maximum: 67_108_864,
    description: 'Bytes; a text, a file and the values of a dictionary have their own length',
  }),
  pattern: optionalText('Repeated up to `size`', { maxLength: 65_536 }),
  text: optionalText(
    'The bytes themselves, as UTF-8; in `tcp` with a dictionary, {{column}} stands for a cell of the row',
    { maxLength: 1_048_576 },
  ),
  fileId: Type.Optional(fileId('A file that is ready', plainCategories)),
  dictionaryId: optionalIdOf('dictionary', 'A dictionary whose values are sent'),
});

/** Bytes to send; `size` is the default length. */
export const payload = (description: string, size = 0) => section(description, members(size));
export type PayloadValues = Static<ReturnType<typeof payload>>;

/** The same without a default: absent unless given. */
export const optionalPayload = (description: string) => optionalObject(description, members(0));
