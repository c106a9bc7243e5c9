import { UsageError } from '../exit-codes.ts';

/** `name=value` pairs of a repeatable option, several of them joined by commas where values have none. */
export const assignments = (option: string, texts: readonly string[], joined: boolean): Map<string, string> => {
  const pairs = joined ? texts.flatMap((text) => text.split(',')) : texts;
  return new Map(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`--${option} takes name=value, not "${pair}"`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
};
