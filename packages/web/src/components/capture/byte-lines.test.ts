import { expect, it } from 'vitest';
import { bytesBetween, bytesFromBase64, linesOf } from './byte-lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

it('writes one character per byte and breaks after line feeds', () => {
  const lines = linesOf(bytes('GET /\r\nHost: a\r\n\u0001é'), [], 'text');
  expect(lines.map(({ start, segments }) => [start, segments.map(({ text }) => text).join('')])).toEqual([
    [0, 'GET /←↵'],
    [7, 'Host: a←↵'],
    [16, '···'],
  ]);
});

it('breaks long lines', () => {
  expect(linesOf(new Uint8Array(300).fill(0x61), [], 'text').map(({ start }) => start)).toEqual([0, 120, 240]);
  expect(linesOf(new Uint8Array(33), [], 'hex').map(({ start }) => start)).toEqual([0, 16, 32]);
});

it('splits segments where marks begin and end, across line breaks', () => {
  const mark = { offset: 1, length: 3, label: 'x' };
  const [first, second] = linesOf(bytes('ab\ncd'), [mark], 'text');
  expect(first?.segments).toEqual([
    { start: 0, text: 'a' },
    { start: 1, text: 'b↵', mark },
  ]);
  expect(second?.segments).toEqual([
    { start: 3, text: 'c', mark },
    { start: 4, text: 'd' },
  ]);
});

it('finds the bytes of a selection of characters', () => {
  expect(bytesBetween(5, 9, 'text')).toEqual({ offset: 5, length: 4 });
  expect(bytesBetween(3, 8, 'hex')).toEqual({ offset: 1, length: 2 });
  expect(bytesBetween(4, 6, 'hex')).toEqual({ offset: 1, length: 1 });
});

it('reads base64', () => {
  expect([...bytesFromBase64('AP9h')]).toEqual([0, 255, 97]);
});
