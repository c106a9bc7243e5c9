const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digit = '0123456789';

const namedAlphabets: Readonly<Record<string, string>> = {
  alnum: digit + upper + lower,
  alpha: upper + lower,
  lower,
  upper,
  digit,
  digits: digit,
  hex: `${digit}abcdef`,
  printable: String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i)),
};

/**
 * A name (alnum, alpha, lower, upper, digits, hex, printable), a class as in a pattern ("[a-f0-9]"), or the characters.
 */
export function findAlphabet(text: string): string[] | undefined {
  const named = Object.hasOwn(namedAlphabets, text) ? namedAlphabets[text] : undefined;
  if (named !== undefined) return [...named];
  const inner = /^\[(.+)\]$/su.exec(text)?.[1];
  if (inner !== undefined) return findClass(inner);
  return text === '' ? undefined : [...new Set(text)];
}

/** The inside of `[a-z0-9_-]`: ranges and single characters, a backslash escapes the next character. */
export function findClass(text: string): string[] | undefined {
  const found = new Set<string>();
  const characters = [...text.matchAll(/\\?(.)/gsu)].map(([whole, character = '']) => ({
    character,
    isEscaped: whole.length > character.length,
  }));
  for (let i = 0; i < characters.length; i++) {
    const first = characters[i]?.character ?? '';
    const dash = characters[i + 1];
    const last = characters[i + 2]?.character;
    if (dash?.character !== '-' || dash.isEscaped || last === undefined) {
      found.add(first);
      continue;
    }
    const [from, to] = [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
    if (from > to) return undefined;
    for (let code = from; code <= to; code++) found.add(String.fromCodePoint(code));
    i += 2;
  }
  return found.size === 0 ? undefined : [...found];
}
