import { expect, it } from 'vitest';
import { permissionChoices } from './permission-names.ts';

it('names every permission in words', () => {
  const items = permissionChoices().flatMap((group) => group.items);
  expect(items.length).toBeGreaterThan(50);
  expect(items.find(({ value }) => value === 'tasks.read')?.label).toBe('Tasks: View');
  const isRaw = ({ value, label }: { value: string; label: string }) => {
    const [area = '', verb = ''] = value.split('.');
    return label.startsWith(`${area}:`) || label.endsWith(`: ${verb}`);
  };
  expect(items.filter(isRaw)).toEqual([]);
});
