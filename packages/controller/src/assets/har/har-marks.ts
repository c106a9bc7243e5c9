import type { HarTemplate } from '@rushhour/protocol';

/** A value that is put in when a request is sent. */
export type Placed = Exclude<HarTemplate[number], string>;

// Characters for private use: nobody sends them, and no header may hold them. Digits are such, too, so that no text
// that is looked for is found in a mark.
const [open, shut] = ['\uE000', '\uE001'];
const mark = /\uE000([\uE100-\uE109]+)\uE001/;
const firstDigit = 0xe100;

const digitsOf = (number: number): string =>
  [...String(number)].map((digit) => String.fromCharCode(firstDigit + Number(digit))).join('');
const numberOf = (digits: string): number =>
  Number([...digits].map((digit) => digit.charCodeAt(0) - firstDigit).join(''));

export const isMarked = (text: string): boolean => mark.test(text);

/**
 * Marks where values go in the parts of one request, so that what happens to the text in between leaves them alone.
 */
export class HarMarks {
  readonly #placed: Placed[] = [];

  /** Puts a mark for every place where one of the spellings stands; undefined when there is none. */
  put(text: string, spellings: readonly { find: string; as: Placed['as'] }[], slot: number): string | undefined {
    const spelling = spellings.find(({ find }) => find !== '' && text.includes(find));
    if (spelling === undefined) return undefined;
    const number = this.#placed.push({ slot, or: spelling.find, as: spelling.as }) - 1;
    return text.split(spelling.find).join(`${open}${digitsOf(number)}${shut}`);
  }

  templateOf(text: string): HarTemplate {
    const parts = text.split(mark);
    const template = parts.map((part, i) => (i % 2 === 0 ? part : (this.#placed[numberOf(part)] ?? part)));
    return template.filter((part) => part !== '');
  }

  /** With what was recorded where values go. */
  recordedOf(text: string): string {
    return this.templateOf(text)
      .map((part) => (typeof part === 'string' ? part : part.or))
      .join('');
  }
}
