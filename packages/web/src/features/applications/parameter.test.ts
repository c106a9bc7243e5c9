import { expect, it } from 'vitest';
import { freeName, parameterFrom } from './parameter.ts';

const mapping = { sessionIdx: 0, stepIdx: 1, side: 'client', offset: 4, length: 5 } as const;

it('suggests the recorded text at the selected position', () => {
  expect(parameterFrom(mapping, new TextEncoder().encode('/cart'), ['value'])).toEqual({
    name: 'value2',
    source: 'fixed',
    defaultValue: '/cart',
    stepsMappings: [mapping],
  });
});

it('suggests bytes that are not printable as hexadecimal', () => {
  expect(parameterFrom(mapping, Uint8Array.of(0, 255), [])).toMatchObject({ type: 'hex', defaultValue: '00ff' });
});

it('finds a free name', () => {
  expect(freeName('a', [])).toBe('a');
  expect(freeName('a', ['a', 'a2'])).toBe('a3');
});
