import type { HarTemplate } from '@rushhour/protocol';

/** Values by slot; undefined: as recorded. */
export type Slots = readonly (string | undefined)[];

const written = {
  plain: (value: string) => value,
  url: (value: string) => encodeURIComponent(value.toWellFormed()),
  json: (value: string) => JSON.stringify(value).slice(1, -1),
} as const;

/** The text with values in their places. */
export const render = (template: HarTemplate, slots: Slots): string => {
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') text += part;
    else {
      const value = slots[part.slot];
      text += value === undefined ? part.or : written[part.as](value);
    }
  }
  return text;
};
