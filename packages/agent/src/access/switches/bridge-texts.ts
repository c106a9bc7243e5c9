/** The VLANs of `10-19,30`. */
export const vlansIn = (text: string): number[] =>
  text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => first + i);
  });

const priorityDigits = 4;

/** `32768 02:00:00:00:00:01`. */
export const textOfBridge = (id: string): string =>
  `${Number.parseInt(id.slice(0, priorityDigits), 16)} ${(id.slice(priorityDigits).match(/../g) ?? []).join(':')}`;
