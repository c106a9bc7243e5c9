import { type SecretSlot, secretSlotsOf } from '@rushhour/contract';

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

const slotsIn = (value: unknown, path: string): SecretSlot[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const pointer = `${path}/${escaped(name)}`;
    const isValues = name === 'values' && typeof member === 'object' && member !== null;
    return isValues ? secretSlotsOf(member, pointer) : slotsIn(member, pointer);
  });
};

/** Texts in a task that are secrets, masks included. Templates need not have the shape of a task. */
export const secretsIn = (task: unknown): SecretSlot[] =>
  slotsIn(task, '').filter(({ holder, member }) => typeof holder[member] === 'string' && holder[member] !== '');
