import { Code } from '@mantine/core';
import { withDefaults } from './schema.ts';

/** A description from the API schema; text between backquotes is shown as code. */
export const Help = ({ text }: { text: string }) =>
  withDefaults(text)
    .split('`')
    .map((part, i) =>
      i % 2 === 1 ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
        <Code key={i}>{part}</Code>
      ) : (
        part
      ),
    );
