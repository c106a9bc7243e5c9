import { CertificateError } from './certificate-error.ts';

export interface PemBlock {
  readonly label: string;
  /** RFC 1421 headers, as `openssl rsa -aes128 -traditional` writes them. */
  readonly headers: readonly string[];
  readonly der: Buffer;
}

const maxChars = 8 * 1024 * 1024;
const maxBlocks = 200;
const boundary = /^-----(BEGIN|END) ([A-Z0-9 ]{1,40})-----$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Text outside blocks is a comment, as in RFC 7468; `path` names the request member in errors. */
export function parsePem(text: string, path: string): PemBlock[] {
  if (text.length > maxChars) throw new CertificateError('BAD_PEM', path, 'the PEM text is longer than 8 MiB');
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const rawLine of text.split(/\r\n|\n|\r/)) {
    const line = rawLine.trim();
    const mark = boundary.exec(line);
    if (!mark) {
      open?.lines.push(line);
      continue;
    }
    const [, kind, label = ''] = mark;
    if (kind === 'BEGIN') {
      if (open) throw new CertificateError('BAD_PEM', path, `the block ${open.label} has no end`);
      open = { label, lines: [] };
      continue;
    }
    if (open?.label !== label) {
      throw new CertificateError('BAD_PEM', path, `the end of a block ${label} has no beginning`);
    }
    blocks.push(blockOf(open.label, open.lines, path));
    if (blocks.length > maxBlocks) {
      throw new CertificateError('BAD_PEM', path, `the PEM text holds more than ${maxBlocks} blocks`);
    }
    open = undefined;
  }
  if (open) throw new CertificateError('BAD_PEM', path, `the block ${open.label} has no end`);
  return blocks;
}

export function pemOf(label: string, der: Uint8Array, headers: readonly string[] = []): string {
  const body =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  const head = headers.length > 0 ? [...headers, ''] : [];
  return [`-----BEGIN ${label}-----`, ...head, ...body, `-----END ${label}-----`, ''].join('\n');
}

function blockOf(label: string, lines: readonly string[], path: string): PemBlock {
  const headers = lines.filter((line) => line.includes(':'));
  const body = lines.filter((line) => !line.includes(':')).join('');
  if (body.length % 4 !== 0 || !base64.test(body)) {
    throw new CertificateError('BAD_PEM', path, `the block ${label} is not valid base64`);
  }
  return { label, headers, der: Buffer.from(body, 'base64') };
}
