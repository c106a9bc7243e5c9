import { type Content, headOf, scan, scanBytes } from '../content.ts';
import { decodeChunks, findTextEncoding, type TextEncoding } from './text-encoding.ts';
import { createWindow, type PreviewWindow } from './window.ts';

export interface TextPreview {
  readonly kind: 'text';
  readonly encoding: TextEncoding;
  readonly lines: string[];
  readonly hasMore: boolean;
}

const lineLetters = 2000;

/** Lines of any length, of which no more than the first letters are ever held. */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let line = '';
  const take = (piece: string) => {
    if (line.length <= lineLetters) line += piece.slice(0, lineLetters + 1 - line.length);
  };
  const finish = () => {
    const whole = line.endsWith('\r') ? line.slice(0, -1) : line;
    line = '';
    return whole.length > lineLetters ? `${whole.slice(0, lineLetters)}…` : whole;
  };
  for await (const text of texts) {
    const pieces = text.split('\n');
    for (const piece of pieces.slice(0, -1)) {
      take(piece);
      yield finish();
    }
    take(pieces.at(-1) ?? '');
  }
  if (line !== '') yield finish();
}

export const previewText = async (content: Content, window: PreviewWindow): Promise<TextPreview> => {
  const encoding = findTextEncoding(await headOf(content, 4096)) ?? 'utf-8';
  const wanted = createWindow<string>(window);
  for await (const line of linesOf(decodeChunks(scan(content), encoding))) if (!wanted.add(line)) break;
  return { kind: 'text', encoding, lines: wanted.rows, hasMore: wanted.hasMore() || content.size > scanBytes };
};
