export type Delimiter = ',' | ';' | '\t' | '|';

const delimiters: readonly Delimiter[] = [',', '\t', ';', '|'];
const recordsLooked = 20;

/** Fields of each of the first complete records. A quote opens a field only at its beginning, and may hold line ends. */
const fieldCounts = (text: string, delimiter: Delimiter): number[] => {
  const counts: number[] = [];
  let fields = 1;
  let isQuoted = false;
  let isStart = true;
  let isEmpty = true;
  for (const letter of text) {
    if (counts.length === recordsLooked) break;
    if (isQuoted) {
      if (letter === '"') isQuoted = false;
    } else if (letter === '\n') {
      if (!isEmpty) counts.push(fields);
      [fields, isStart, isEmpty] = [1, true, true];
      continue;
    } else if (letter === delimiter) fields += 1;
    else if (letter === '"' && isStart) isQuoted = true;
    isStart = letter === delimiter;
    if (letter !== '\r') isEmpty = false;
  }
  return counts;
};

/**
 * The delimiter that cuts every record of the head into the same number of fields, at least two; the most fields win.
 * `isWhole` says that the last record is complete though no line end follows.
 */
export const findDelimiter = (head: string, isWhole: boolean): Delimiter | undefined => {
  const text = isWhole ? `${head}\n` : head;
  const widths = delimiters.map((delimiter) => {
    const [first = 0, ...others] = fieldCounts(text, delimiter);
    const isTable = others.length > 0 && others.every((count) => count === first);
    return { delimiter, width: isTable ? first : 0 };
  });
  const best = widths.reduce((a, b) => (b.width > a.width ? b : a));
  return best.width >= 2 ? best.delimiter : undefined;
};
