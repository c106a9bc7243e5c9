import { describe, expect, it } from 'vitest';
import { KnownHead } from './known-head.ts';

const memory = Buffer.alloc(4096);
const put = (text: string, at: number) => at + memory.write(text, at, 'latin1');
const head = 'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n';

describe('a known head', () => {
  it('is known again wherever it begins at a word, with whatever follows', () => {
    const known = new KnownHead();
    known.remember(memory, 8, put(head, 8));
    const end = put(`${head}a body`, 256);
    expect(known.isAt(memory, 256, end)).toBe(true);
    expect(known.length).toBe(head.length);
  });

  it('is not taken for one that differs in any byte, or has not arrived whole', () => {
    const known = new KnownHead();
    known.remember(memory, 0, put(head, 0));
    for (let i = 0; i < head.length; i++) {
      const end = put(head, 512);
      memory[512 + i] = (memory[512 + i] as number) ^ 1;
      expect(known.isAt(memory, 512, end)).toBe(false);
    }
    expect(known.isAt(memory, 512, put(head, 512) - 1)).toBe(false);
    known.forget();
    expect(known.isAt(memory, 512, put(head, 512))).toBe(false);
  });

  it('is no longer looked for where no two are alike', () => {
    const known = new KnownHead();
    for (let i = 0; i < 20; i++) known.remember(memory, 0, put(`HTTP/1.1 200 OK\r\nX-Id: ${i}\r\n\r\n`, 0));
    const end = put('HTTP/1.1 200 OK\r\nX-Id: 19\r\n\r\n', 0);
    expect(known.isAt(memory, 0, end)).toBe(false);
  });
});
