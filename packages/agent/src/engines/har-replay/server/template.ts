import type { HarTemplate } from '@rushhour/protocol';

/** Values by slot; undefined: the recorded value. */
export type Slots = readonly (string | undefined)[];

const written = {
  plain: (value: string) => value,
  url: (value: string) => encodeURIComponent(value.toWellFormed()),
  // Characters that are already escaped stay as they are.
  address: (value: string) => value.toWellFormed().replace(/[^\x21-\x7e]+/gu, encodeURIComponent),
  json: (value: string) => JSON.stringify(value).slice(1, -1),
} as const;

/** A valid header value: Latin-1 bytes without line breaks. */
export const headerText = (text: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of Latin-1.
  const isLatin = /^[\x00-\xff]*$/.test(text);
  const bytes = isLatin ? text : Buffer.from(text, 'utf8').toString('latin1');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these may not be in a header.
  return bytes.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, '');
};

/** Renders the template with the values of the slots. */
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
