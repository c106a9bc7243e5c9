import { describe, expect, it } from 'vitest';
import { KnownHead } from './known-head.ts';

const memory = Buffer.alloc(4096);
const put = (text: string, at: number) => at + memory.write(text, at, 'latin1');
const head = 'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n';

describe('a cached head', () => {
  it('is recognised at every aligned offset, regardless of what follows', () => {
    const known = new KnownHead<string>();
    known.remember(memory, { start: 8, end: put(head, 8), head: 'fine' });
    const end = put(`${head}a body`, 256);
    expect(known.isAt(memory, 256, end)).toBe(true);
    expect([known.length, known.head]).toEqual([head.length, 'fine']);
  });

  it('does not match a head that differs in any byte or is incomplete', () => {
    const known = new KnownHead<string>();
    known.remember(memory, { start: 0, end: put(head, 0), head: 'fine' });
    for (let i = 0; i < head.length; i++) {
      const end = put(head, 512);
      memory[512 + i] = (memory[512 + i] as number) ^ 1;
      expect(known.isAt(memory, 512, end)).toBe(false);
    }
    expect(known.isAt(memory, 512, put(head, 512) - 1)).toBe(false);
  });

  it('is disabled when no two heads are equal', () => {
    const known = new KnownHead<string>();
    for (let i = 0; i < 20; i++) {
      known.remember(memory, { start: 0, end: put(`HTTP/1.1 200 OK\r\nX-Id: ${i}\r\n\r\n`, 0), head: 'fine' });
    }
    const end = put('HTTP/1.1 200 OK\r\nX-Id: 19\r\n\r\n', 0);
    expect(known.isAt(memory, 0, end)).toBe(false);
  });
});
