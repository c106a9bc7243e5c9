import { plugins } from '../values/plugins/index.ts';
import { memberDescriptions } from './member-descriptions.ts';

type Json = Record<string, unknown>;

/** What members of `values` mean, as the first plugin that takes them says. */
const valueDescriptions = new Map(
  plugins
    .toReversed()
    .flatMap(({ schema }) => Object.entries(schema.properties as Record<string, { description?: string }>))
    .flatMap(([name, { description }]) => (description === undefined ? [] : [[name, description] as const])),
);

/** Members with their meaning, where their schema does not say it itself. */
export const describedMembers = (properties: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, member]) => {
      const description = memberDescriptions[name] ?? valueDescriptions.get(name);
      const isKnown = description === undefined || 'description' in member || '$ref' in member;
      return [name, isKnown ? member : { ...member, description }];
    }),
  );
