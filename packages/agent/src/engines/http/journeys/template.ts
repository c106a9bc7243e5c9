import { type JourneyTemplate, journeyTemplateOf } from '@rushhour/protocol';

/** A text whose variables are slots among the values of a user. */
export interface Template {
  readonly isStatic: boolean;
  /** The text, where it is static. */
  readonly text: string;
  render(values: readonly string[]): string;
}

/** Finds the slot of a variable, or its value if that never changes. */
export type FindVariable = (name: string) => { readonly slot: number } | { readonly value: string };

/** Texts and slots in turn; neighbouring fixed texts are joined. */
const partsOf = ({ texts, names }: JourneyTemplate, find: FindVariable): { texts: string[]; slots: number[] } => {
  const joined = [texts[0] ?? ''];
  const slots: number[] = [];
  names.forEach((name, index) => {
    const found = find(name);
    const after = texts[index + 1] ?? '';
    if ('value' in found) joined.push(`${joined.pop()}${found.value}${after}`);
    else {
      slots.push(found.slot);
      joined.push(after);
    }
  });
  return { texts: joined, slots };
};

export const createTemplate = (text: string, find: FindVariable): Template => {
  const { texts, slots } = partsOf(journeyTemplateOf(text), find);
  const [first = ''] = texts;
  return {
    isStatic: slots.length === 0,
    text: first,
    render: (values) => {
      let rendered = first;
      for (let i = 0; i < slots.length; i++) rendered += `${values[slots[i] as number] ?? ''}${texts[i + 1]}`;
      return rendered;
    },
  };
};
