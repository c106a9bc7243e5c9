import { findClass } from './alphabet.ts';
import { digitsOf, type Sequence } from './sequence.ts';

interface PatternElement {
  readonly alphabet: readonly string[];
  readonly count: number;
}

const digits = [...'0123456789'];
const token = /\[((?:\\.|[^\]\\])+)\]|\\(.)|([^[\]{}\\])/suy;
const repeat = /\{(\d{1,4})\}/y;
const lengthLimit = 8192;

/**
 * `#` is a digit, `[a-z0-9]` one of the characters, `{n}` repeats what stands before it, a backslash takes the next
 * character as it is; everything else stands for itself. Texts are ordered like numbers, the last place fastest.
 */
export function findTextPattern(pattern: string): Sequence | undefined {
  const elements = findElements(pattern);
  if (elements === undefined || elements.length === 0) return undefined;
  if (elements.reduce((sum, element) => sum + element.count, 0) > lengthLimit) return undefined;
  const sizes = elements.map(({ alphabet, count }) => BigInt(alphabet.length) ** BigInt(count));
  const at = (index: bigint): string => {
    let text = '';
    let rest = index;
    for (let i = elements.length - 1; i >= 0; i--) {
      const { alphabet, count } = elements[i] as PatternElement;
      const size = sizes[i] as bigint;
      text =
        digitsOf(rest % size, alphabet.length, count)
          .map((digit) => alphabet[digit])
          .join('') + text;
      rest /= size;
    }
    return text;
  };
  return { size: sizes.reduce((product, size) => product * size, 1n), at };
}

function findElements(pattern: string): PatternElement[] | undefined {
  const elements: PatternElement[] = [];
  for (let position = 0; position < pattern.length; ) {
    token.lastIndex = position;
    const [whole, inner, escaped, plain] = token.exec(pattern) ?? [];
    if (whole === undefined) return undefined;
    const alphabet = inner !== undefined ? findClass(inner) : plain === '#' ? digits : [escaped ?? plain ?? ''];
    if (alphabet === undefined) return undefined;
    position += whole.length;
    repeat.lastIndex = position;
    const [repeated = '', times = '1'] = repeat.exec(pattern) ?? [];
    position += repeated.length;
    elements.push({ alphabet, count: Number(times) });
  }
  return elements;
}
