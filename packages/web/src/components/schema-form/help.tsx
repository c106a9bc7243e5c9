import { Code, Text } from '@mantine/core';
import { labelOf, labels } from '../../texts/labels.ts';
import { withDefaults } from './schema.ts';

/** The labels of a member such as `tlsParams.minVersion`; undefined for values, which have no capitals. */
export const memberText = (code: string): string | undefined => {
  const names = code.split('.');
  if (!/[a-z][A-Z]/.test(code) || !names.every((name) => labels.has(name))) return undefined;
  // Its unit stands beside the field.
  return names.map((name, i) => labelOf(name, names.slice(0, i + 1).join('/')).replace(/ \([^)]+\)$/, '')).join(' › ');
};

/** A description from the API schema; between backquotes are members, shown by their labels, and other code. */
export const Help = ({ text }: { text: string }) =>
  withDefaults(text)
    .split('`')
    .map((part, i) => {
      if (i % 2 === 0) return part;
      const member = memberText(part);
      // biome-ignore-start lint/suspicious/noArrayIndexKey: the parts of one text never move
      return member === undefined ? (
        <Code key={i}>{part}</Code>
      ) : (
        <Text key={i} span inherit fw={600}>
          {member}
        </Text>
      );
      // biome-ignore-end lint/suspicious/noArrayIndexKey: the parts of one text never move
    });
