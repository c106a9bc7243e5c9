import { Code } from '@mantine/core';

/** A description of the contract: words between backquotes are names and look like names. */
export const Help = ({ text }: { text: string }) =>
  text.split('`').map((part, i) =>
    i % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <Code key={i}>{part}</Code>
    ) : (
      part
    ),
  );
